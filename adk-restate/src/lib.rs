//! Workflows on Restate, a durable execution engine: runs that any of many machines executes.
//!
//! **Workers** [serve](endpoint()) workflows to a Restate server, and execute their runs. **Clients** have [`Restate`] as
//! their engine: their runs are handed over to it, and followed in the store that all share.
//!
//! | what | where |
//! |---|---|
//! | events, state, the registry of runs, open waits | the store: Postgres, or SQLite on one machine |
//! | results of steps, timers, answers, turns of sessions, which process executes a run | Restate |

mod batch;
mod branch;
mod checked;
mod client;
mod endpoint;
mod handle;
mod idle;
mod local;
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

/// What the handlers of a worker share.
pub(crate) struct Worker {
    runner: Runner<adk_core::model::NoProvider>,
    engine: Arc<dyn Engine>,
    sessions: Arc<dyn SessionStore>,
    /// The services of the branches of each workflow, see [`branch::services`].
    branches: BTreeMap<String, Vec<String>>,
}

impl Worker {
    fn registry(&self) -> Result<&dyn RunRegistry> {
        self.engine.registry().ok_or_else(no_registry)
    }

    fn waits(&self) -> Result<&dyn WaitRegistry> {
        self.engine.waits().ok_or_else(no_registry)
    }

    /// What is stored of a run, with its events from a place of the log on.
    async fn driven(&self, run: RunId, from: u64) -> Result<Option<DrivenRun>> {
        self.registry()?.driven(run, from).await
    }

    /// The service of the branches of a run: that of the shape that it was begun with, if that is stored, or begins with.
    fn branches_of(&self, workflow: &str, begun: Option<&Topology>) -> String {
        let own = match begun {
            Some(begun) => branch::services(workflow, begun).pop(),
            None => self.branches.get(workflow).and_then(|all| all.last().cloned()),
        };
        own.unwrap_or_default()
    }
}

fn no_registry() -> Error {
    Error::new(ErrorKind::Config, "the engine of this runner keeps no runs")
        .with_help("give the runner a store of SQLite or Postgres")
}

/// Refuses a store that ends with its process.
fn is_durable(engine: &dyn Engine) -> Result<()> {
    if engine.retention() == Retention::Durable {
        return Ok(());
    }
    let message = "the engine of this runner keeps nothing that outlives the process";
    Err(Error::new(ErrorKind::Config, message)
        .with_help("give the runner a store of SQLite or Postgres, the same for all processes"))
}
