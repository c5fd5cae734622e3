//! The effects of blocks on all executions at once.

use super::super::tree::{Block, ERROR, Key, Kind, Node, written};
use super::cells::Scope;
use super::run::{Machine, Touch, Ways};
use super::states::States;
use std::collections::BTreeSet;

impl<'f> Machine<'f> {
    /// Executes a `match`, which may select any arm.
    pub(super) fn arms(
        &mut self,
        block: &'f Block,
        key: Key,
        scope: Scope,
        states: States,
    ) -> Ways {
        self.read(&block.name, scope, key, &states);
        let mut ways = Ways {
            through: States::NONE,
            ..Ways::at(states)
        };
        for arm in &block.inside {
            let more = self.node(arm, scope, states);
            ways.through = ways.through.or(more.through);
            ways.between = ways.between.or(more.between);
            ways.exits.extend(more.exits);
        }
        ways
    }

    /// Executes concurrent branches: each may be at any place while another is at its place.
    pub(super) fn parallel(
        &mut self,
        block: &'f Block,
        first: bool,
        scope: Scope,
        states: States,
    ) -> Ways {
        let mut branches = Vec::new();
        let mut touched: Vec<BTreeSet<Touch<'f>>> = Vec::new();
        for branch in &block.inside {
            self.touched.push(BTreeSet::new());
            branches.push(Self::part(block, self.node(branch, scope, states)));
            let own = self.touched.pop().unwrap_or_default();
            for sibling in &touched {
                self.races(sibling, &own, first);
            }
            touched.push(own);
        }
        touched.into_iter().for_each(|own| self.pass_on(own));
        let all = |select: fn(&Ways) -> States| branches.iter().map(select).reduce(States::beside);
        let mut exits = Vec::new();
        for (i, branch) in branches.iter().enumerate() {
            for (to, left) in &branch.exits {
                let others = branches.iter().enumerate().filter(|(j, _)| *j != i);
                let left = others.fold(*left, |left, (_, other)| left.beside(other.between));
                exits.push((*to, left));
            }
        }
        let mut through = all(|branch| branch.through).unwrap_or(states);
        if first {
            through = States::NONE;
            for (i, branch) in branches.iter().enumerate() {
                let others = branches.iter().enumerate().filter(|(j, _)| *j != i);
                let won = others.fold(branch.through, |won, (_, other)| won.beside(other.between));
                through = through.or(won);
            }
        }
        Ways {
            through,
            exits,
            between: all(|branch| branch.between).unwrap_or(states),
        }
    }

    /// Returns the ends of a branch or an element. A part that may be skipped can fail at any
    /// moment.
    fn part(block: &Block, mut part: Ways) -> Ways {
        if block.on_error.skips() {
            part.through = part.through.or(part.between);
        }
        part
    }

    /// Finds races between two concurrent parts.
    fn races(&mut self, one: &BTreeSet<Touch<'f>>, other: &BTreeSet<Touch<'f>>, first: bool) {
        for a in one {
            for b in other
                .iter()
                .filter(|b| a.cell == b.cell && (a.writes || b.writes))
            {
                let key = self.storage.name(a.cell);
                if first && a.writes && b.writes && !key.starts_with("temp:") {
                    continue;
                }
                match self.step {
                    None => {
                        for (reader, writer) in [(a, b), (b, a)] {
                            if !reader.writes && writer.writes {
                                self.found.contested.insert((key, reader.step.to_owned()));
                            }
                        }
                        self.found
                            .races
                            .insert((key, a.step.to_owned(), b.step.to_owned()));
                        self.found
                            .races
                            .insert((key, b.step.to_owned(), a.step.to_owned()));
                    }
                    Some(inner) => {
                        self.wrong_inside(Some(a.cell), format!("{inner}: race on {key}"))
                    }
                }
            }
        }
    }

    /// Adds accesses inside this part to the enclosing branch.
    fn pass_on(&mut self, touched: BTreeSet<Touch<'f>>) {
        if let Some(outer) = self.touched.last_mut() {
            outer.extend(touched);
        }
    }

    /// Executes zero, one, or several elements.
    pub(super) fn elements(
        &mut self,
        block: &'f Block,
        item: Key,
        list: Key,
        scope: Scope,
        states: States,
    ) -> Ways {
        self.read(&block.name, scope, list, &states);
        let inside = self.storage.element(block, item, scope);
        let mut start = states;
        self.storage.forget(inside, &mut start);
        start.write(self.storage.cell(inside, item));
        self.touched.push(BTreeSet::new());
        let element = Self::part(block, self.nodes(&block.inside, inside, start));
        let touched = self.touched.pop().unwrap_or_default();
        // Another element also accesses the cells that are not local to the element.
        let shared: BTreeSet<Touch<'f>> = touched
            .iter()
            .filter(|touch| !self.storage.is_inside(touch.cell, inside))
            .copied()
            .collect();
        self.races(&shared, &shared, false);
        self.pass_on(shared);
        let exits = element
            .exits
            .iter()
            .map(|(to, left)| (*to, left.or(left.beside(element.between))));
        let exits = exits.collect();
        let mut through = states
            .or(element.through)
            .or(element.through.beside(element.through));
        let own = written(&block.inside);
        for key in own {
            let cell = self.touch(&block.name, scope, key, true);
            through.write(cell);
        }
        Ways {
            through,
            exits,
            between: states.or(element.between).or(through),
        }
    }

    /// Executes a `try`. Each attempt may fail at any moment.
    pub(super) fn attempts(
        &mut self,
        block: &'f Block,
        most: u32,
        scope: Scope,
        states: States,
    ) -> Ways {
        let (body, otherwise) = match block.inside.split_last() {
            Some((Node::Block(last), body)) if matches!(last.kind, Kind::Else) => {
                (body, Some(last))
            }
            _ => (&block.inside[..], None),
        };
        let mut ways = Ways {
            through: States::NONE,
            ..Ways::at(states)
        };
        let mut failed = states;
        for _ in 0..most {
            let more = self.nodes(body, scope, failed);
            ways.through = ways.through.or(more.through);
            ways.exits.extend(more.exits);
            failed = failed.or(more.between);
        }
        ways.between = ways.between.or(failed);
        if let Some(otherwise) = otherwise {
            let inside = self.storage.otherwise(&otherwise.name, scope);
            failed.write(self.storage.cell(inside, ERROR));
            let more = self.nodes(&otherwise.inside, inside, failed);
            ways.through = ways.through.or(more.through);
            ways.between = ways.between.or(more.between);
            ways.exits.extend(more.exits);
        }
        ways
    }

    /// Executes a loop until further rounds change nothing.
    pub(super) fn rounds(
        &mut self,
        block: &'f Block,
        max: Option<u32>,
        until: Option<Key>,
        scope: Scope,
        states: States,
    ) -> Ways {
        self.loops.push(&block.name);
        let own = self.loops.len() - 1;
        let mut ways = Ways {
            through: States::NONE,
            ..Ways::at(states)
        };
        let mut ended = max.is_some() || until.is_some();
        let mut entry = states;
        for round in 1.. {
            let body = self.nodes(&block.inside, scope, entry);
            ways.between = ways.between.or(body.between);
            for (to, left) in body.exits {
                ended = true;
                if to == own {
                    ways.through = ways.through.or(left)
                } else {
                    ways.exits.push((to, left))
                }
            }
            let after = body.through;
            if !after.is_reached() {
                break;
            }
            if let Some(key) = until {
                self.read(&block.name, scope, key, &after);
            }
            let last = max == Some(round) && !self.relaxed.more_rounds;
            if last || until.is_some() || (max.is_some() && self.relaxed.more_rounds) {
                ways.through = ways.through.or(after);
            }
            // Without `max`, all rounds are merged. With `max`, the rounds are counted.
            let counted = max.is_some() && !self.relaxed.more_rounds;
            let next = if counted { after } else { entry.or(after) };
            if last || next == entry {
                if counted {
                    // The remaining rounds are equal to this one.
                    ways.through = ways.through.or(after);
                }
                break;
            }
            entry = next;
        }
        self.loops.pop();
        if self.step.is_none() {
            let before = self.ended.entry(&block.name).or_default();
            *before |= ended;
            ended = *before;
        }
        if !ended {
            if let Some(inner) = self.step {
                self.wrong_inside(None, format!("{inner}: {} is endless", block.name));
            }
            ways.through = States::SUPPOSED;
        }
        if self.relaxed.dead_code {
            ways.through = ways.through.or(ways.between);
        }
        ways
    }
}
