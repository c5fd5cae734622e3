//! The choice of the member of a team that continues a conversation.

use super::team::Team;
use crate::runtime::run::Context;
use crate::{At, Event, Path, Result};
use std::iter::successors;

/// Returns `true` if the message of the user may go to another member than the first: the team is
/// the root of the run, or a step of a closed workflow that runs for the first time in the run.
///
/// A later round has no message of its own, and an element has no counterpart in an earlier run. A
/// workflow that is a tool has a session of its own in ADK.
pub(super) fn receives_message(is_in_closed: bool, cx: &Context) -> bool {
    let is_first = |path: &Path| matches!(path.at(), At::Once | At::Round(1));
    let mut upward = successors(Some(cx.path()), |path| path.parent());
    cx.path().parent().is_none() || is_in_closed && !cx.run.kind.is_nested() && upward.all(is_first)
}

/// Returns the member that receives the user's message. If the message answers a call, this is the
/// member that made the call, otherwise the member that answered last. Only events from before the
/// run count, so that a resumed run finds the same member.
///
/// A member that cannot hand the conversation back, because it or an agent above it may not, would
/// keep the user forever. For such a member the reply before its own reply decides. Without a
/// reply, the first member receives the message.
pub(super) async fn continuing_member(team: &Team<'_>, cx: &Context) -> Result<usize> {
    let (history, base, own) = (cx.log(), cx.path(), cx.run.id());
    let message = history.find_back(|event| {
        let is_own = event.invocation_id == own;
        let is_message = is_own && event.author == "user" && event.path.parent().is_none();
        (is_message || !is_own).then_some(event)
    });
    let answered: Vec<&str> = message
        .await?
        .filter(|event| event.invocation_id == own)
        .into_iter()
        .flat_map(|event| event.function_responses())
        .map(|response| &*response.id)
        .collect();
    let earlier = history.clone().before(cx.run.identity.began);
    let member_of = |event: &Event| {
        let member = member_of_event(team, event, base);
        member.filter(|_| event.invocation_id != own)
    };
    if !answered.is_empty() {
        let calls = |event: &Event| {
            event
                .function_calls()
                .any(|call| answered.contains(&&*call.id))
        };
        let found = earlier.find_back(|event| member_of(event).filter(|_| calls(event)));
        if let Some(member) = found.await? {
            return Ok(member);
        }
    }
    let found = earlier.find_back(|event| {
        if event.author == "user" || !is_reply(event) {
            return None;
        }
        let member = member_of(event)?;
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

/// Returns the member that emitted an event. Paths are compared without rounds and turns.
fn member_of_event(team: &Team<'_>, event: &Event, base: &Path) -> Option<usize> {
    let upward = |path| successors(Some(path), |path: &&Path| path.parent()).map(Path::name);
    let below = upward(&event.path)
        .count()
        .checked_sub(upward(base).count())?;
    if !upward(&event.path).skip(below).eq(upward(base)) {
        return None;
    }
    let names: Vec<_> = upward(&event.path).take(below).collect();
    team.find(names.iter().rev().map(|name| &***name))
}
