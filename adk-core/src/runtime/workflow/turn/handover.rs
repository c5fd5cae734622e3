//! The turn of a team. It is at the path of the first member, and one member runs at a time. The
//! turn ends when a member ends without a handover. The model calls are counted per member over the
//! whole turn, since `bounds` counts them in this way.

use super::agent::run;
use super::continuing::{continuing_member, receives_message};
use super::team::{Member, Team};
use crate::Flow;
use crate::runtime::agent::DynAgent;
use crate::runtime::run::{Context, HandoverState, HandoverTarget};
use crate::{BoxFuture, Name, Path, Result};

impl<'a> Team<'a> {
    /// Runs the turn. If it [receives the user's message](receives_message), the member that
    /// answered last continues.
    ///
    /// `begun` says whether the first member has begun already, and `is_in_closed` whether the team
    /// is a step of a closed workflow.
    ///
    /// The future is boxed here: few agents have a team, but all would carry its future, and
    /// workflows may be nested deep.
    pub(crate) fn begin<'c>(
        self,
        begun: bool,
        is_in_closed: bool,
        cx: &'c mut Context,
    ) -> BoxFuture<'c, Result<(Flow, Path)>>
    where
        'a: 'c,
    {
        Box::pin(async move {
            let first = if receives_message(is_in_closed, cx) {
                continuing_member(&self, cx).await?
            } else {
                0
            };
            self.run(first, begun, cx).await
        })
    }

    /// Runs the turn of the team, beginning with the member `at`. The current path is the path of
    /// the first member. All members use the keys of the first member, also if it is an instance.
    /// Returns the flow and the path of the member that ended the turn.
    async fn run(mut self, mut at: usize, begun: bool, cx: &mut Context) -> Result<(Flow, Path)> {
        let base = cx.path().clone();
        // The prefix of the names of all members but the first.
        let inside = if self.is_instance {
            Some(cx.author().clone())
        } else {
            cx.instance.clone()
        };
        let mut exit = None;
        loop {
            let handovers = self.handover_state(at, inside.as_ref(), cx);
            let member = &mut self.members[at];
            member.turns += 1;
            let first = at == 0 && member.turns == 1;
            let path = if first {
                base.clone()
            } else {
                self.path(at, &base)
            };
            let Member {
                agent, is_closed, ..
            } = self.members[at];
            let ran = match at {
                0 if first => run_member(agent, begun, handovers, cx).await,
                0 => run_member_at(agent, is_closed, handovers, path.clone(), cx).await,
                _ => {
                    let (inherited, scope) = (&cx.around.inherited, &cx.around.scope);
                    let inherited = self.inherited_by(at, inherited.as_ref(), scope.as_ref());
                    let mut cx = cx.enter(inherited);
                    let mut cx = cx.enter(inside.clone());
                    run_member_at(agent, is_closed, handovers, path.clone(), &mut cx).await
                }
            };
            let (flow, handovers) = ran.map_err(|error| error.at(&path))?;
            self.members[at].calls = handovers.calls;
            // If a member ends a loop and hands over, the loop ends after the turns of the other
            // members.
            let ended = exit.take().unwrap_or((flow, path));
            match handovers.next.and_then(|next| handovers.targets.get(next)) {
                None => return Ok(ended),
                Some(target) => at = target.member,
            }
            exit = Some(ended).filter(|(flow, _)| *flow != Flow::Continue);
        }
    }

    /// Returns the handover state of a member. `inside` is the prefix of the names of all members
    /// but the first.
    fn handover_state(&self, at: usize, inside: Option<&Name>, cx: &Context) -> HandoverState {
        let member = &self.members[at];
        let targets = self.targets(at);
        let targets = targets
            .map(|(other, is_parent)| self.target(other, is_parent, inside, cx))
            .collect();
        HandoverState {
            targets,
            calls: member.calls,
            next: None,
            handed_over: at != 0 || member.turns > 0,
        }
    }

    fn target(
        &self,
        at: usize,
        is_parent: bool,
        inside: Option<&Name>,
        cx: &Context,
    ) -> HandoverTarget {
        let Member {
            agent,
            hand,
            name,
            calls,
            ..
        } = &self.members[at];
        let around = if at == 0 {
            cx.instance.as_ref()
        } else {
            inside
        };
        HandoverTarget {
            member: at,
            name: around.map_or_else(
                || name.clone(),
                |around| Name::from(format!("{around}::{name}")),
            ),
            plain: name.clone(),
            description: agent.meta().description.to_owned(),
            is_parent,
            is_spent: cx.config().limit_handovers
                && hand.max_calls.is_some_and(|max| *calls >= max),
        }
    }
}

/// Runs a member at the current path.
async fn run_member(
    agent: &dyn DynAgent,
    begun: bool,
    handovers: HandoverState,
    cx: &mut Context,
) -> Result<(Flow, HandoverState)> {
    cx.frame.handovers = Some(Box::new(handovers));
    let flow = run(agent, begun, cx).await?;
    Ok((
        flow,
        cx.frame
            .handovers
            .take()
            .map_or_else(HandoverState::default, |handovers| *handovers),
    ))
}

/// Runs a member at a path of its own.
async fn run_member_at(
    agent: &dyn DynAgent,
    is_closed: bool,
    handovers: HandoverState,
    path: Path,
    cx: &mut Context,
) -> Result<(Flow, HandoverState)> {
    let frame = cx.frame_at(path);
    let mut turn = cx.enter(frame);
    let instance = if is_closed {
        Some(turn.author().clone())
    } else {
        turn.instance.clone()
    };
    let ran = run_member(agent, false, handovers, &mut turn.enter(instance)).await;
    let usage = turn.frame.usage.clone();
    let usage = usage.map(|usage| usage.named(turn.author()));
    drop(turn);
    // The usage of the member belongs to the turn of the team.
    if let Some(usage) = usage {
        *cx.frame.usage.get_or_insert_default() += &usage;
    }
    ran
}
