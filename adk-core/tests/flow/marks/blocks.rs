//! Blocks.

use super::world::{Cell, Ended, Message, World};
use crate::pairs::plan::most_skipped;
use crate::reference::Scope;
use crate::tree::*;
use adk_build::spec::Over;

/// A branch or an element that has run.
struct Part {
    ended: Ended,
    said: Vec<Message>,
    /// The cells that it has changed, with their values before and after it.
    changes: Vec<(usize, Cell, Cell)>,
}

impl<'f> World<'f> {
    pub(super) fn block(&mut self, block: &'f Block, scope: Scope) -> Ended {
        if block.skippable && self.random.one_in(3) {
            return Ended::Through;
        }
        match block.kind {
            Kind::Sequence | Kind::Else => self.nodes(&block.inside, scope),
            Kind::Match { key } => {
                let arm = self.arm(block, key, scope);
                self.node(&block.inside[arm], scope)
            }
            Kind::Loop { max, until } => self.rounds(block, max, until.is_some(), scope),
            Kind::Try { most } => self.attempts(block, most, scope),
            Kind::Each {
                item, list, max, ..
            } => self.elements(block, (item, list, max), scope),
            Kind::Parallel { first, .. } => {
                let parts = self.parts(block.inside.len(), first, |world, n| {
                    world.node(&block.inside[n], scope)
                });
                if first {
                    self.race(block, parts)
                } else {
                    self.join(block, parts)
                }
            }
        }
    }

    fn arm(&mut self, block: &Block, key: Key, scope: Scope) -> usize {
        let cell = self.cell(scope, key);
        let count = block.inside.len();
        if let Some(default) = self.cells[cell].default.filter(|_| block.spelled) {
            let takes = |arm: &usize| ["_", default].contains(&pattern(key, *arm, count));
            if let Some(arm) = (0..count).find(takes) {
                return arm;
            }
        }
        self.random.below(count as u64) as usize
    }

    /// Runs parts one after the other, in any order. What they say does not reach the others. If
    /// they are `apart`, neither do their writes.
    fn parts(
        &mut self,
        count: usize,
        apart: bool,
        mut run: impl FnMut(&mut Self, usize) -> Ended,
    ) -> Vec<Part> {
        let mut order: Vec<_> = (0..count).collect();
        for at in (1..count).rev() {
            order.swap(at, self.random.below(at as u64 + 1) as usize);
        }
        let mut parts: Vec<_> = (0..count).map(|_| None).collect();
        for n in order {
            let (before, talk) = (self.cells.clone(), self.talk.clone());
            let ended = run(self, n);
            let said = self.talk.split_off(talk.len());
            let mut changes = Vec::new();
            for (at, cell) in self.cells.iter().enumerate() {
                let old = before.get(at).copied().unwrap_or_default();
                if *cell != old {
                    changes.push((at, old, *cell));
                }
            }
            let part = Part {
                ended,
                said,
                changes,
            };
            if apart {
                self.undo(&part);
            }
            parts[n] = Some(part);
        }
        parts.into_iter().flatten().collect()
    }

    /// Restores the values of keys that a part has written.
    fn undo(&mut self, part: &Part) {
        for (at, old, _) in &part.changes {
            if !self.storage.name(*at).starts_with("temp:") {
                self.cells[*at] = *old;
            }
        }
    }

    /// Ends a `parallel(first)`.
    fn race(&mut self, block: &Block, parts: Vec<Part>) -> Ended {
        let has_failed = |part: &&Part| matches!(part.ended, Ended::Failed(_));
        let others: Vec<_> = parts.iter().filter(|part| !has_failed(part)).collect();
        if others.is_empty() {
            return match parts.first() {
                Some(part) if !block.on_error.skips() => part.ended,
                _ => Ended::Through,
            };
        }
        let winner = *self.random.choose(&others);
        for (at, _, new) in &winner.changes {
            self.cells[*at] = *new;
        }
        self.talk.extend(winner.said.iter().cloned());
        winner.ended
    }

    /// Ends a `parallel` or an `each`.
    fn join(&mut self, block: &Block, parts: Vec<Part>) -> Ended {
        if parts.iter().any(|part| part.ended == Ended::Cut) {
            return Ended::Cut;
        }
        let has_failed = |part: &Part| matches!(part.ended, Ended::Failed(_));
        let failed = parts.iter().filter(|part| has_failed(part)).count();
        let skips = failed <= most_skipped(block, parts.len());
        let is_left_out = |part: &Part| skips && has_failed(part);
        let leaves = |part: &Part| part.ended != Ended::Through && !is_left_out(part);
        let leaving: Vec<_> = (0..parts.len()).filter(|n| leaves(&parts[*n])).collect();
        let first = (!leaving.is_empty()).then(|| *self.random.choose(&leaving));
        for (n, part) in parts.iter().enumerate() {
            // A part that leaves the block cancels some of the others.
            let is_cancelled = first.is_some_and(|first| {
                let stays = n == first && !matches!(part.ended, Ended::Failed(_));
                !stays && self.random.one_in(2)
            });
            if is_left_out(part) || is_cancelled {
                self.undo(part);
            } else {
                self.talk.extend(part.said.iter().cloned());
            }
        }
        first.map_or(Ended::Through, |first| parts[first].ended)
    }

    fn elements(
        &mut self,
        block: &'f Block,
        (item, list, max): (Key, Key, Option<(u32, Over)>),
        scope: Scope,
    ) -> Ended {
        let list = self.cell(scope, list);
        let marks = self.cells[list].marks;
        let mut count = self.random.below(4) as usize;
        if let Some((max, over)) = max
            && count > max as usize
        {
            if over == Over::Fail {
                return Ended::Failed(0);
            }
            count = max as usize;
        }
        let inside = self.storage.element(block, item, scope);
        let keys = written(&block.inside);
        let mut values = Vec::new();
        let parts = self.parts(count, false, |world, n| {
            for at in 0..world.cells.len() {
                if world.storage.is_inside(at, inside) {
                    world.cells[at] = Cell::default();
                }
            }
            world.set(inside, item, marks);
            let ended = world.nodes(&block.inside, inside);
            for key in &keys {
                let cell = world.cell(inside, key);
                values.push((n, *key, world.cells[cell].marks, ended));
            }
            ended
        });
        let ended = self.join(block, parts);
        if ended != Ended::Through {
            return ended;
        }
        for key in keys {
            let all = values
                .iter()
                .filter(|(_, own, _, ended)| *own == key && *ended == Ended::Through);
            let marks = all.fold(0, |all, (_, _, marks, _)| all | marks);
            let cell = self.set(scope, key, 0);
            self.cells[cell].marks = marks;
        }
        Ended::Through
    }

    fn attempts(&mut self, block: &'f Block, most: u32, scope: Scope) -> Ended {
        let (body, otherwise) = match block.inside.split_last() {
            Some((Node::Block(last), body)) if matches!(last.kind, Kind::Else) => {
                (body, Some(last))
            }
            _ => (&block.inside[..], None),
        };
        let mut error = 0;
        for _ in 0..most {
            match self.nodes(body, scope) {
                Ended::Failed(marks) => error = marks,
                ended => return ended,
            }
        }
        let Some(otherwise) = otherwise else {
            return Ended::Failed(error);
        };
        let inside = self.storage.otherwise(&otherwise.name, scope);
        if self.quotes_all {
            error |= self.everything();
        }
        self.set(inside, ERROR, error);
        self.nodes(&otherwise.inside, inside)
    }

    fn rounds(&mut self, block: &'f Block, max: Option<u32>, until: bool, scope: Scope) -> Ended {
        self.loops.push(&block.name);
        let own = self.loops.len() - 1;
        let most = max.unwrap_or(6);
        let mut ended = Ended::Cut;
        for round in 1..=most {
            ended = self.nodes(&block.inside, scope);
            match ended {
                Ended::Through => {}
                Ended::Exit(to) if to == own => {
                    ended = Ended::Through;
                    break;
                }
                _ => break,
            }
            if until && self.random.one_in(2) {
                break;
            }
            // Without `max`, only an exit or the key ends the loop.
            if round == most && max.is_none() && !until {
                ended = Ended::Cut;
            }
        }
        self.loops.truncate(own);
        ended
    }
}
