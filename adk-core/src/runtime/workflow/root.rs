//! The checks and the start of a run at its root.

use super::turn::{Team, run};
use crate::runtime::agent::DynAgent;
use crate::runtime::run::{Context, Prepare};
use crate::store::engine::BranchEnd;
use crate::{Error, ErrorKind, Name, Result};

/// Checks the root before a run, and the agents that it may hand over to.
pub(crate) fn prepare_root(agent: &dyn DynAgent, prepare: &mut Prepare<'_>) {
    agent.prepare_dyn(prepare);
    if let Some(team) = root_team(agent) {
        team.prepare(prepare);
    }
}

/// Runs the root. If the root may hand over, the agent that answered last continues, as in ADK.
pub(crate) async fn run_root(agent: &dyn DynAgent, cx: &mut Context) -> Result<()> {
    match root_team(agent) {
        None => run(agent, false, cx).await.map(drop),
        Some(team) => team.begin(false, false, cx).await.map(drop),
    }
}

/// Returns the team of the root; `None` if the root cannot hand over. A root from a macro is a
/// workflow, which cannot hand over. Any other root holds the agents below it, so no lookup of
/// agents is necessary.
fn root_team(agent: &dyn DynAgent) -> Option<Team<'_>> {
    Team::from_agent(agent, || Name::shared(agent.meta().name), &|_| None)
}

/// Runs one branch of the root in a process that does not drive the run.
pub(crate) async fn run_branch(agent: &dyn DynAgent, mut cx: Context) -> Result<BranchEnd> {
    agent.run_dyn(&mut cx).await?;
    cx.take_branch_end().ok_or_else(|| {
        let message = format!(
            "`{}` was not made by `workflow!` or a builder, so its branches cannot run in another \
             process",
            agent.meta().name
        );
        Error::new(ErrorKind::Config, message)
            .with_help("run its branches in the process that drives the run")
    })
}
