//! The store of a command and the app in it.

use adk_core::engine::{RunFilter, RunInfo, refuse};
use adk_core::{Error, ErrorKind, Result, RunId, Runner};
use adk_postgres::PostgresStore;
use adk_sqlite::SqliteStore;
use clap::Args;

/// The app whose runs are meant when the store has none.
const DEFAULT_APP: &str = "app";

#[derive(Args)]
pub struct Place {
    /// The store: a SQLite file, or `postgres://user@host/database`
    #[arg(long, value_name = "STORE", env = "ADK_STORE", hide_env_values = true)]
    store: String,
    /// The app; needed where the store has several
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
    /// Opens a store that is there.
    pub async fn open(&self) -> Result<Opened> {
        self.open_with(false).await
    }

    /// Opens a store. If `create`, a database without tables gets them.
    pub async fn open_with(&self, create: bool) -> Result<Opened> {
        let store = match self.store.split_once("://") {
            Some(("postgres" | "postgresql", _)) => {
                let options = adk_postgres::Options::default().connections(2).create(create);
                Store::Postgres(PostgresStore::connect_with(&self.store, options).await?)
            }
            // Its rest may hold a password.
            Some((scheme, _)) => {
                let message = format!("a store of the kind `{scheme}://` is not known");
                return Err(Error::new(ErrorKind::Config, message)
                    .with_help("name a SQLite file, or `postgres://user@host/database`"));
            }
            None => {
                let create = create && std::path::Path::new(&self.store).exists();
                let options = adk_sqlite::Options::default().create(create);
                Store::Sqlite(SqliteStore::open_with(&self.store, options).await?)
            }
        };
        let app = match &self.app {
            Some(app) => app.clone(),
            None => only(match &store {
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
    // Only the name can be wrong.
    runner.build().map_err(|error| {
        Error::new(error.kind(), error.message()).with_help("name the app of the store with `--app`")
    })
}

/// The app that is meant when none was named.
fn only(mut apps: Vec<String>) -> Result<String> {
    match apps.len() {
        0 => Ok(DEFAULT_APP.to_owned()),
        1 => Ok(apps.remove(0)),
        _ => {
            let message = format!("the store has {} apps: `{}`", apps.len(), apps.join("`, `"));
            Err(Error::new(ErrorKind::Config, message).with_help("name one of them with `--app`"))
        }
    }
}

impl Opened {
    /// The run of that id.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownRun`].
    pub async fn find(&self, run: RunId) -> Result<RunInfo> {
        self.runner.runs(&RunFilter::of_run(run)).await?.pop().ok_or_else(|| refuse::unknown_run(run))
    }

    /// Closes the connections.
    pub async fn close(self) -> Result<()> {
        match self.store {
            Store::Postgres(store) => store.shut_down().await,
            Store::Sqlite(_) => Ok(()),
        }
    }
}
