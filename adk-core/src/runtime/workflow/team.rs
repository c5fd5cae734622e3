//! Agents that hand over to each other: one that may transfer, and those below it.
//!
//! A team has one turn at the place of its first agent, in which one member runs at a time. Who ends without handing over
//! ends the turn. The members' model calls are counted per member for the whole turn, since that is what `bounds` counts.

use super::root::continues;
use super::turn::run;
use crate::flow::Flow;
use crate::runtime::agent::{DynAgent, Handover};
use crate::runtime::run::{
    Context, GlobalInstruction, HandoverState, HandoverTarget, Inherited, KeyScope, Prepare,
};
use crate::spec::{AgentKind, AgentMeta};
use crate::{At, BoxFuture, Name, Path, Result};
use std::sync::Arc;

/// Finds the agent of a description, for agents that do not hold those below them themselves.
pub(super) type Find<'f, 'a> = &'f (dyn Fn(&AgentMeta<'_>) -> Option<&'a dyn DynAgent> + Sync);

/// The members, each after its parent.
pub(super) struct Team<'a> {
    members: Vec<Member<'a>>,
    /// The first one is an instance (`as second`), whose name is the prefix of the others.
    is_instance: bool,
}

pub(super) struct Member<'a> {
    agent: &'a dyn DynAgent,
    hand: Handover<'a>,
    parent: Option<usize>,
    name: Name,
    /// It is a step of a workflow, so the names inside it are its own, as in an instance.
    closed: bool,
    /// How often it has been run here.
    turns: u32,
    /// Its model calls here.
    calls: u32,
}

impl<'a> Team<'a> {
    /// Whether an agent can hand over to others.
    pub(super) fn is_led_by(agent: &dyn DynAgent) -> bool {
        let hand = agent.handover_dyn();
        hand.decides && !(hand.agents.is_empty() && agent.meta().transfer.is_empty())
    }

    /// The team of an agent; `None` for one that can hand over to nobody.
    pub(super) fn of(
        agent: &'a dyn DynAgent,
        name: impl FnOnce() -> Name,
        find: Find<'_, 'a>,
    ) -> Option<Self> {
        if !Self::is_led_by(agent) {
            return None;
        }
        let hand = agent.handover_dyn();
        let first = Member { agent, hand, parent: None, name: name(), closed: false, turns: 0, calls: 0 };
        let mut team = Self { members: vec![first], is_instance: false };
        let mut at = 0;
        while at < team.members.len() {
            team.add_below(at, find);
            at += 1;
        }
        Some(team)
    }

    /// The same for an instance of that agent.
    pub(super) fn instance(self, is_instance: bool) -> Self {
        Self { is_instance, ..self }
    }

    fn add_below(&mut self, parent: usize, find: Find<'_, 'a>) {
        let Member { agent, hand, .. } = self.members[parent];
        if !hand.decides {
            return;
        }
        let held: Vec<(Name, &'a dyn DynAgent)> = match hand.agents {
            [] => {
                let below = agent.meta().transfer.iter();
                below.filter_map(|meta| Some((Name::shared(meta.name), find(meta)?))).collect()
            }
            agents => agents.iter().map(|agent| (Name::shared(agent.meta().name), &**agent as _)).collect(),
        };
        let found = hand.agents.is_empty();
        for (name, agent) in held {
            // Names of a tree are checked; a tree that was made by hand must not go in circles.
            if self.members.iter().all(|member| member.name != name) {
                let (hand, closed) =
                    (agent.handover_dyn(), found && agent.meta().kind == AgentKind::Workflow);
                self.members.push(Member {
                    agent,
                    hand,
                    parent: Some(parent),
                    name,
                    closed,
                    turns: 0,
                    calls: 0,
                });
            }
        }
    }

    /// Looks at all members but the first, which is at the place of `prepare`.
    pub(super) fn prepare(&self, prepare: &mut Prepare<'_>) {
        let base = prepare.path().clone();
        for (at, member) in self.members.iter().enumerate().skip(1) {
            let above = self.above(at, prepare.inherited(), None);
            prepare.check_below(self.path(at, &base), above, |prepare| member.agent.prepare_dyn(prepare));
        }
    }

    /// What a member has from those above it; `around` is what the first one has, and `scope` are its keys.
    fn above(
        &self,
        at: usize,
        around: Option<&Arc<Inherited>>,
        scope: Option<&Arc<KeyScope>>,
    ) -> Option<Arc<Inherited>> {
        let mut upper =
            std::iter::successors(self.members[at].parent, |&at| self.members[at].parent).peekable();
        upper.peek()?;
        let mut above = around.map_or_else(Inherited::default, |around| Inherited::clone(around));
        let (mut near, mut top) = (None, None);
        for hand in upper.map(|at| &self.members[at].hand) {
            near = near.or(hand.model);
            top = hand.global.or(top);
        }
        above.model = near.cloned().or(above.model);
        let own = top.map(|prompt| GlobalInstruction { prompt: prompt.clone(), scope: scope.cloned() });
        above.global = above.global.or(own);
        Some(Arc::new(above))
    }

    /// Runs the turn: at the root of a run it is continued by the member that answered last.
    ///
    /// `begun`: the first member has begun already.
    ///
    /// Boxed here, since few agents have a team and all would carry its future: workflows may be nested deep.
    pub(super) fn begin<'c>(self, begun: bool, cx: &'c mut Context) -> BoxFuture<'c, Result<(Flow, Path)>>
    where
        'a: 'c,
    {
        Box::pin(async move {
            let first = if cx.path().parent().is_none() { continues(&self, cx).await? } else { 0 };
            self.run(first, begun, cx).await
        })
    }

    /// Runs the turn, begun by the member `at`, at the current place, which is that of the first member. All members have
    /// its keys, also those of an instance. Gives who ended it.
    async fn run(mut self, mut at: usize, begun: bool, cx: &mut Context) -> Result<(Flow, Path)> {
        let base = cx.path().clone();
        // The prefix of the names of all members but the first.
        let inside = if self.is_instance { Some(cx.author().clone()) } else { cx.instance.clone() };
        let mut exit = None;
        loop {
            let handovers = self.handovers(at, inside.as_ref(), cx);
            let member = &mut self.members[at];
            member.turns += 1;
            let first = at == 0 && member.turns == 1;
            let path = if first { base.clone() } else { self.path(at, &base) };
            let Member { agent, closed, .. } = self.members[at];
            let ran = match at {
                0 if first => here(agent, begun, handovers, cx).await,
                0 => there(agent, closed, handovers, path.clone(), cx).await,
                _ => {
                    let above = self.above(at, cx.inherited.as_ref(), cx.scope.as_ref());
                    let above = std::mem::replace(&mut cx.inherited, above);
                    let instance = std::mem::replace(&mut cx.instance, inside.clone());
                    let ran = there(agent, closed, handovers, path.clone(), cx).await;
                    (cx.inherited, cx.instance) = (above, instance);
                    ran
                }
            };
            let (flow, handovers) = ran.map_err(|error| error.at(&path))?;
            self.members[at].calls = handovers.calls;
            // A requested end of the loop holds, even if another member goes on in the meantime.
            let ended = exit.take().unwrap_or((flow, path));
            match handovers.next.and_then(|next| handovers.targets.get(next)) {
                None => return Ok(ended),
                Some(target) => at = target.member,
            }
            exit = Some(ended).filter(|(flow, _)| *flow != Flow::Continue);
        }
    }

    /// The member that is reached from the first one by these names.
    pub(super) fn find<'n>(&self, names: impl Iterator<Item = &'n str>) -> Option<usize> {
        let mut names = names;
        names.try_fold(0, |at, name| self.children(at).find(|child| *self.members[*child].name == *name))
    }

    /// The member of that name that another may hand over to.
    pub(super) fn target_of(&self, from: usize, name: &str) -> Option<usize> {
        self.targets(from).map(|(at, _)| at).find(|at| *self.members[*at].name == *name)
    }

    /// Whether a member may stay with the user: from there everybody can be reached, over the first one.
    pub(super) fn may_keep(&self, at: usize) -> bool {
        let mut upward = std::iter::successors(Some(at), |&at| self.members[at].parent);
        upward.all(|at| self.members[at].hand.decides && !self.members[at].hand.not_to_parent)
    }

    /// The place of a member: below its parent, each turn after the first with its number.
    fn path(&self, at: usize, base: &Path) -> Path {
        let mut names = Vec::new();
        let mut upper = at;
        while let Some(parent) = self.members[upper].parent {
            names.push(self.members[upper].name.clone());
            upper = parent;
        }
        let path = names.into_iter().rev().fold(base.clone(), |path, name| path.child(name, At::Once));
        match self.members[at].turns {
            0 | 1 => path,
            turn => path.with(At::Turn(turn)),
        }
    }

    /// The handover state of a member; `inside` is the prefix of the names of all but the first.
    fn handovers(&self, at: usize, inside: Option<&Name>, cx: &Context) -> HandoverState {
        let member = &self.members[at];
        let targets = self.targets(at);
        let targets = targets.map(|(other, is_parent)| self.target(other, is_parent, inside, cx)).collect();
        HandoverState { targets, calls: member.calls, next: None, handed_over: at != 0 || member.turns > 0 }
    }

    /// Whom a member may hand over to, in ADK's order: those below it, its parent, the others of its parent.
    fn targets(&self, at: usize) -> impl Iterator<Item = (usize, bool)> {
        let Member { hand, parent, .. } = self.members[at];
        let below = self.children(at).filter(move |_| hand.decides).map(|child| (child, false));
        let up = parent.filter(|_| hand.decides && !hand.not_to_parent).map(|parent| (parent, true));
        let peers = parent.filter(|_| hand.decides && !hand.not_to_peers);
        let peers = peers.into_iter().flat_map(|parent| self.children(parent));
        below.chain(up).chain(peers.filter(move |peer| *peer != at).map(|peer| (peer, false)))
    }

    fn children(&self, of: usize) -> impl Iterator<Item = usize> {
        (0..self.members.len()).filter(move |&at| self.members[at].parent == Some(of))
    }

    fn target(&self, at: usize, is_parent: bool, inside: Option<&Name>, cx: &Context) -> HandoverTarget {
        let Member { agent, hand, name, calls, .. } = &self.members[at];
        let around = if at == 0 { cx.instance.as_ref() } else { inside };
        HandoverTarget {
            member: at,
            name: around.map_or_else(|| name.clone(), |around| Name::from(format!("{around}::{name}"))),
            plain: name.clone(),
            description: agent.meta().description.to_owned(),
            is_parent,
            is_spent: cx.config().limit_handovers && hand.max_calls.is_some_and(|max| *calls >= max),
        }
    }
}

/// Runs a member at the current place.
async fn here(
    agent: &dyn DynAgent,
    begun: bool,
    handovers: HandoverState,
    cx: &mut Context,
) -> Result<(Flow, HandoverState)> {
    cx.frame.handovers = Some(Box::new(handovers));
    let flow = run(agent, begun, cx).await?;
    Ok((flow, cx.frame.handovers.take().map_or_else(HandoverState::default, |handovers| *handovers)))
}

/// Runs a member at a place of its own.
async fn there(
    agent: &dyn DynAgent,
    closed: bool,
    handovers: HandoverState,
    path: Path,
    cx: &mut Context,
) -> Result<(Flow, HandoverState)> {
    let outer = cx.enter_at(path);
    let author = closed.then(|| cx.author().clone());
    let instance = author.map(|author| cx.instance.replace(author));
    let ran = here(agent, false, handovers, cx).await;
    if let Some(instance) = instance {
        cx.instance = instance;
    }
    // What it has used belongs to the turn of the team.
    if let Some(usage) = cx.leave(outer).usage {
        *cx.frame.usage.get_or_insert_default() += usage;
    }
    ran
}
