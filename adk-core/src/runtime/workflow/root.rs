//! The root of a run: where it begins, and with whom.

use super::team::Team;
use super::turn::run;
use crate::runtime::agent::DynAgent;
use crate::runtime::run::{Context, Prepare};
use crate::store::engine::BranchEnd;
use crate::{Error, ErrorKind, Event, Name, Path, Result};

/// Looks at the root before a run, and at those that it may hand over to.
pub(crate) fn prepare_root(agent: &dyn DynAgent, prepare: &mut Prepare<'_>) {
    agent.prepare_dyn(prepare);
    if let Some(team) = team(agent) {
        team.prepare(prepare);
    }
}

/// Runs the root. A root that may hand over is continued by the agent that answered last, as in ADK.
pub(crate) async fn run_root(agent: &dyn DynAgent, cx: &mut Context) -> Result<()> {
    match team(agent) {
        None => run(agent, false, cx).await.map(drop),
        Some(team) => team.begin(false, cx).await.map(drop),
    }
}

/// A root that a macro has made is a workflow, so those below an agent are held by that agent.
fn team(agent: &dyn DynAgent) -> Option<Team<'_>> {
    Team::of(agent, || Name::shared(agent.meta().name), &|_| None)
}

/// Runs a branch of the root apart from its run.
pub(crate) async fn run_branch(agent: &dyn DynAgent, mut cx: Context) -> Result<BranchEnd> {
    agent.run_dyn(&mut cx).await?;
    cx.take_branch_end().ok_or_else(|| {
        let message =
            format!("`{}` is no workflow that `workflow!` or a builder has made", agent.meta().name);
        Error::new(ErrorKind::Config, message).with_help("its branches run where it runs")
    })
}

/// Who takes the user's message: who made the call that it answers, otherwise who answered last. One that could not hand
/// over to all others, since it or one above it may not hand back, would keep the user for ever; then it is the one
/// before it, in the end the root.
pub(super) async fn continues(team: &Team<'_>, cx: &Context) -> Result<usize> {
    let (history, base) = (cx.history(), cx.path());
    let message = history.find_back(Some).await?;
    let answered: Vec<&str> = message
        .into_iter()
        .flat_map(|event| event.function_responses())
        .map(|response| &*response.id)
        .collect();
    if !answered.is_empty() {
        let calls = |event: &Event| event.function_calls().any(|call| answered.contains(&&*call.id));
        let found = history.find_back(|event| member(team, event, base).filter(|_| calls(event)));
        if let Some(member) = found.await? {
            return Ok(member);
        }
    }
    let found = history.find_back(|event| {
        if event.author == "user" || !replies(event) {
            return None;
        }
        let member = member(team, event, base)?;
        let next = event.actions.transfer_to_agent.as_ref();
        let next = next.and_then(|name| team.target_of(member, name)).filter(|next| team.may_keep(*next));
        next.or_else(|| (member == 0 || team.may_keep(member)).then_some(member))
    });
    Ok(found.await?.unwrap_or(0))
}

/// The failure of a model is no reply.
fn replies(event: &Event) -> bool {
    let failed = event.details.as_ref().is_some_and(|details| details.error_code.is_some());
    !failed || event.content.as_ref().is_some_and(|content| !content.parts.is_empty())
}

fn member(team: &Team<'_>, event: &Event, base: &Path) -> Option<usize> {
    // From the agent upward, without rounds and turns.
    let names = std::iter::successors(Some(&event.path), |path| path.parent());
    let own = std::iter::successors(Some(base), |path| path.parent()).count();
    let names: Vec<_> = names.map(Path::name).collect();
    let below = names.len().checked_sub(own)?;
    names.get(below).filter(|name| **name == base.name())?;
    team.find(names[..below].iter().rev().map(|name| &***name))
}
