//! [`Place`]: the arguments that select a store and an app.

use adk_core::engine::{RunFilter, RunInfo, refuse};
use adk_core::{Error, ErrorKind, Result, RunId, Runner};
use adk_postgres::PostgresStore;
use adk_sqlite::SqliteStore;
use clap::Args;

/// The name of the app of a new store, which has no app yet.
const DEFAULT_APP: &str = "app";

#[derive(Args)]
pub struct Place {
    /// The store: a SQLite file, or `postgres://user@host/database`
    #[arg(long, value_name = "STORE", env = "ADK_STORE", hide_env_values = true)]
    store: String,
    /// The app; required if the store has several apps
    #[arg(long, value_name = "NAME")]
    app: Option<String>,
}

enum Store {
    Sqlite(SqliteStore),
    Postgres(PostgresStore),
}

/// A runner on a store, without models and workflows.
pub struct Opened {
    pub runner: Runner,
    store: Store,
}

impl Place {
    /// Opens an existing store.
    pub async fn open(&self) -> Result<Opened> {
        self.open_with(false).await
    }

    /// Opens a store. If `create` is set, creates missing tables in an existing database.
    pub async fn open_with(&self, create: bool) -> Result<Opened> {
        let store = match self.store.split_once("://") {
            Some(("postgres" | "postgresql", _)) => {
                let options = adk_postgres::Options::default()
                    .connections(2)
                    .create(create);
                Store::Postgres(PostgresStore::connect_with(&self.store, options).await?)
            }
            // The error omits the rest of the address, which may contain a password.
            Some((scheme, _)) => {
                let message = format!("the kind of store `{scheme}://` is unknown");
                return Err(Error::new(ErrorKind::Config, message)
                    .with_help("pass a SQLite file or `postgres://user@host/database`"));
            }
            None => {
                let create = create && std::path::Path::new(&self.store).exists();
                let options = adk_sqlite::Options::default().create(create);
                Store::Sqlite(SqliteStore::open_with(&self.store, options).await?)
            }
        };
        let app = match &self.app {
            Some(app) => app.clone(),
            None => only_app(match &store {
                Store::Sqlite(store) => store.apps().await?,
                Store::Postgres(store) => store.apps().await?,
            })?,
        };
        let runner = match &store {
            Store::Sqlite(store) => runner(store.clone(), app)?,
            Store::Postgres(store) => runner(store.clone(), app)?,
        };
        Ok(Opened { runner, store })
    }
}

fn runner(store: impl adk_core::Store, app: String) -> Result<Runner> {
    let runner = Runner::builder().app_name(app).store(store);
    // `build` fails only if the name is invalid.
    runner.build().map_err(|error| {
        Error::new(error.kind(), error.message())
            .with_help("pass the app of the store with `--app`")
    })
}

/// Returns the app of a command without `--app`.
fn only_app(mut apps: Vec<String>) -> Result<String> {
    match apps.len() {
        0 => Ok(DEFAULT_APP.to_owned()),
        1 => Ok(apps.remove(0)),
        _ => {
            let message = format!("the store has {} apps: `{}`", apps.len(), apps.join("`, `"));
            Err(Error::new(ErrorKind::Config, message).with_help("select one with `--app`"))
        }
    }
}

impl Opened {
    /// Returns the run with an id.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownRun`] if the app has no run with this id.
    pub async fn find(&self, run: RunId) -> Result<RunInfo> {
        self.runner
            .runs(&RunFilter::of_run(run))
            .await?
            .pop()
            .ok_or_else(|| refuse::unknown_run(run))
    }

    /// Closes the connections to the store.
    pub async fn close(self) -> Result<()> {
        match self.store {
            Store::Postgres(store) => store.shut_down().await,
            Store::Sqlite(_) => Ok(()),
        }
    }
}
