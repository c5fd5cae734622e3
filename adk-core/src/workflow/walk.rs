//! The walk over the flat list of steps: an exit is a jump, only what runs at the same time recurses.

use super::turn::turn;
use super::{Wired, reads};
use crate::flow::Flow;
use crate::run::{Context, Frame, LoopEnd, LoopEndReason};
use crate::spec::{Step, StepKind};
use crate::{At, Error, ErrorKind, Name, Result};
use std::ops::Range;

/// A block that the walk is in.
struct Open {
    at: usize,
    /// What the context was before the block was entered.
    outer: Frame,
    /// The round, for a loop.
    round: u32,
}

/// Where a walk goes on after the end of a block.
enum Next {
    Step(usize),
    Round(usize),
}

/// How a walk over some steps ended: run through, or at an exit that no loop among them takes.
pub(super) enum Walked {
    Through,
    Exit(Exit),
}

impl Walked {
    fn exit(self) -> Option<Exit> {
        match self {
            Self::Through => None,
            Self::Exit(exit) => Some(exit),
        }
    }
}

/// An exit on its way to its loop, and who made it.
pub(super) struct Exit {
    /// `None`: the innermost loop.
    pub(super) target: Option<Name>,
    pub(super) reason: LoopEndReason,
}

pub(super) struct Walk<'a> {
    pub(super) workflow: &'a dyn Wired,
    pub(super) steps: &'a [Step<'a>],
}

impl<'a> Walk<'a> {
    pub(super) async fn steps(&self, range: Range<usize>, cx: &mut Context) -> Result<Walked> {
        let mut open: Vec<Open> = Vec::new();
        let walked = self.walk(range, &mut open, cx).await;
        // An agent that runs a workflow by itself may go on after its error.
        while let Some(block) = open.pop() {
            cx.leave(block.outer);
        }
        walked
    }

    async fn walk(&self, range: Range<usize>, open: &mut Vec<Open>, cx: &mut Context) -> Result<Walked> {
        let mut at = range.start;
        while at < range.end {
            let step = &self.steps[at];
            let exit = match step.kind {
                StepKind::Agent { .. } => {
                    let Some(agent) = self.workflow.agent(at) else {
                        return Err(self.broken(at, "has no agent"));
                    };
                    let ended = {
                        let outer = self.enter(at, At::Once, cx);
                        turn(self.workflow, agent, outer, step, cx).await?
                    };
                    at += 1;
                    ended.and_then(|(flow, by)| Exit::new(flow, LoopEndReason::Escalated { by }))
                }
                StepKind::Break { target } => {
                    at += 1;
                    Some(Exit { target: target.map(Name::shared), reason: LoopEndReason::Break })
                }
                StepKind::Loop { .. } => {
                    let outer = self.enter(at, At::Round(1), cx);
                    open.push(Open { at, outer, round: 1 });
                    at += 1;
                    None
                }
                StepKind::Sequence => {
                    let outer = self.enter(at, At::Once, cx);
                    open.push(Open { at, outer, round: 0 });
                    at += 1;
                    None
                }
                StepKind::Match { key } => {
                    let outer = self.enter(at, At::Once, cx);
                    open.push(Open { at, outer, round: 0 });
                    at = self.arm(at, key, cx)?;
                    None
                }
                StepKind::Parallel { max_concurrency } => {
                    let outer = self.enter(at, At::Once, cx);
                    let walked = self.parallel(at, max_concurrency, cx).await;
                    cx.leave(outer);
                    at = step.end + 1;
                    walked?.exit()
                }
                StepKind::Each { item, list, max_concurrency } => {
                    let outer = self.enter(at, At::Once, cx);
                    let walked = self.each(at, item, list, max_concurrency, cx).await;
                    cx.leave(outer);
                    at = step.end + 1;
                    walked?.exit()
                }
                StepKind::Branch | StepKind::Arm { .. } => {
                    at += 1;
                    None
                }
                StepKind::End => {
                    at = match self.end(at, open, cx)? {
                        Next::Step(at) => at,
                        Next::Round(at) => {
                            // A loop of agents that never wait lets others run, and can be cancelled.
                            tokio::task::coop::consume_budget().await;
                            at
                        }
                    };
                    None
                }
            };
            if let Some(exit) = exit
                && (!self.workflow.is_unchecked() || self.is_taken(at, &exit))
            {
                match self.jump(exit, open, cx) {
                    Ok(behind) => at = behind,
                    Err(exit) => return Ok(Walked::Exit(exit)),
                }
            }
        }
        Ok(Walked::Through)
    }

    /// Goes to a step; what comes back is for [`Context::leave`].
    fn enter(&self, at: usize, run: At, cx: &mut Context) -> Frame {
        match self.workflow.root() == Some(at) {
            true => cx.again(run),
            false => cx.enter(self.workflow.name(at), run),
        }
    }

    /// Whether a loop around the step before `at` takes an exit.
    fn is_taken(&self, at: usize, exit: &Exit) -> bool {
        self.steps.iter().take(at).any(|step| {
            step.end >= at
                && matches!(step.kind, StepKind::Loop { .. })
                && exit.target.as_ref().is_none_or(|target| **target == *step.name)
        })
    }

    /// At the end of a block: another round, or on behind it.
    fn end(&self, at: usize, open: &mut Vec<Open>, cx: &mut Context) -> Result<Next> {
        let Some(block) = open.pop_if(|block| self.steps[block.at].end == at) else {
            // The end of an arm: the other arms are passed by.
            return Ok(Next::Step(open.last().map_or(at + 1, |block| self.steps[block.at].end)));
        };
        let StepKind::Loop { max, until } = self.steps[block.at].kind else {
            cx.leave(block.outer);
            return Ok(Next::Step(at + 1));
        };
        if let Some(key) = until
            && reads::is_true(key, cx)?
        {
            self.close(block, LoopEndReason::Until, cx);
            return Ok(Next::Step(at + 1));
        }
        let max = self.workflow.max(block.at).or(max);
        if max.is_some_and(|max| block.round >= max) {
            self.close(block, LoopEndReason::Max, cx);
            return Ok(Next::Step(at + 1));
        }
        let (start, round) = (block.at, block.round.saturating_add(1));
        cx.leave(block.outer);
        let outer = self.enter(start, At::Round(round), cx);
        open.push(Open { at: start, outer, round });
        Ok(Next::Round(start + 1))
    }

    /// Leaves blocks up to the loop that the exit is for; the place behind it, or the exit when it is further out.
    fn jump(&self, exit: Exit, open: &mut Vec<Open>, cx: &mut Context) -> Result<usize, Exit> {
        let takes = |block: &Open| match (&self.steps[block.at], &exit.target) {
            (Step { kind: StepKind::Loop { .. }, .. }, None) => true,
            (Step { kind: StepKind::Loop { .. }, name, .. }, Some(target)) => **target == **name,
            _ => false,
        };
        while let Some(block) = open.pop() {
            let (start, found) = (block.at, takes(&block));
            self.close(block, exit.reason.clone(), cx);
            if found {
                return Ok(self.steps[start].end + 1);
            }
        }
        Err(exit)
    }

    fn close(&self, block: Open, reason: LoopEndReason, cx: &mut Context) {
        cx.leave(block.outer);
        if block.round > 0 {
            let path = match self.workflow.root() == Some(block.at) {
                true => cx.path().clone(),
                false => cx.path().child(self.workflow.name(block.at), At::Once),
            };
            cx.run.end_loop(LoopEnd { path, rounds: block.round, reason });
        }
    }

    /// The first step of the arm that the value of the key selects.
    fn arm(&self, at: usize, key: &str, cx: &Context) -> Result<usize> {
        let value = reads::subject(key, cx)?;
        let selected = self.workflow.select(at, &value);
        let selected = selected.map_err(|error| reads::no_arm(key, error, cx))?;
        let arm = self.parts(at).nth(selected);
        arm.map(|arm| arm.start).ok_or_else(|| {
            let arms = self.parts(at).count();
            self.broken(at, &format!("selects arm {selected} of {arms}, counted from 0")).at(cx.path())
        })
    }

    /// What stands between the markers of each branch of a parallel, or of each arm of a match.
    pub(super) fn parts(&self, block: usize) -> impl Iterator<Item = Range<usize>> {
        let (mut at, end) = (block + 1, self.steps[block].end);
        std::iter::from_fn(move || {
            let marker = (at < end).then(|| &self.steps[at])?;
            let part = at + 1..marker.end;
            at = marker.end + 1;
            Some(part)
        })
    }

    /// A defect of who made the workflow, which is no macro.
    fn broken(&self, at: usize, why: &str) -> Error {
        let message = format!("step {at} of `{}` {why}", self.workflow.spec().name);
        Error::new(ErrorKind::Config, message)
    }
}

impl Exit {
    fn new(flow: Flow, reason: LoopEndReason) -> Option<Self> {
        match flow {
            Flow::Continue => None,
            Flow::Exit => Some(Self { target: None, reason }),
            Flow::ExitTo(name) => Some(Self { target: Some(name), reason }),
        }
    }
}
