//! The turn of an agent that calls a model: its calls, their effects, and its handovers.

use super::construct::{place, tool_place, toolset_place};
use super::interpret::{Differs, Ended, Interpreter, Thread};
use super::log::{Inner, Log};
use super::plan;
use crate::discards::State;
use crate::reference::Scope;
use crate::tree::*;
use adk_build::{FunctionCall, FunctionResponse};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// An agent in a group of agents that hand over to each other.
struct Member<'f> {
    agent: &'f Agent,
    path: String,
    turns: u32,
}

fn members<'f>(agent: &'f Agent, path: &str, all: &mut Vec<Member<'f>>) {
    all.push(Member {
        agent,
        path: path.to_owned(),
        turns: 0,
    });
    for target in &agent.targets {
        members(target, &format!("{path}/{}", target.name), all);
    }
}

/// The end of a turn.
enum Said<'f> {
    Done(Ended<'f>),
    HandedTo(String, Ended<'f>),
}

/// The stored keys that a call may read and write.
#[derive(Default)]
struct Touches {
    reads: BTreeSet<String>,
    writes: BTreeSet<String>,
}

impl<'f> Interpreter<'f> {
    pub(super) fn desk(
        &mut self,
        agent: &'f Agent,
        path: &str,
        scope: Scope,
        thread: &mut Thread,
    ) -> Differs<Ended<'f>> {
        let mut team = Vec::new();
        members(agent, path, &mut team);
        let (mut at, mut left) = (self.begins(&team, path), Ended::Through);
        loop {
            team[at].turns += 1;
            let (member, turns) = (team[at].agent, team[at].turns);
            let here = if turns > 1 {
                format!("{}@{turns}", team[at].path)
            } else {
                team[at].path.clone()
            };
            let ended = match self.turn(member, &here, scope, thread)? {
                Said::Done(Ended::Through) => return Ok(left),
                Said::Done(ended) => return Ok(ended),
                Said::HandedTo(name, ended) => {
                    at = team
                        .iter()
                        .position(|member| member.agent.name == name)
                        .ok_or_else(|| format!("`{here}` hands over to `{name}`"))?;
                    ended
                }
            };
            if ended != Ended::Through {
                left = ended;
            }
        }
    }

    /// Returns the member that begins: the one that answered last at this place in an earlier run,
    /// or to which that one handed over. Later rounds and elements begin with the first member.
    fn begins(&self, team: &[Member<'f>], path: &str) -> usize {
        let is_later =
            |step: &str| step.contains('[') || step.contains('#') && !step.ends_with("#1");
        if path.split('/').any(is_later) {
            return 0;
        }
        let place = |path: &str| -> String {
            let steps = path.split('/');
            let names = steps.map(|step| step.split(['#', '@']).next().unwrap_or_default());
            names.collect::<Vec<_>>().join("/")
        };
        let replies = self.log.earlier.iter().rev().filter(|event| {
            let details = event.details.as_deref();
            let has_failed = details.is_some_and(|details| details.error_code.is_some());
            event.author != "user" && !has_failed
        });
        let mut found = replies.filter_map(|event| {
            let here = place(&event.path.to_string());
            let member = team.iter().find(|member| place(&member.path) == here)?;
            let next = event.actions.transfer_to_agent.as_deref();
            let next = next.and_then(|name| name.rsplit("::").next());
            let name = next.unwrap_or(&member.agent.name);
            team.iter().position(|member| member.agent.name == *name)
        });
        found.next().unwrap_or_default()
    }

    /// Interprets one turn of a member.
    fn turn(
        &mut self,
        agent: &'f Agent,
        path: &str,
        scope: Scope,
        thread: &mut Thread,
    ) -> Differs<Said<'f>> {
        let mut left = Ended::Through;
        loop {
            let Some(at) = self.event(path, thread)? else {
                return Ok(Said::Done(Ended::Cut));
            };
            self.ran.insert(place(agent));
            let (log, state) = (self.log, self.state(at));
            let prompt = self.prompt_text(agent, path, scope, &state);
            let calls: Vec<_> = log.events[at].function_calls().collect();
            if calls.is_empty() {
                let key = agent.writes.first();
                let (text, value) =
                    plan::last_words(self.seed, path, &prompt, key.map(|write| write.key));
                if log.events[at].text() != text {
                    return Err(format!(
                        "`{path}` says {:?}, not {text:?} of {prompt:?}",
                        log.events[at].text()
                    ));
                }
                let mut expected = State::new();
                if let Some(write) = key {
                    expected.insert(self.stored(scope, write.key, path), value);
                }
                self.wrote(at, expected)?;
                return Ok(Said::Done(left));
            }
            self.wrote(at, State::new())?;
            let has_prompt_id = |call: &&FunctionCall| {
                call.args
                    .get("seen")
                    .is_none_or(|id| *id == plan::prompt_id(&prompt))
            };
            if !calls.iter().all(has_prompt_id) {
                return Err(format!("the model of `{path}` did not receive {prompt:?}"));
            }
            let answered = self.event(path, thread)?;
            let Some(answer) = answered else {
                // All calls are cancelled as well.
                for call in calls {
                    self.inner.next(&format!("{path}/{}", call.name));
                }
                return Ok(Said::Done(Ended::Cut));
            };
            if let [call] = &calls[..]
                && let Some(Value::String(name)) = call.args.get("agent_name")
            {
                self.wrote(answer, State::new())?;
                // Inside an instance, all names begin with the name of the instance.
                let name = name.rsplit("::").next().unwrap_or_default().to_owned();
                return Ok(Said::HandedTo(name, left));
            }
            self.calls(agent, &calls, path, scope, answer)?;
            if calls.iter().any(|call| call.name == "leave") {
                left = Ended::Exit(None);
            }
        }
    }

    /// Interprets the calls of a reply, guided by the event with their results.
    fn calls(
        &mut self,
        agent: &'f Agent,
        calls: &[&FunctionCall],
        path: &str,
        scope: Scope,
        at: usize,
    ) -> Differs<()> {
        let log = self.log;
        let results: Vec<_> = log.events[at].function_responses().collect();
        if results.len() != calls.len() {
            return Err(format!(
                "`{path}` has {} results of {} calls",
                results.len(),
                calls.len()
            ));
        }
        let state = self.state(at);
        let touches: Vec<_> = calls
            .iter()
            .map(|call| self.touches_of(agent, call, path, scope))
            .collect();
        // Calls that both read and write a key write it one after the other.
        let both = touches
            .iter()
            .flat_map(|touched| touched.writes.intersection(&touched.reads));
        let both: BTreeSet<_> = both.cloned().collect();
        let mut all = State::new();
        for ((call, result), touched) in calls.iter().zip(results).zip(&touches) {
            let mut view = state.clone();
            let seen = all
                .iter()
                .filter(|(key, _)| both.contains(*key) && touched.writes.contains(*key));
            let seen: State = seen
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect();
            let written = self.written.clone();
            self.written.extend(seen.keys().cloned());
            view.extend(seen.clone());
            let delta = self.call(agent, call, result, path, scope, &view)?;
            self.written = written;
            for (key, value) in delta {
                let value = match all.get(&key).filter(|_| !seen.contains_key(&key)) {
                    Some(earlier) => {
                        let write = agent
                            .tools
                            .iter()
                            .find(|write| self.stored(scope, write.key, path) == key);
                        let before = match write.filter(|_| call.name == "tool") {
                            Some(write) => {
                                let read =
                                    agent.reads.iter().find(|read| read.own() == write.own());
                                let read = read.map_or(write.own(), |read| read.key);
                                self.source(write.own(), read, scope, path)
                            }
                            None => key.clone(),
                        };
                        joined(state.get(&before), earlier, value)
                    }
                    None => value,
                };
                all.insert(key, value);
            }
        }
        self.wrote(at, all)
    }

    /// Interprets the writes of one call.
    fn call(
        &mut self,
        agent: &'f Agent,
        call: &FunctionCall,
        result: &FunctionResponse,
        path: &str,
        scope: Scope,
        view: &State,
    ) -> Differs<State> {
        let number = call
            .args
            .get("request")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let mut delta = State::new();
        match call.name.as_str() {
            "tool" => drop(self.ran.insert(tool_place(agent))),
            "look" => drop(self.ran.insert(toolset_place(agent))),
            _ => {}
        }
        match call.name.as_str() {
            "leave" => {}
            "look" if path.contains('[') => {}
            "look" => drop(delta.insert(format!("user:{}", agent.name), number.into())),
            "tool" => {
                let mut saw = Map::new();
                for read in agent.reads.iter().filter(|read| read.tool) {
                    let found = self.found(read, scope, path, view);
                    saw.insert(read.own().to_owned(), found.unwrap_or_default());
                }
                for (write, value) in plan::writes(self.seed, number, &agent.tools) {
                    let value = match saw.get(write.own()) {
                        Some(earlier) => plan::next_value(number, write.key, Some(earlier)),
                        None => value,
                    };
                    delta.insert(self.stored(scope, write.key, path), value);
                }
                let saw: Map<_, _> = saw
                    .into_iter()
                    .map(|(key, value)| (key, plan::to_result(&value)))
                    .collect();
                let reported = result.response.get("saw");
                if reported != Some(&saw.clone().into()) {
                    return Err(format!(
                        "the tool of `{path}` has seen {reported:?}, not {saw:?}"
                    ));
                }
            }
            _ => return self.inside(agent, call, result, path, scope, view),
        }
        Ok(delta)
    }

    /// Interprets the run of an agent or a workflow that is a tool.
    fn inside(
        &mut self,
        agent: &'f Agent,
        call: &FunctionCall,
        result: &FunctionResponse,
        path: &str,
        scope: Scope,
        view: &State,
    ) -> Differs<State> {
        let name = call.name.as_str();
        let request = call
            .args
            .get("request")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let here = format!("{path}/{name}");
        let events = self
            .inner
            .next(&here)
            .ok_or_else(|| format!("`{here}` has not run"))?;
        let mut start = view.clone();
        let flow = agent.flows.iter().find(|nested| nested.name == name);
        // The request is written to the key of the input, so it is also visible where an instance
        // reads that key.
        let request = match flow.filter(|nested| nested.is_requested()) {
            Some(nested) => {
                let key = self.target(nested.flow.inputs[0].0, scope, &here);
                start.insert(key.clone(), request.into());
                Some(key)
            }
            None => None,
        };
        let (inner, events) = Inner::split(&events, &self.names.tools, here.split('/').count());
        let log = Log::new(events, start, &self.names.workflows);
        let storage = std::mem::replace(&mut self.storage, crate::reference::Storage::new());
        let mut run = Interpreter {
            seed: self.seed,
            log: &log,
            storage,
            choices: self.choices,
            inner,
            names: self.names,
            ran: std::mem::take(&mut self.ran),
            read_events: Default::default(),
            temps: BTreeMap::new(),
            handled: true,
            written: self.written.clone(),
            writes: self.writes.clone(),
        };
        let mut thread = Thread { at: 0 };
        let ended = match flow {
            Some(nested) => {
                run.written.extend(request);
                let inputs = nested.flow.inputs.iter();
                let from = inputs
                    .map(|(own, _)| run.source(own, nested.read(own), scope, &here))
                    .collect();
                run.nested(nested, &here, scope, from, &mut thread)
            }
            None => {
                let helper = agent.helpers.iter().find(|helper| helper.name == name);
                let helper = helper.ok_or_else(|| format!("`{path}` has no tool `{name}`"))?;
                run.agent(helper, &here, scope, &mut thread)
            }
        };
        let ended = ended.map(|ended| {
            matches!(ended, Ended::Through | Ended::Exit(_))
                .then_some(())
                .ok_or(ended == Ended::Cut)
        });
        let is_whole = run.is_whole();
        let temps = std::mem::take(&mut run.temps);
        (self.storage, self.ran) = (run.storage, run.ran);
        match ended.map_err(|why| format!("in `{here}`: {why}"))? {
            Ok(()) => is_whole.map_err(|why| format!("in `{here}`: {why}"))?,
            Err(true) => return Err(format!("`{here}` has no end")),
            // Writes of a failed call do not count.
            Err(false) => {
                return match result.response.get("error") {
                    Some(_) => Ok(State::new()),
                    None => Err(format!(
                        "`{here}` has failed, and says {:?}",
                        result.response
                    )),
                };
            }
        }
        if let Some(error) = result.response.get("error") {
            return Err(format!("`{here}` says {error}"));
        }
        Ok(written_by_run(&log, temps))
    }

    fn touches_of(
        &mut self,
        agent: &Agent,
        call: &FunctionCall,
        path: &str,
        scope: Scope,
    ) -> Touches {
        let mut touches = Touches::default();
        match call.name.as_str() {
            "leave" | "look" => {}
            "tool" => self.tool_touches(agent, path, scope, &mut touches),
            name => {
                if let Some(helper) = agent.helpers.iter().find(|helper| helper.name == name) {
                    self.agent_touches(helper, path, scope, &mut touches);
                }
                if let Some(nested) = agent.flows.iter().find(|nested| nested.name == name) {
                    self.flow_touches(nested, path, scope, &mut touches);
                }
            }
        }
        touches
    }

    fn read_touch(&mut self, read: &Read, path: &str, scope: Scope, touches: &mut Touches) {
        let own = read.own();
        let written = self
            .writes
            .iter()
            .find(|(name, _)| *name == own)
            .map_or(own, |(_, key)| key);
        touches.reads.insert(self.stored(scope, read.key, path));
        touches.reads.insert(self.stored(scope, written, path));
    }

    fn tool_touches(&mut self, agent: &Agent, path: &str, scope: Scope, touches: &mut Touches) {
        for read in agent.reads.iter().filter(|read| read.tool) {
            self.read_touch(read, path, scope, touches);
        }
        for write in &agent.tools {
            touches.writes.insert(self.stored(scope, write.key, path));
        }
    }

    fn agent_touches(&mut self, agent: &Agent, path: &str, scope: Scope, touches: &mut Touches) {
        for read in &agent.reads {
            self.read_touch(read, path, scope, touches);
        }
        for write in agent.writes.iter().chain(&agent.tools) {
            touches.writes.insert(self.stored(scope, write.key, path));
        }
        for below in agent.helpers.iter().chain(&agent.targets) {
            self.agent_touches(below, path, scope, touches);
        }
        for nested in &agent.flows {
            self.flow_touches(nested, path, scope, touches);
        }
    }

    fn flow_touches(&mut self, nested: &Nested, path: &str, scope: Scope, touches: &mut Touches) {
        if !nested.is_requested() {
            for (own, _) in &nested.flow.inputs {
                touches
                    .reads
                    .insert(self.stored(scope, nested.read(own), path));
            }
        }
        for own in &nested.flow.outputs {
            touches
                .writes
                .insert(self.stored(scope, nested.written(own), path));
        }
        session_touches(nested, touches);
    }
}

/// Adds what a workflow does to keys of the session. Its inputs hold the values of the workflow
/// around unless they have a default or another name, or are outputs, too.
fn session_touches(nested: &Nested, touches: &mut Touches) {
    let flow = &*nested.flow;
    let is_session = |key: &Key| has_prefix(key) || flow.states.contains(key);
    touches
        .reads
        .extend(flow.states.iter().map(|key| (*key).to_owned()));
    let sets = |(key, default): &&(Key, bool)| {
        *default || nested.read(key) != *key || flow.outputs.contains(key)
    };
    let begins = flow
        .inputs
        .iter()
        .filter(sets)
        .map(|(key, _)| *key)
        .chain(flow.lets.clone());
    touches
        .writes
        .extend(begins.filter(is_session).map(str::to_owned));
    flow.each(&mut |node| match node {
        Node::Run(agent) => {
            for agent in [agent].into_iter().chain(agent.below()) {
                let reads = agent.reads.iter().map(|read| read.key);
                touches
                    .reads
                    .extend(reads.filter(is_session).map(str::to_owned));
                let writes = agent
                    .writes
                    .iter()
                    .chain(&agent.tools)
                    .map(|write| write.key);
                touches
                    .writes
                    .extend(writes.filter(is_session).map(str::to_owned));
            }
            for nested in agent.called() {
                inside(flow, nested, touches);
            }
        }
        Node::Nested(nested) => inside(flow, nested, touches),
        _ => {}
    });
}

fn inside(flow: &Flow, nested: &Nested, touches: &mut Touches) {
    let is_session = |key: &Key| has_prefix(key) || flow.states.contains(key);
    let inputs = nested.flow.inputs.iter().map(|(key, _)| nested.read(key));
    touches
        .reads
        .extend(inputs.filter(is_session).map(str::to_owned));
    let outputs = nested.flow.outputs.iter().map(|key| nested.written(key));
    touches
        .writes
        .extend(outputs.filter(is_session).map(str::to_owned));
    session_touches(nested, touches);
}

/// Merges the writes of two calls that did not see each other: lists that both extended are joined.
fn joined(before: Option<&Value>, earlier: &Value, later: Value) -> Value {
    let empty = Vec::new();
    let before = match before {
        None => &empty,
        Some(Value::Array(before)) => before,
        Some(_) => return later,
    };
    match (earlier, &later) {
        (Value::Array(earlier), Value::Array(more))
            if earlier.starts_with(before) && more.starts_with(before) =>
        {
            earlier
                .iter()
                .chain(&more[before.len()..])
                .cloned()
                .collect()
        }
        _ => later,
    }
}

/// Returns the keys that a nested run has written: those of its events, and the last values of its
/// `temp:` keys.
fn written_by_run(log: &Log, temps: BTreeMap<String, Vec<(usize, Value)>>) -> State {
    let events = log.events.iter();
    let mut delta: State = events.flat_map(|event| super::log::delta(event)).collect();
    let last = |writes: Vec<(usize, Value)>| Some(writes.into_iter().max_by_key(|(at, _)| *at)?.1);
    let temps = temps.into_iter();
    delta.extend(temps.filter_map(|(key, writes)| Some((key, last(writes)?))));
    delta
}
