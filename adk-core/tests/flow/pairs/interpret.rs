//! A recursive interpreter of workflows that reads the log of a run along, and says where the two differ.
//!
//! What agents do depends on the seed and their places. What depends on timing the log tells: how far a branch came that
//! something has cancelled, and which branch has won. Where two branches leave a block and the log does not tell which came
//! first, the interpreter tries both.
//!
//! It knows neither the checker nor the runtime: where a key is stored it asks the reference of [`crate::reference`].

use super::construct::{Place, place};
use super::log::{Inner, Log, delta};
use super::plan::{self, Fails, Turn};
use crate::discards::State;
use crate::reference::{SESSION, Scope, Storage};
use crate::tree::*;
use adk_core::Event;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// How something has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended<'f> {
    Through,
    /// To the innermost loop, or to that of the name.
    Exit(Option<&'f str>),
    Failed,
    /// The log does not go on: something around has cancelled it.
    Cut,
}

/// A place in the log, behind the last event of a branch.
#[derive(Clone, Copy)]
pub struct Thread {
    pub at: usize,
}

/// What the log does not tell.
#[derive(Default)]
pub struct Choices {
    made: Vec<(usize, usize)>,
    at: usize,
    /// Whether a loop without `max` has reached [`plan::ROUNDS`].
    pub is_cut_off: bool,
}

impl Choices {
    pub fn choose(&mut self, of: usize) -> usize {
        if self.at == self.made.len() {
            self.made.push((0, of));
        }
        self.at += 1;
        self.made[self.at - 1].0
    }

    /// Goes to the next of all combinations, if there is one.
    pub fn advance(&mut self) -> bool {
        self.at = 0;
        while let Some((chosen, of)) = self.made.pop() {
            if chosen + 1 < of {
                self.made.push((chosen + 1, of));
                return true;
            }
        }
        false
    }
}

/// The names of what has names of its own inside.
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
    /// What has run.
    pub(super) ran: BTreeSet<Place>,
    /// How many events of each path were read.
    pub(super) taken: HashMap<String, usize>,
    /// The keys that are in no event, with the place in the log of each write.
    pub(super) temps: BTreeMap<String, Vec<(usize, Value)>>,
    /// Something around takes an error.
    pub(super) handled: bool,
    /// What an instance has written, whose keys for reading and writing differ.
    pub(super) written: BTreeSet<String>,
    /// How its definition calls keys that it writes.
    pub(super) writes: Vec<(Key, Key)>,
}

/// Where the log and the interpreter differ.
pub type Differs<T> = Result<T, String>;

impl<'f> Interpreter<'f> {
    pub fn new(seed: u64, log: &'f Log, inner: Inner, names: &'f Names, choices: &'f mut Choices) -> Self {
        Self {
            seed,
            log,
            storage: Storage::new(),
            choices,
            inner,
            names,
            ran: BTreeSet::new(),
            taken: HashMap::new(),
            temps: BTreeMap::new(),
            handled: false,
            written: BTreeSet::new(),
            writes: Vec::new(),
        }
    }

    /// The workflow that runs, with these keys of the session.
    pub fn root(mut self, flow: &'f Flow, given: &BTreeSet<Key>) -> Differs<(Ended<'f>, BTreeSet<Place>)> {
        // Keys that are in no event are there from the start, too.
        let inputs = flow.inputs.iter().map(|(key, _)| (*key, "input".to_owned()));
        let lets = flow.lets.iter().map(|key| (*key, format!("{} let", flow.name)));
        let states = given.iter().map(|key| (*key, "state".to_owned()));
        for (key, place) in
            states.chain(inputs).chain(lets).filter(|(key, _)| key.starts_with("temp:") || is_secret(key))
        {
            self.temps.insert(key.to_owned(), vec![(0, plan::value(self.seed, &place, key))]);
        }
        let mut thread = Thread { at: 1 };
        let ended = self.nodes(&flow.body, &flow.name, SESSION, &mut thread)?;
        self.is_whole()?;
        if ended == Ended::Cut {
            return Err("events are missing at the end".to_owned());
        }
        Ok((ended, self.ran))
    }

    /// Whether all events were expected.
    pub(super) fn is_whole(&self) -> Differs<()> {
        for event in self.log.events.iter().filter(|event| event.author != "user") {
            let path = event.path.to_string();
            let taken = self.taken.get(&path).copied().unwrap_or_default();
            if let Some(at) = self.log.event(&path, taken) {
                return Err(format!("event {at} of `{path}` is unexpected"));
            }
        }
        if self.inner.is_empty() { Ok(()) } else { Err("a call ran that no reply has".to_owned()) }
    }

    /// The next event of a path, if there is one.
    pub(super) fn event(&mut self, path: &str, thread: &mut Thread) -> Differs<Option<usize>> {
        let taken = self.taken.entry(path.to_owned()).or_default();
        let Some(at) = self.log.event(path, *taken) else { return Ok(None) };
        if at < thread.at {
            return Err(format!("event {at} of `{path}` comes too early, before {}", thread.at));
        }
        *taken += 1;
        thread.at = at + 1;
        Ok(Some(at))
    }

    /// The same without taking it.
    pub(super) fn peek(&self, path: &str) -> Option<&'f Event> {
        let taken = self.taken.get(path).copied().unwrap_or_default();
        let log: &'f Log = self.log;
        log.event(path, taken).map(|at| &*log.events[at])
    }

    /// What the keys hold at a place of the log.
    pub(super) fn state(&self, at: usize) -> State {
        let mut state = self.log.states[at].clone();
        for (key, writes) in &self.temps {
            // The log shows whether there is a secret, which a new round of an `each` removes, too.
            if key.starts_with("temp:") || state.contains_key(key) {
                let last = writes.iter().filter(|(write, _)| *write < at).max_by_key(|(write, _)| *write);
                state.extend(last.map(|(_, value)| (key.clone(), value.clone())));
            }
        }
        state
    }

    /// Where a key is stored.
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

    /// What an agent finds under a name of its definition.
    pub(super) fn found(&mut self, read: &Read, scope: Scope, path: &str, state: &State) -> Option<Value> {
        state.get(&self.source(read.own(), read.key, scope, path)).cloned()
    }

    /// Where a name of a definition is written.
    pub(super) fn target(&mut self, own: Key, scope: Scope, path: &str) -> String {
        let written = self.writes.iter().find(|(name, _)| *name == own).map_or(own, |(_, key)| key);
        self.stored(scope, written, path)
    }

    /// Where a name of a definition is read from: one key until it is written, and then the key that it is written to.
    pub(super) fn source(&mut self, own: Key, key: Key, scope: Scope, path: &str) -> String {
        let written = self.target(own, scope, path);
        if self.written.contains(&written) { written } else { self.stored(scope, key, path) }
    }

    /// Checks what an event writes; keys that are in no event are kept.
    pub(super) fn wrote(&mut self, at: usize, mut expected: State) -> Differs<()> {
        let event = &self.log.events[at];
        let mut wrote = delta(event);
        for (key, value) in expected.extract_if(.., |key, _| key.starts_with("temp:")) {
            self.temps.entry(key).or_default().push((at, value));
        }
        for (key, value) in
            expected.extract_if(.., |key, _| is_secret(key.rsplit('/').next().unwrap_or_default()))
        {
            let is_kept = wrote.remove(&key).is_some_and(|told| told.is_null() == value.is_null());
            if !is_kept || event.text().contains("$kept") {
                return Err(format!("event {at} of `{}` does not keep `{key}`", event.path));
            }
            self.written.insert(key.clone());
            self.temps.entry(key).or_default().push((at, value));
        }
        self.written.extend(wrote.keys().cloned());
        if wrote == expected {
            return Ok(());
        }
        Err(format!("event {at} of `{}` writes {wrote:?}, not {expected:?}", event.path))
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
                self.writes = agent.writes.iter().map(|write| (write.own(), write.key)).collect();
                self.agent(agent, &format!("{path}/{}", agent.name), scope, thread)
            }
            Node::Nested(nested) => {
                let path = format!("{path}/{}", nested.name);
                let inputs = nested.flow.inputs.iter();
                let from = inputs.map(|(own, _)| self.stored(scope, nested.read(own), &path)).collect();
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

    /// An agent at its path.
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
        let turn = Turn::of(self.seed, path, agent, self.handled);
        if turn.fails == Some(Fails::First) {
            return Ok(Ended::Failed);
        }
        let Some(at) = self.event(path, thread)? else { return Ok(Ended::Cut) };
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
            Some(Some(name)) => {
                Ended::Exit(agent.leaves.iter().find(|left| **left == name).map(String::as_str))
            }
        })
    }

    /// An `await`.
    fn person(
        &mut self,
        agent: &'f Agent,
        path: &str,
        scope: Scope,
        thread: &mut Thread,
    ) -> Differs<Ended<'f>> {
        let Some(at) = self.event(path, thread)? else { return Ok(Ended::Cut) };
        self.ran.insert(place(agent));
        let state = self.state(at);
        let question = self.told(agent, path, scope, &state);
        let value = if plan::expires(self.seed, path, agent) {
            super::actor::otherwise(agent)
        } else {
            plan::answer(self.seed, path, &question, agent.writes[0].key)
        };
        let key = self.stored(scope, agent.writes[0].key, path);
        self.wrote(at, State::from([(key, value)]))?;
        Ok(Ended::Through)
    }

    /// A prompt with the values of its keys.
    pub(super) fn told(&mut self, agent: &Agent, path: &str, scope: Scope, state: &State) -> String {
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

    /// A workflow inside of another, with where its inputs come from.
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
                None => return Err(format!("nothing is in `{from}` for `{path}`")),
            }
        }
        for key in &flow.lets {
            let place = format!("{} let", flow.name);
            expected.insert(self.stored(inside, key, path), plan::value(self.seed, &place, key));
        }
        if !expected.is_empty() {
            let Some(at) = self.event(path, thread)? else { return Ok(Ended::Cut) };
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
            let Some(at) = self.event(path, thread)? else { return Ok(Ended::Cut) };
            self.wrote(at, expected)?;
        }
        Ok(Ended::Through)
    }
}

/// Which element of an `each` a path goes through: `[3]`.
fn element<'p>(path: &'p str, each: &str) -> &'p str {
    let found =
        path.split('/').rev().find(|name| name.strip_prefix(each).is_some_and(|rest| rest.starts_with('[')));
    found.map_or("", |name| &name[each.len()..])
}
