//! The turns of agents.

use super::world::{Cell, Ended, Message, World, cleaned_by_type};
use crate::reference::Scope;
use crate::tree::*;
use adk_build::__private::check::SEES_ALL;
use adk_build::spec::{Conversation, Labels};

/// The end of the turn of an agent with a model.
enum Said {
    Done(Ended),
    HandedOver,
}

impl<'f> World<'f> {
    pub(super) fn agent(&mut self, agent: &'f Agent, scope: Scope) -> Ended {
        if agent.patience.is_some() {
            self.person(agent, scope)
        } else if agent.model {
            self.team(agent, scope)
        } else {
            self.function(agent, scope)
        }
    }

    /// Runs an `await`. A person who answers agrees to the shown text.
    fn person(&mut self, agent: &Agent, scope: Scope) -> Ended {
        let shown: Vec<_> = agent
            .reads
            .iter()
            .map(|read| self.source(scope, read.own(), read.key))
            .collect();
        let expires = self.random.one_in(3);
        let write = agent.writes[0];
        match agent.patience {
            Some(Patience::Fails) if expires => return Ended::Failed(0),
            Some(Patience::Default) if expires => {
                let cell = self.set(scope, write.key, 0);
                self.cells[cell].default = Some(agent.marks.default);
            }
            _ => {
                for cell in shown {
                    self.cells[cell].marks = 0;
                }
                self.set(scope, write.key, 0);
            }
        }
        Ended::Through
    }

    fn function(&mut self, agent: &'f Agent, scope: Scope) -> Ended {
        let mut context = 0;
        for read in &agent.reads {
            context |= self.read(scope, read);
        }
        if agent.sees_all() {
            context |= self.everything();
        }
        let labels = self.labels(agent.marks.labels);
        self.sink(agent, "", labels, context);
        let brought = context | self.brought(labels);
        if self.may_fail() {
            return Ended::Failed(brought);
        }
        let result = if labels.has(Labels::TRUSTS) {
            0
        } else {
            brought
        };
        let mut exits: Vec<_> = agent.leaves.iter().map(|name| Some(&**name)).collect();
        exits.extend(agent.exit.then_some(None));
        let leaves = !exits.is_empty() && self.random.one_in(3);
        if !leaves || agent.writes_first || self.random.one_in(2) {
            for write in &agent.writes {
                if !write.perhaps || !self.random.one_in(3) {
                    self.set(scope, write.key, result);
                }
            }
        }
        if agent.sees_all() {
            self.says(&agent.name, result);
            if self.may_fail() {
                return Ended::Failed(brought);
            }
        }
        if leaves {
            let target = *self.random.choose(&exits);
            return self.exit(target);
        }
        Ended::Through
    }

    /// Runs an agent with a model, and the agents that it hands over to.
    fn team(&mut self, agent: &'f Agent, scope: Scope) -> Ended {
        let mut team = Vec::new();
        members(agent, &mut team);
        let last = self.last.get(&agent.name);
        let begins = last.and_then(|name| team.iter().position(|member| member.name == *name));
        let mut at = begins.filter(|_| self.random.one_in(2)).unwrap_or(0);
        for turns in 0.. {
            self.last.insert(agent.name.clone(), team[at].name.clone());
            match self.turn(team[at], team.len() > 1 && turns < 3, scope) {
                Said::Done(ended) => return ended,
                Said::HandedOver => {
                    let others: Vec<_> = (0..team.len()).filter(|other| *other != at).collect();
                    at = *self.random.choose(&others);
                }
            }
        }
        Ended::Cut
    }

    /// Returns the marks of the messages that an agent sees.
    fn visible(&self, agent: &Agent, begin: usize) -> u8 {
        let all = |messages: &[Message]| {
            let marks = messages.iter().map(|message| message.marks);
            marks.fold(0, |all, marks| all | marks)
        };
        match agent.marks.shows {
            Conversation::Hidden => all(&self.talk[begin..]),
            Conversation::CurrentTurn => {
                let other = |message: &Message| message.author != agent.name;
                all(&self.talk[self.talk.iter().rposition(other).unwrap_or(0)..])
            }
            _ => all(&self.talk),
        }
    }

    fn turn(&mut self, agent: &'f Agent, may_hand_over: bool, scope: Scope) -> Said {
        let (begin, mut leaves) = (self.talk.len(), false);
        for round in 0.. {
            let mut context = self.visible(agent, begin);
            for read in agent.reads.iter().filter(|read| read.prompt) {
                context |= self.read(scope, read);
            }
            if agent.marks.labels.has(SEES_ALL) {
                context |= self.everything();
            }
            self.sinks(agent, context, scope);
            if self.may_fail() {
                return Said::Done(Ended::Failed(context));
            }
            if may_hand_over && round < 3 && self.random.one_in(2) {
                self.says(&agent.name, context);
                self.says(&agent.name, 0);
                return Said::HandedOver;
            }
            if round == 3 || self.random.one_in(3) {
                let mut says = context;
                if let Some(write) = agent.writes.first() {
                    says = cleaned_by_type(write.key, context);
                    self.set(scope, write.key, context);
                }
                self.says(&agent.name, says);
                let ended = if leaves {
                    self.exit(None)
                } else {
                    Ended::Through
                };
                return Said::Done(ended);
            }
            let mut results = 0;
            let mut has_called = false;
            for call in calls(agent) {
                if self.random.one_in(4) {
                    continue;
                }
                has_called = true;
                if let Call::Leave = call {
                    leaves = true;
                }
                match self.call(agent, call, context, scope) {
                    Ok(marks) => results |= marks,
                    Err(()) => return Said::Done(Ended::Cut),
                }
            }
            if has_called {
                self.says(&agent.name, context);
                self.says(&agent.name, results);
                self.artifacts |= context | results;
            }
        }
        Said::Done(Ended::Cut)
    }

    /// Records each tool that the model could call now.
    fn sinks(&mut self, agent: &Agent, context: u8, scope: Scope) {
        for tool in &agent.marks.tools {
            if self.is_free(tool) {
                self.sink(agent, &tool.name, tool.labels, context);
            }
        }
        if !agent.tools.is_empty() && self.is_free(&agent.marks.tool) {
            let context = context | self.read_by_tool(agent, scope);
            self.sink(agent, "tool", agent.marks.tool.labels, context);
        }
        if agent.toolset {
            self.sink(agent, "look", self.toolset_labels(agent), context);
        }
    }

    /// Returns the labels of a toolset, whose tools only the run knows.
    fn toolset_labels(&self, agent: &Agent) -> Labels {
        let labels = agent.marks.labels;
        if labels.has(Labels::LOCAL) {
            return labels;
        }
        // Without `local`, at least one toolset has no labels.
        labels.and(self.labels(Labels::NONE))
    }

    fn read_by_tool(&mut self, agent: &Agent, scope: Scope) -> u8 {
        let reads = agent.reads.iter().filter(|read| read.tool);
        reads.fold(0, |all, read| all | self.read(scope, read))
    }

    /// Runs a call and returns the marks of its result.
    fn call(
        &mut self,
        agent: &'f Agent,
        call: Call<'f>,
        context: u8,
        scope: Scope,
    ) -> Result<u8, ()> {
        match call {
            Call::Leave => Ok(0),
            Call::Look => Ok(self.brought(self.toolset_labels(agent).and(Labels::LOCAL))),
            Call::Plain(tool) => {
                let shows_artifacts = tool.labels.has(SEES_ALL);
                let artifacts = if shows_artifacts { self.artifacts } else { 0 };
                Ok(self.brought(tool.labels) | artifacts)
            }
            Call::Tool => {
                let result =
                    self.read_by_tool(agent, scope) | self.brought(agent.marks.tool.labels);
                for write in &agent.tools {
                    if !self.random.one_in(3) {
                        self.set(scope, write.key, context | result);
                    }
                }
                Ok(result)
            }
            Call::Helper(helper) => self.inside(context, |world| {
                let mut ended = world.agent(helper, scope);
                let is_closed = |write: &Write| type_of(write.key) == "bool" && !write.perhaps;
                let may_end_otherwise =
                    helper.exit || !helper.leaves.is_empty() || !helper.targets.is_empty();
                let answers = !may_end_otherwise
                    && !helper.writes.is_empty()
                    && helper.writes.iter().all(is_closed);
                // The error of an agent with a closed answer quotes nothing.
                if matches!(ended, Ended::Failed(_)) && answers {
                    ended = Ended::Failed(0);
                }
                (
                    ended,
                    helper
                        .writes
                        .iter()
                        .map(|write| (scope, write.key))
                        .collect(),
                )
            }),
            Call::Flow(nested) => self.inside(context, |world| {
                let mut ended = world.nested(nested, scope, Some(context));
                // Nor does that of a workflow, if its outputs are closed and one of them is new.
                if matches!(ended, Ended::Failed(_)) && answers_closed(&nested.flow) {
                    ended = Ended::Failed(0);
                }
                let outputs = nested.flow.outputs.iter();
                (
                    ended,
                    outputs.map(|key| (scope, nested.written(key))).collect(),
                )
            }),
        }
    }

    /// Runs an agent or a workflow that is a tool. It sees only its request, and writes of a failed
    /// call do not count.
    fn inside(
        &mut self,
        request: u8,
        run: impl FnOnce(&mut Self) -> (Ended, Vec<(Scope, Key)>),
    ) -> Result<u8, ()> {
        let message = Message {
            author: "user".to_owned(),
            marks: request,
        };
        let talk = std::mem::replace(&mut self.talk, vec![message]);
        let loops = std::mem::take(&mut self.loops);
        let (writes, before, cells) = (
            self.writes.clone(),
            self.written.clone(),
            self.cells.clone(),
        );
        self.depth += 1;
        self.written.clear();
        let (ended, keys) = run(self);
        self.depth -= 1;
        let mut value = None;
        for (scope, key) in keys {
            let cell = self.cell(scope, key);
            if self.written.contains(&cell) {
                value = Some(value.unwrap_or(0) | self.cells[cell].marks);
            }
        }
        let said = std::mem::replace(&mut self.talk, talk);
        let last = said.iter().rfind(|message| message.author != "user");
        self.loops = loops;
        self.writes = writes;
        self.written.extend(before);
        match ended {
            Ended::Failed(error) => {
                let count = self.cells.len();
                self.cells = cells;
                self.cells.resize(count, Cell::default());
                Ok(error)
            }
            Ended::Cut => Err(()),
            _ => Ok(value.unwrap_or_else(|| last.map_or(0, |message| message.marks))),
        }
    }
}

fn members<'f>(agent: &'f Agent, all: &mut Vec<&'f Agent>) {
    all.push(agent);
    for target in &agent.targets {
        members(target, all);
    }
}

/// Whether a workflow answers with values without text, and never only passes on what it got.
fn answers_closed(flow: &Flow) -> bool {
    let has_value = |key: &Key| {
        has_prefix(key)
            || flow.states.contains(key)
            || flow.inputs.iter().any(|(own, _)| own == key)
    };
    flow.outputs.iter().all(|key| type_of(key) == "bool")
        && flow.outputs.iter().any(|key| !has_value(key))
}

#[derive(Clone, Copy)]
enum Call<'f> {
    Leave,
    Look,
    Plain(&'f MarkedTool),
    Tool,
    Helper(&'f Agent),
    Flow(&'f Nested),
}

fn calls(agent: &Agent) -> Vec<Call<'_>> {
    let mut all: Vec<_> = agent.marks.tools.iter().map(Call::Plain).collect();
    all.extend((!agent.tools.is_empty()).then_some(Call::Tool));
    all.extend(agent.toolset.then_some(Call::Look));
    all.extend(agent.exit.then_some(Call::Leave));
    all.extend(agent.helpers.iter().map(Call::Helper));
    all.extend(agent.flows.iter().map(Call::Flow));
    all
}
