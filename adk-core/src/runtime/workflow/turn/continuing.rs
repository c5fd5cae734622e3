//! The choice of the member of a team that continues a conversation.

use super::team::Team;
use crate::runtime::run::Context;
use crate::{Event, Path, Result};

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
