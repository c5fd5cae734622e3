//! The start of a run at its root, and the choice of the agent that continues a conversation.

use super::team::Team;
use super::turn::run;
use crate::runtime::agent::DynAgent;
use crate::runtime::run::{Context, Prepare};
use crate::store::engine::BranchEnd;
use crate::{Error, ErrorKind, Event, Name, Path, Result};

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
        Some(team) => team.begin(false, cx).await.map(drop),
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

/// Returns the member that receives the user's message. If the message answers a call, this is the
/// member that made the call, otherwise the member that answered last.
///
/// A member that cannot hand the conversation back, because it or an agent above it may not, would
/// keep the user forever. For such a member the reply before its own reply decides. Without a
/// reply, the root receives the message.
pub(super) async fn continuing_member(team: &Team<'_>, cx: &Context) -> Result<usize> {
    let (history, base) = (cx.history(), cx.path());
    let message = history.find_back(Some).await?;
    let answered: Vec<&str> = message
        .into_iter()
        .flat_map(|event| event.function_responses())
        .map(|response| &*response.id)
        .collect();
    if !answered.is_empty() {
        let calls = |event: &Event| {
            event
                .function_calls()
                .any(|call| answered.contains(&&*call.id))
        };
        let found =
            history.find_back(|event| member_of_event(team, event, base).filter(|_| calls(event)));
        if let Some(member) = found.await? {
            return Ok(member);
        }
    }
    let found = history.find_back(|event| {
        if event.author == "user" || !is_reply(event) {
            return None;
        }
        let member = member_of_event(team, event, base)?;
        let next = event.actions.transfer_to_agent.as_ref();
        let next = next
            .and_then(|name| team.target_of(member, name))
            .filter(|next| team.may_keep(*next));
        next.or_else(|| (member == 0 || team.may_keep(member)).then_some(member))
    });
    Ok(found.await?.unwrap_or(0))
}

/// Returns `true` if the event is a reply. The failure of a model is not a reply.
fn is_reply(event: &Event) -> bool {
    let failed = event
        .details
        .as_ref()
        .is_some_and(|details| details.error_code.is_some());
    !failed
        || event
            .content
            .as_ref()
            .is_some_and(|content| !content.parts.is_empty())
}

fn member_of_event(team: &Team<'_>, event: &Event, base: &Path) -> Option<usize> {
    // The names from the agent up to the root, without rounds and turns.
    let names = std::iter::successors(Some(&event.path), |path| path.parent());
    let own = std::iter::successors(Some(base), |path| path.parent()).count();
    let names: Vec<_> = names.map(Path::name).collect();
    let below = names.len().checked_sub(own)?;
    names.get(below).filter(|name| **name == base.name())?;
    team.find(names[..below].iter().rev().map(|name| &***name))
}
