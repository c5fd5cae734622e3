//! [`Team`]: agents that hand over to each other. A team is an agent that may transfer and all
//! agents below it.

use crate::runtime::agent::{DynAgent, Handover};
use crate::runtime::run::{GlobalInstruction, Inherited, KeyScope, Prepare};
use crate::spec::{AgentKind, AgentMeta};
use crate::{At, Name, Path};
use std::sync::Arc;

/// Finds an agent by its description. Used for agents that do not hold the agents below them.
pub(crate) type FindAgent<'f, 'a> = &'f (dyn Fn(&AgentMeta<'_>) -> Option<&'a dyn DynAgent> + Sync);

/// The members of a team. A parent comes before its children.
pub(crate) struct Team<'a> {
    pub(crate) members: Vec<Member<'a>>,
    /// Whether the first member is an instance (`as second`), whose name is the prefix of the
    /// other names.
    pub(crate) is_instance: bool,
}

pub(crate) struct Member<'a> {
    pub(crate) agent: &'a dyn DynAgent,
    pub(crate) hand: Handover<'a>,
    parent: Option<usize>,
    pub(crate) name: Name,
    /// Whether the member is a step of a workflow. The names inside it are then its own, as in an
    /// instance.
    pub(crate) is_closed: bool,
    /// Number of turns of the member in this turn of the team.
    pub(crate) turns: u32,
    /// Number of model calls of the member in this turn of the team.
    pub(crate) calls: u32,
}

impl<'a> Team<'a> {
    /// Returns `true` if the agent can hand over to others.
    pub(crate) fn is_led_by(agent: &dyn DynAgent) -> bool {
        let hand = agent.handover_dyn();
        hand.decides && !(hand.agents.is_empty() && agent.meta().transfer.is_empty())
    }

    /// Returns the team of an agent; `None` if the agent cannot hand over.
    pub(crate) fn from_agent(
        agent: &'a dyn DynAgent,
        name: impl FnOnce() -> Name,
        find: FindAgent<'_, 'a>,
    ) -> Option<Self> {
        if !Self::is_led_by(agent) {
            return None;
        }
        let hand = agent.handover_dyn();
        let first = Member {
            agent,
            hand,
            parent: None,
            name: name(),
            is_closed: false,
            turns: 0,
            calls: 0,
        };
        let mut team = Self {
            members: vec![first],
            is_instance: false,
        };
        let mut at = 0;
        while at < team.members.len() {
            team.add_below(at, find);
            at += 1;
        }
        Some(team)
    }

    /// Sets whether the first member is an instance.
    pub(crate) fn with_instance(self, is_instance: bool) -> Self {
        Self {
            is_instance,
            ..self
        }
    }

    fn add_below(&mut self, parent: usize, find: FindAgent<'_, 'a>) {
        let Member { agent, hand, .. } = self.members[parent];
        if !hand.decides {
            return;
        }
        let below = agent.meta().transfer;
        let held: Vec<(Name, &'a dyn DynAgent)> = match hand.agents {
            [] => below
                .iter()
                .filter_map(|meta| Some((Name::shared(meta.name), find(meta)?)))
                .collect(),
            agents => agents
                .iter()
                .enumerate()
                .map(|(at, agent)| {
                    // The agent above decides the name, as a workflow names its steps.
                    let name = below.get(at).map_or(agent.meta().name, |meta| meta.name);
                    (Name::shared(name), &**agent as _)
                })
                .collect(),
        };
        let is_declared = hand.agents.is_empty() || hand.is_declared;
        for (name, agent) in held {
            // The names of a checked tree are unique; for a hand-made tree this check prevents a
            // cycle.
            if self.members.iter().all(|member| member.name != name) {
                let (hand, is_closed) = (
                    agent.handover_dyn(),
                    is_declared && agent.meta().kind == AgentKind::Workflow,
                );
                self.members.push(Member {
                    agent,
                    hand,
                    parent: Some(parent),
                    name,
                    is_closed,
                    turns: 0,
                    calls: 0,
                });
            }
        }
    }

    /// Prepares all members but the first, which the caller prepares at the current path.
    pub(crate) fn prepare(&self, prepare: &mut Prepare<'_>) {
        let base = prepare.path().clone();
        for (at, member) in self.members.iter().enumerate().skip(1) {
            let above = self.inherited_by(at, prepare.inherited(), None);
            prepare.check_below(self.path(at, &base), above, |prepare| {
                prepare.is_target = member.hand.decides;
                member.agent.prepare_dyn(prepare)
            });
        }
    }

    /// Returns the values that a member inherits from the agents above it. `around` holds the
    /// values that the first member inherits, and `scope` holds its keys.
    pub(crate) fn inherited_by(
        &self,
        at: usize,
        around: Option<&Arc<Inherited>>,
        scope: Option<&Arc<KeyScope>>,
    ) -> Option<Arc<Inherited>> {
        let mut upper =
            std::iter::successors(self.members[at].parent, |&at| self.members[at].parent)
                .peekable();
        upper.peek()?;
        let mut above = around.map_or_else(Inherited::default, |around| Inherited::clone(around));
        let (mut near, mut top) = (None, None);
        for hand in upper.map(|at| &self.members[at].hand) {
            near = near.or(hand.model);
            top = hand.global.or(top);
        }
        above.model = near.cloned().or(above.model);
        let own = top.map(|prompt| GlobalInstruction {
            prompt: prompt.clone(),
            scope: scope.cloned(),
        });
        above.global = above.global.or(own);
        Some(Arc::new(above))
    }

    /// Returns the member at the end of these names, which lead downward from the first member.
    pub(crate) fn find<'n>(&self, names: impl Iterator<Item = &'n str>) -> Option<usize> {
        let mut names = names;
        names.try_fold(0, |at, name| {
            self.children(at)
                .find(|child| *self.members[*child].name == *name)
        })
    }

    /// Returns the member with this name, if the member `from` may hand over to it.
    pub(crate) fn target_of(&self, from: usize, name: &str) -> Option<usize> {
        self.targets(from)
            .map(|(at, _)| at)
            .find(|at| *self.members[*at].name == *name)
    }

    /// Returns `true` if a member may keep the conversation, because it can hand the conversation
    /// up to the first member, which reaches all others.
    pub(crate) fn may_keep(&self, at: usize) -> bool {
        let mut upward = std::iter::successors(Some(at), |&at| self.members[at].parent);
        upward.all(|at| self.members[at].hand.decides && !self.members[at].hand.not_to_parent)
    }

    /// Returns the path of a member, below its parent. Each turn after the first adds its number.
    pub(crate) fn path(&self, at: usize, base: &Path) -> Path {
        let mut names = Vec::new();
        let mut upper = at;
        while let Some(parent) = self.members[upper].parent {
            names.push(self.members[upper].name.clone());
            upper = parent;
        }
        let path = names
            .into_iter()
            .rev()
            .fold(base.clone(), |path, name| path.child(name, At::Once));
        match self.members[at].turns {
            0 | 1 => path,
            turn => path.with(At::Turn(turn)),
        }
    }

    /// Returns the members to which a member may hand over, in ADK's order: its children, its
    /// parent, the other children of its parent.
    pub(crate) fn targets(&self, at: usize) -> impl Iterator<Item = (usize, bool)> {
        let Member { hand, parent, .. } = self.members[at];
        let below = self
            .children(at)
            .filter(move |_| hand.decides)
            .map(|child| (child, false));
        let up = parent
            .filter(|_| hand.decides && !hand.not_to_parent)
            .map(|parent| (parent, true));
        let peers = parent.filter(|_| hand.decides && !hand.not_to_peers);
        let peers = peers.into_iter().flat_map(|parent| self.children(parent));
        below.chain(up).chain(
            peers
                .filter(move |peer| *peer != at)
                .map(|peer| (peer, false)),
        )
    }

    fn children(&self, parent: usize) -> impl Iterator<Item = usize> {
        (0..self.members.len()).filter(move |&at| self.members[at].parent == Some(parent))
    }
}
