//! Workflows on Restate, a durable execution engine: any of many machines can execute a run.
//!
//! **Workers** [serve](endpoint()) workflows to a Restate server, and execute their runs.
//! **Clients** use [`Restate`] as their engine: they hand their runs to Restate, and follow them in
//! the shared store.
//!
//! | data | keeper |
//! |---|---|
//! | events, state, the registry of runs, open waits | the store: Postgres or SQLite |
//! | results of recorded calls, timers, answers, turns of sessions | Restate |
//! | the process that executes a run | Restate |

mod batch;
mod branch;
mod checked;
mod client;
mod endpoint;
mod handle;
mod idle;
mod local;
mod messages;
mod posted;
mod run;
mod serve;
mod service;
mod sessions;

pub use client::Restate;
pub use endpoint::{Endpoint, Retries, endpoint};

use adk_core::engine::{DrivenRun, Engine, Retention, RunRegistry, WaitRegistry};
use adk_core::session::SessionStore;
use adk_core::spec::Topology;
use adk_core::{Error, ErrorKind, Result, RunId, Runner};
use std::collections::BTreeMap;
use std::sync::Arc;

/// State that the handlers of a worker share.
pub(crate) struct Worker {
    runner: Runner<adk_core::model::NoProvider>,
    engine: Arc<dyn Engine>,
    sessions: Arc<dyn SessionStore>,
    /// Branch services of each workflow, see [`branch::services`].
    branches: BTreeMap<String, Vec<String>>,
}

impl Worker {
    fn registry(&self) -> Result<&dyn RunRegistry> {
        self.engine.registry().ok_or_else(no_registry)
    }

    fn waits(&self) -> Result<&dyn WaitRegistry> {
        self.engine.waits().ok_or_else(no_registry)
    }

    /// Reads a run with its events from a place of the log on.
    async fn driven(&self, run: RunId, from: u64) -> Result<Option<DrivenRun>> {
        self.registry()?.driven(run, from).await
    }

    /// Returns the branch service of a run: that of the shape with which the run began, or of the
    /// current shape for a new run.
    fn branches_of(&self, workflow: &str, begun: Option<&Topology>) -> String {
        let own = match begun {
            Some(begun) => branch::services(workflow, begun).pop(),
            None => self
                .branches
                .get(workflow)
                .and_then(|all| all.last().cloned()),
        };
        own.unwrap_or_default()
    }
}

fn no_registry() -> Error {
    Error::new(
        ErrorKind::Config,
        "the engine of this runner keeps no registry of runs",
    )
    .with_help("give the runner a store of SQLite or Postgres")
}

/// Rejects a store that ends with its process.
fn is_durable(engine: &dyn Engine) -> Result<()> {
    if engine.retention() == Retention::Durable {
        return Ok(());
    }
    let message = "the engine of this runner keeps nothing that outlives the process";
    Err(Error::new(ErrorKind::Config, message)
        .with_help("give the runner a store of SQLite or Postgres, the same for all processes"))
}
