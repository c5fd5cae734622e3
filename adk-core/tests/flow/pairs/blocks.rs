//! Interpretation of blocks.

use super::construct::place;
use super::interpret::{Differs, Ended, Interpreter, Thread};
use super::log::delta;
use super::plan;
use crate::discards::{Discards, State, failed_parts, left_out, undone};
use crate::reference::Scope;
use crate::tree::*;
use adk_build::spec::Over;
use serde_json::Value;
use std::collections::BTreeSet;

/// A branch or an element, with its path.
type Part<'f> = (String, Ended<'f>);

impl<'f> Interpreter<'f> {
    pub(super) fn block(
        &mut self,
        block: &'f Block,
        path: &str,
        scope: Scope,
        thread: &mut Thread,
    ) -> Differs<Ended<'f>> {
        if block.skippable && plan::skips(self.seed, path) {
            let Some(at) = self.event(path, thread)? else {
                return Ok(Ended::Cut);
            };
            self.wrote(at, State::new())?;
            return Ok(Ended::Through);
        }
        match block.kind {
            Kind::Sequence | Kind::Else => self.nodes(&block.inside, path, scope, thread),
            Kind::Match { key } => {
                let key = self.stored(scope, key, path);
                let state = self.state(thread.at);
                let value = state
                    .get(&key)
                    .ok_or_else(|| format!("`{path}` has no `{key}`"))?;
                let arm = plan::arm(value, block.inside.len());
                self.node(&block.inside[arm], path, scope, thread)
            }
            Kind::Loop { max, until } => self.rounds(block, max, until, path, scope, thread),
            Kind::Try { most } => self.attempts(block, most, path, scope, thread),
            Kind::Each {
                item, list, max, ..
            } => self.elements(block, (item, list, max), path, scope, thread),
            Kind::Parallel { first, .. } => {
                let (start, mut parts) = (*thread, Vec::new());
                for node in &block.inside {
                    let mut own = start;
                    let ended = self.node(node, path, scope, &mut own)?;
                    parts.push((format!("{path}/{}", name(node)), ended));
                    thread.at = thread.at.max(own.at);
                }
                if first {
                    self.race(block, path, parts, start, thread)
                } else {
                    self.join(block, path, &parts, start, thread)
                }
            }
        }
    }

    /// Joins branches or elements that should all end.
    fn join(
        &mut self,
        block: &Block,
        path: &str,
        parts: &[Part<'f>],
        start: Thread,
        thread: &mut Thread,
    ) -> Differs<Ended<'f>> {
        let failed = parts.iter().filter(|(_, ended)| *ended == Ended::Failed);
        let is_over = failed.count() > plan::most_skipped(block, parts.len());
        let is_left_out = |ended: &Ended<'_>| *ended == Ended::Failed && !is_over;
        let leaving: Vec<_> = parts
            .iter()
            .map(|(_, ended)| ended)
            .filter(|ended| !matches!(ended, Ended::Through | Ended::Cut) && !is_left_out(ended))
            .collect();
        if !leaving.is_empty() {
            let ended = leaving[self.choices.choose(leaving.len())].clone();
            self.cancelled(path, start, thread)?;
            return Ok(ended);
        }
        if parts.iter().any(|(_, ended)| *ended == Ended::Cut) {
            return Ok(Ended::Cut);
        }
        let failed: Vec<_> = parts
            .iter()
            .filter(|(_, ended)| is_left_out(ended))
            .map(|(at, _)| &**at)
            .collect();
        self.leaves_out(path, &failed, start, thread)
    }

    /// Checks the event of a block that skips failed parts.
    fn leaves_out(
        &mut self,
        path: &str,
        failed: &[&str],
        start: Thread,
        thread: &mut Thread,
    ) -> Differs<Ended<'f>> {
        if failed.is_empty() {
            return Ok(Ended::Through);
        }
        let Some(at) = self.event(path, thread)? else {
            return Ok(Ended::Cut);
        };
        let reported: BTreeSet<_> = failed_parts(&self.log.events[at]).collect();
        if reported != failed.iter().copied().collect() {
            return Err(format!("`{path}` skips {reported:?}, not {failed:?}"));
        }
        self.undoes(at, path, start)?;
        Ok(Ended::Through)
    }

    /// Checks the event of a block that was left and discards writes of cancelled branches.
    fn cancelled(&mut self, path: &str, start: Thread, thread: &mut Thread) -> Differs<()> {
        if self
            .peek(path)
            .is_some_and(|event| left_out(event, "cancelled").is_some())
            && let Some(at) = self.event(path, thread)?
        {
            self.undoes(at, path, start)?;
        }
        Ok(())
    }

    /// Checks the discarded writes in the last event of a block.
    fn undoes(&mut self, at: usize, path: &str, start: Thread) -> Differs<()> {
        let log = self.log;
        let discards = Discards::from_event(&log.events[at])
            .ok_or_else(|| format!("`{path}` discards nothing"))?;
        let states: Vec<_> = (start.at..at).map(|at| self.state(at)).collect();
        let writes = |nth: usize| {
            let temps = self
                .temps
                .iter()
                .flat_map(|(key, writes)| writes.iter().map(move |write| (key, write)));
            let temps = temps.filter(|(_, (written, _))| *written == start.at + nth);
            let mut all = delta(&log.events[start.at + nth]);
            all.extend(temps.map(|(key, (_, value))| (key.clone(), value.clone())));
            all
        };
        let expected = undone(path, &log.events[start.at..at], writes, &states, &discards);
        self.wrote(at, expected)
    }

    fn race(
        &mut self,
        block: &Block,
        path: &str,
        parts: Vec<Part<'f>>,
        start: Thread,
        thread: &mut Thread,
    ) -> Differs<Ended<'f>> {
        let winner = self
            .peek(path)
            .and_then(|event| event.winner())
            .map(|winner| format!("{path}/{winner}"));
        if let Some(winner) = winner {
            let won = parts.into_iter().find(|(at, _)| *at == winner);
            let (_, ended) = won.ok_or_else(|| format!("`{winner}` is not a branch"))?;
            if matches!(ended, Ended::Failed | Ended::Cut) {
                return Err(format!("`{winner}` has won, although {ended:?}"));
            }
            if let Some(at) = self.event(path, thread)? {
                self.undoes(at, path, start)?;
            }
            return Ok(ended);
        }
        if parts.iter().any(|(_, ended)| *ended != Ended::Failed) {
            return Ok(Ended::Cut);
        }
        if !block.on_error.skips() {
            return Ok(Ended::Failed);
        }
        let failed: Vec<_> = parts.iter().map(|(at, _)| &**at).collect();
        self.leaves_out(path, &failed, start, thread)
    }

    fn elements(
        &mut self,
        block: &'f Block,
        (item, list, max): (Key, Key, Option<(u32, Over)>),
        path: &str,
        scope: Scope,
        thread: &mut Thread,
    ) -> Differs<Ended<'f>> {
        let list = self.stored(scope, list, path);
        let values = self
            .state(thread.at)
            .get(&list)
            .and_then(Value::as_array)
            .cloned();
        let mut values = values.ok_or_else(|| format!("`{path}` has no list in `{list}`"))?;
        if let Some((max, over)) = max.filter(|(max, _)| values.len() > *max as usize) {
            if over == Over::Fail {
                return Ok(Ended::Failed);
            }
            let Some(at) = self.event(path, thread)? else {
                return Ok(Ended::Cut);
            };
            let over = left_out(&self.log.events[at], "over").and_then(Value::as_u64);
            if over != Some(values.len() as u64 - u64::from(max)) {
                return Err(format!("`{path}` omits {over:?} elements"));
            }
            self.wrote(at, State::new())?;
            values.truncate(max as usize);
        }
        let inside = self.storage.element(block, item, scope);
        let (start, mut parts) = (*thread, Vec::new());
        for (n, value) in values.into_iter().enumerate() {
            let (here, mut own) = (format!("{path}[{n}]"), start);
            let ended = match self.event(&here, &mut own)? {
                None => Ended::Cut,
                Some(at) => {
                    let key = self.stored(inside, item, &here);
                    self.wrote(at, State::from([(key, value)]))?;
                    self.nodes(&block.inside, &here, inside, &mut own)?
                }
            };
            parts.push((here, ended));
            thread.at = thread.at.max(own.at);
        }
        let ended = self.join(block, path, &parts, start, thread)?;
        let keys = written(&block.inside);
        if ended != Ended::Through || keys.is_empty() {
            return Ok(ended);
        }
        let Some(at) = self.event(path, thread)? else {
            return Ok(Ended::Cut);
        };
        let (state, mut expected) = (self.state(at), State::new());
        for key in keys {
            let whole = parts.iter().filter(|(_, ended)| *ended == Ended::Through);
            let stored: Vec<_> = whole
                .map(|(here, _)| self.stored(inside, key, here))
                .collect();
            let list = stored
                .iter()
                .filter_map(|stored| state.get(stored))
                .cloned();
            expected.insert(self.stored(scope, key, path), list.collect());
        }
        self.wrote(at, expected)?;
        Ok(Ended::Through)
    }

    fn attempts(
        &mut self,
        block: &'f Block,
        most: u32,
        path: &str,
        scope: Scope,
        thread: &mut Thread,
    ) -> Differs<Ended<'f>> {
        let (body, otherwise) = match block.inside.split_last() {
            Some((Node::Block(last), body)) if matches!(last.kind, Kind::Else) => {
                (body, Some(last))
            }
            _ => (&block.inside[..], None),
        };
        for attempt in 1.. {
            let here = format!("{path}#{attempt}");
            let ended = self.nodes(body, &here, scope, thread)?;
            let again = attempt < most;
            if ended != Ended::Failed || (!again && otherwise.is_none()) {
                return Ok(ended);
            }
            let Some(at) = self.event(&here, thread)? else {
                return Ok(Ended::Cut);
            };
            let log = self.log;
            let reported = log.events[at].failed_attempt();
            if reported.as_ref().is_none_or(|failed| {
                (failed.attempt, failed.of, failed.again) != (attempt, most, again)
            }) {
                return Err(format!("`{here}` reports {reported:?}"));
            }
            let mut expected = State::new();
            if let Some(otherwise) = otherwise.filter(|_| !again) {
                let inside = self.storage.otherwise(&otherwise.name, scope);
                let key = self.stored(inside, ERROR, path);
                let error = log.events[at].actions.state_delta.get(key.as_str());
                expected.extend(error.map(|error| (key, Value::clone(error))));
                if expected.is_empty() {
                    return Err(format!("`{here}` reports no error"));
                }
                self.wrote(at, expected)?;
                self.ran.insert(place(otherwise));
                return self.nodes(&otherwise.inside, path, inside, thread);
            }
            self.wrote(at, expected)?;
        }
        Ok(Ended::Failed)
    }

    fn rounds(
        &mut self,
        block: &'f Block,
        max: Option<u32>,
        until: Option<Key>,
        path: &str,
        scope: Scope,
        thread: &mut Thread,
    ) -> Differs<Ended<'f>> {
        for round in 1..=max.unwrap_or(plan::ROUNDS) {
            match self.nodes(&block.inside, &format!("{path}#{round}"), scope, thread)? {
                Ended::Through => {}
                Ended::Exit(target) if target.is_none_or(|target| target == block.name) => {
                    return Ok(Ended::Through);
                }
                ended => return Ok(ended),
            }
            if let Some(until) = until {
                let key = self.stored(scope, until, path);
                match self.state(thread.at).get(&key) {
                    Some(Value::Bool(true)) => return Ok(Ended::Through),
                    Some(_) => {}
                    None => return Err(format!("`{path}` has no `{key}`")),
                }
            }
        }
        self.choices.is_cut_off |= max.is_none();
        Ok(Ended::Through)
    }
}

/// Returns the name of a step; `break` and `()` have none.
fn name(node: &Node) -> &str {
    match node {
        Node::Run(agent) => &agent.name,
        Node::Nested(nested) => &nested.name,
        Node::Block(block) => &block.name,
        Node::Break(_) | Node::Nothing => "",
    }
}
