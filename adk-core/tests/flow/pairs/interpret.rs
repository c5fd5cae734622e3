//! [`Interpreter`]: a recursive interpreter of workflows that follows the log of a run and reports
//! where the two differ.
//!
//! Decisions of agents depend only on the seed and their places. The log provides the results of
//! timing: the progress of cancelled branches and the winner of a race. If two branches leave a
//! block and the log does not show which was first, the interpreter tries both.
//!
//! The interpreter uses neither the checker nor the runtime. The storage of a key comes from
//! [`crate::reference`].

use super::construct::{Place, place};
use super::log::{Inner, Log, delta};
use super::plan::{self, Fails, Turn};
use crate::discards::State;
use crate::reference::{SESSION, Scope, Storage};
use crate::tree::*;
use adk_build::Event;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The end of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended<'f> {
    Through,
    /// An exit to the innermost loop, or to the named one.
    Exit(Option<&'f str>),
    Failed,
    /// The log ends here, because an enclosing block cancelled the step.
    Cut,
}

/// A place in the log, after the last event of a branch.
#[derive(Clone, Copy)]
pub struct Thread {
    pub at: usize,
}

/// Decisions that the log does not show.
#[derive(Default)]
pub struct Choices {
    made: Vec<(usize, usize)>,
    at: usize,
    /// Whether a loop without `max` has reached [`plan::ROUNDS`].
    pub is_cut_off: bool,
}

impl Choices {
    pub fn choose(&mut self, options: usize) -> usize {
        if self.at == self.made.len() {
            self.made.push((0, options));
        }
        self.at += 1;
        self.made[self.at - 1].0
    }

    /// Advances to the next combination, if there is one.
    pub fn advance(&mut self) -> bool {
        self.at = 0;
        while let Some((chosen, options)) = self.made.pop() {
            if chosen + 1 < options {
                self.made.push((chosen + 1, options));
                return true;
            }
        }
        false
    }
}

/// The names of steps that have their own key names.
#[derive(Default)]
pub struct Names {
    pub workflows: BTreeSet<String>,
    /// Agents and workflows that are tools.
    pub tools: BTreeSet<String>,
}

pub struct Interpreter<'f> {
    pub seed: u64,
    pub log: &'f Log,
    pub storage: Storage,
    pub choices: &'f mut Choices,
    /// The runs of agents that are tools.
    pub inner: Inner,
    pub names: &'f Names,
    /// Places that have run.
    pub(super) ran: BTreeSet<Place>,
    /// The number of read events by path.
    pub(super) read_events: HashMap<String, usize>,
    /// Keys without events, with the log position of each write.
    pub(super) temps: BTreeMap<String, Vec<(usize, Value)>>,
    /// Whether an enclosing block handles errors.
    pub(super) handled: bool,
    /// Keys written by an instance whose read and write keys differ.
    pub(super) written: BTreeSet<String>,
    /// Key names of the definition for the written keys.
    pub(super) writes: Vec<(Key, Key)>,
}

/// A result whose error describes a difference between log and interpreter.
pub type Differs<T> = Result<T, String>;

impl<'f> Interpreter<'f> {
    pub fn new(
        seed: u64,
        log: &'f Log,
        inner: Inner,
        names: &'f Names,
        choices: &'f mut Choices,
    ) -> Self {
        Self {
            seed,
            log,
            storage: Storage::new(),
            choices,
            inner,
            names,
            ran: BTreeSet::new(),
            read_events: HashMap::new(),
            temps: BTreeMap::new(),
            handled: false,
            written: BTreeSet::new(),
            writes: Vec::new(),
        }
    }

    /// Interprets the running workflow, with these keys of the session.
    pub fn root(
        mut self,
        flow: &'f Flow,
        given: &BTreeSet<Key>,
    ) -> Differs<(Ended<'f>, BTreeSet<Place>)> {
        // Keys without events exist from the start, too.
        let inputs = flow
            .inputs
            .iter()
            .map(|(key, _)| (*key, "input".to_owned()));
        let lets = flow
            .lets
            .iter()
            .map(|key| (*key, format!("{} let", flow.name)));
        let states = given.iter().map(|key| (*key, "state".to_owned()));
        for (key, place) in states
            .chain(inputs)
            .chain(lets)
            .filter(|(key, _)| key.starts_with("temp:") || is_secret(key))
        {
            self.temps.insert(
                key.to_owned(),
                vec![(0, plan::value(self.seed, &place, key))],
            );
        }
        let mut thread = Thread { at: 1 };
        let ended = self.nodes(&flow.body, &flow.name, SESSION, &mut thread)?;
        self.is_whole()?;
        if ended == Ended::Cut {
            return Err("events are missing at the end".to_owned());
        }
        Ok((ended, self.ran))
    }

    /// Checks that all events were expected.
    pub(super) fn is_whole(&self) -> Differs<()> {
        for event in self
            .log
            .events
            .iter()
            .filter(|event| event.author != "user")
        {
            let path = event.path.to_string();
            let read_events = self.read_events.get(&path).copied().unwrap_or_default();
            if let Some(at) = self.log.event(&path, read_events) {
                return Err(format!("event {at} of `{path}` is unexpected"));
            }
        }
        if self.inner.is_empty() {
            Ok(())
        } else {
            Err("a call ran that no reply contains".to_owned())
        }
    }

    /// Reads the next event of a path, if there is one.
    pub(super) fn event(&mut self, path: &str, thread: &mut Thread) -> Differs<Option<usize>> {
        let read_events = self.read_events.entry(path.to_owned()).or_default();
        let Some(at) = self.log.event(path, *read_events) else {
            return Ok(None);
        };
        if at < thread.at {
            return Err(format!(
                "event {at} of `{path}` comes too early, before {}",
                thread.at
            ));
        }
        *read_events += 1;
        thread.at = at + 1;
        Ok(Some(at))
    }

    /// Returns the next event of a path without reading it.
    pub(super) fn peek(&self, path: &str) -> Option<&'f Event> {
        let read_events = self.read_events.get(path).copied().unwrap_or_default();
        let log: &'f Log = self.log;
        log.event(path, read_events).map(|at| &*log.events[at])
    }

    /// Returns the values of all keys at a place of the log.
    pub(super) fn state(&self, at: usize) -> State {
        let mut state = self.log.states[at].clone();
        for (key, writes) in &self.temps {
            // The log shows whether there is a secret, which a new round of an `each` also removes.
            if key.starts_with("temp:") || state.contains_key(key) {
                let last = writes
                    .iter()
                    .filter(|(write, _)| *write < at)
                    .max_by_key(|(write, _)| *write);
                state.extend(last.map(|(_, value)| (key.clone(), value.clone())));
            }
        }
        state
    }

    /// Returns the stored key of a name.
    pub(super) fn stored(&mut self, scope: Scope, key: Key, path: &str) -> String {
        let stored = self.storage.stored(scope, key);
        let mut all = String::new();
        for (name, is_element) in &stored.inside {
            all += name;
            if *is_element {
                all += element(path, name);
            }
            all.push('/');
        }
        all + stored.key
    }

    /// Returns the value that an agent reads under a name of its definition.
    pub(super) fn found(
        &mut self,
        read: &Read,
        scope: Scope,
        path: &str,
        state: &State,
    ) -> Option<Value> {
        state
            .get(&self.source(read.own(), read.key, scope, path))
            .cloned()
    }

    /// Returns the stored key to which a name of a definition is written.
    pub(super) fn target(&mut self, own: Key, scope: Scope, path: &str) -> String {
        let written = self
            .writes
            .iter()
            .find(|(name, _)| *name == own)
            .map_or(own, |(_, key)| key);
        self.stored(scope, written, path)
    }

    /// Returns the stored key from which a name of a definition is read: the input key until the
    /// first write, then the output key.
    pub(super) fn source(&mut self, own: Key, key: Key, scope: Scope, path: &str) -> String {
        let written = self.target(own, scope, path);
        if self.written.contains(&written) {
            written
        } else {
            self.stored(scope, key, path)
        }
    }

    /// Checks the writes of an event, and keeps keys without events.
    pub(super) fn wrote(&mut self, at: usize, mut expected: State) -> Differs<()> {
        let event = &self.log.events[at];
        let mut wrote = delta(event);
        for (key, value) in expected.extract_if(.., |key, _| key.starts_with("temp:")) {
            self.temps.entry(key).or_default().push((at, value));
        }
        for (key, value) in expected.extract_if(.., |key, _| {
            is_secret(key.rsplit('/').next().unwrap_or_default())
        }) {
            let is_kept = wrote
                .remove(&key)
                .is_some_and(|written| written.is_null() == value.is_null());
            if !is_kept || event.text().contains("$kept") {
                return Err(format!(
                    "event {at} of `{}` does not keep `{key}`",
                    event.path
                ));
            }
            self.written.insert(key.clone());
            self.temps.entry(key).or_default().push((at, value));
        }
        self.written.extend(wrote.keys().cloned());
        if wrote == expected {
            return Ok(());
        }
        Err(format!(
            "event {at} of `{}` writes {wrote:?}, not {expected:?}",
            event.path
        ))
    }

    pub(super) fn nodes(
        &mut self,
        nodes: &'f [Node],
        path: &str,
        scope: Scope,
        thread: &mut Thread,
    ) -> Differs<Ended<'f>> {
        for node in nodes {
            let ended = self.node(node, path, scope, thread)?;
            if ended != Ended::Through {
                return Ok(ended);
            }
        }
        Ok(Ended::Through)
    }

    pub(super) fn node(
        &mut self,
        node: &'f Node,
        path: &str,
        scope: Scope,
        thread: &mut Thread,
    ) -> Differs<Ended<'f>> {
        match node {
            Node::Run(agent) => {
                self.written.clear();
                self.writes = agent
                    .writes
                    .iter()
                    .map(|write| (write.own(), write.key))
                    .collect();
                self.agent(agent, &format!("{path}/{}", agent.name), scope, thread)
            }
            Node::Nested(nested) => {
                let path = format!("{path}/{}", nested.name);
                let inputs = nested.flow.inputs.iter();
                let from = inputs
                    .map(|(own, _)| self.stored(scope, nested.read(own), &path))
                    .collect();
                self.nested(nested, &path, scope, from, thread)
            }
            Node::Break(target) => {
                self.ran.insert(place(node));
                Ok(Ended::Exit(target.as_deref()))
            }
            Node::Nothing => Ok(Ended::Through),
            Node::Block(block) => {
                self.ran.insert(place(block));
                let outer = self.handled;
                self.handled |= plan::takes_errors(block);
                let ended = self.block(block, &format!("{path}/{}", block.name), scope, thread);
                self.handled = outer;
                ended
            }
        }
    }

    /// Interprets an agent at its path.
    pub(super) fn agent(
        &mut self,
        agent: &'f Agent,
        path: &str,
        scope: Scope,
        thread: &mut Thread,
    ) -> Differs<Ended<'f>> {
        if agent.model {
            self.desk(agent, path, scope, thread)
        } else if agent.patience.is_some() {
            self.person(agent, path, scope, thread)
        } else {
            self.function(agent, path, scope, thread)
        }
    }

    fn function(
        &mut self,
        agent: &'f Agent,
        path: &str,
        scope: Scope,
        thread: &mut Thread,
    ) -> Differs<Ended<'f>> {
        let turn = Turn::plan(self.seed, path, agent, self.handled);
        if turn.fails == Some(Fails::First) {
            return Ok(Ended::Failed);
        }
        let Some(at) = self.event(path, thread)? else {
            return Ok(Ended::Cut);
        };
        self.ran.insert(place(agent));
        let (state, mut saw) = (self.state(at), Map::new());
        for read in &agent.reads {
            let found = self.found(read, scope, path, &state);
            saw.insert(read.own().to_owned(), found.unwrap_or_default());
        }
        let said = self.log.events[at].text();
        let saw = Value::from(saw).to_string();
        if said != saw {
            return Err(format!("`{path}` has seen {said}, not {saw}"));
        }
        let mut expected = State::new();
        for (write, value) in plan::writes(self.seed, path, &agent.writes).filter(|_| !turn.early) {
            expected.insert(self.stored(scope, write.key, path), value);
        }
        self.wrote(at, expected)?;
        Ok(match turn.leaves {
            _ if turn.fails == Some(Fails::Last) => Ended::Failed,
            None => Ended::Through,
            Some(None) => Ended::Exit(None),
            Some(Some(name)) => Ended::Exit(
                agent
                    .leaves
                    .iter()
                    .find(|left| **left == name)
                    .map(String::as_str),
            ),
        })
    }

    /// Interprets an `await`.
    fn person(
        &mut self,
        agent: &'f Agent,
        path: &str,
        scope: Scope,
        thread: &mut Thread,
    ) -> Differs<Ended<'f>> {
        let Some(at) = self.event(path, thread)? else {
            return Ok(Ended::Cut);
        };
        self.ran.insert(place(agent));
        let state = self.state(at);
        let question = self.prompt_text(agent, path, scope, &state);
        let value = if plan::expires(self.seed, path, agent) {
            super::actor::otherwise(agent)
        } else {
            plan::answer(self.seed, path, &question, agent.writes[0].key)
        };
        let key = self.stored(scope, agent.writes[0].key, path);
        self.wrote(at, State::from([(key, value)]))?;
        Ok(Ended::Through)
    }

    /// Returns a prompt with the values of its keys.
    pub(super) fn prompt_text(
        &mut self,
        agent: &Agent,
        path: &str,
        scope: Scope,
        state: &State,
    ) -> String {
        let mut all = String::new();
        for read in agent.reads.iter().filter(|read| read.prompt) {
            let found = match self.found(read, scope, path, state) {
                None | Some(Value::Null) => String::new(),
                Some(Value::String(text)) => text,
                Some(value) => value.to_string(),
            };
            all += &format!("{}=<{found}>;", read.own());
        }
        all
    }

    /// Interprets a nested workflow, with the sources of its inputs.
    pub(super) fn nested(
        &mut self,
        nested: &'f Nested,
        path: &str,
        scope: Scope,
        from: Vec<String>,
        thread: &mut Thread,
    ) -> Differs<Ended<'f>> {
        self.ran.insert(place(nested));
        let flow = &*nested.flow;
        let inside = self.storage.nested(nested, scope);
        let state = self.state(thread.at);
        let mut expected = State::new();
        for ((own, default), from) in flow.inputs.iter().zip(from) {
            let to = self.stored(inside, own, path);
            match state.get(&from).cloned() {
                Some(_) if from == to => {}
                Some(value) => drop(expected.insert(to, value)),
                None if *default => {
                    let place = format!("{} default", flow.name);
                    expected.insert(to, plan::value(self.seed, &place, own));
                }
                None => return Err(format!("`{from}` has no value for `{path}`")),
            }
        }
        for key in &flow.lets {
            let place = format!("{} let", flow.name);
            expected.insert(
                self.stored(inside, key, path),
                plan::value(self.seed, &place, key),
            );
        }
        if !expected.is_empty() {
            let Some(at) = self.event(path, thread)? else {
                return Ok(Ended::Cut);
            };
            self.wrote(at, expected)?;
        }
        let ended = self.nodes(&flow.body, path, inside, thread)?;
        if ended != Ended::Through {
            return Ok(ended);
        }
        let (state, mut expected) = (self.state(thread.at), State::new());
        for own in flow.outputs.iter().filter(|own| flow.states.contains(own)) {
            let from = self.stored(inside, own, path);
            let to = self.stored(scope, nested.written(own), path);
            if from != to
                && let Some(value) = state.get(&from)
            {
                expected.insert(to, value.clone());
            }
        }
        if !expected.is_empty() {
            let Some(at) = self.event(path, thread)? else {
                return Ok(Ended::Cut);
            };
            self.wrote(at, expected)?;
        }
        Ok(Ended::Through)
    }
}

/// Returns the index of the `each` element in a path, as `[3]`.
fn element<'p>(path: &'p str, each: &str) -> &'p str {
    let found = path.split('/').rev().find(|name| {
        name.strip_prefix(each)
            .is_some_and(|rest| rest.starts_with('['))
    });
    found.map_or("", |name| &name[each.len()..])
}
