//! Random agents: the keys that they read and write, and the loops that they may end.

use super::{Grower, Here};
use crate::pairs::construct::Construct;
use crate::tree::*;

impl Grower {
    pub(super) fn agent(&mut self, here: &mut Here) -> Agent {
        self.left = self.left.saturating_sub(1);
        let mut agent = Agent {
            name: self.name("a"),
            ..Agent::default()
        };
        self.reads_and_writes(&mut agent, here);
        agent.exit = if here.loops.is_empty() {
            self.careless() && self.random.one_in(6)
        } else {
            self.may(6, &[Construct::Exit])
        };
        if self.may(14, &[Construct::ExitTo]) && !here.loops.is_empty() {
            agent.leaves.extend(self.target(here, Construct::ExitTo));
        }
        agent.writes_first = self.random.one_in(2);
        self.tools(&mut agent, here, 2);
        agent.model = self.may(6, &[Construct::Model]) && !self.wants(&[Construct::Function]);
        agent.toolset = self.may(24, &[Construct::Toolset]);
        if self.may(20, &[Construct::Transfer]) {
            let mut target = self.below(here, "t", 1);
            target.model = true;
            if self.random.one_in(2) {
                target.writes.clone_from(&agent.writes);
            }
            target.exit = !here.loops.is_empty() && self.may(6, &[Construct::Exit]);
            target.settle_model();
            agent.targets.push(target);
        }
        agent.settle();
        if self.may(6, &[Construct::Instance]) {
            self.rename(&mut agent, here);
            let instance = agent.clone();
            self.rename_below(&mut agent, &instance);
            agent.settle();
        }
        here.known.extend(
            agent
                .writes
                .iter()
                .filter(|write| !write.perhaps)
                .map(|write| write.key),
        );
        agent
    }

    /// Grows an agent below another one, with agents below it.
    fn below(&mut self, here: &Here, kind: &str, deeper: u32) -> Agent {
        let mut agent = Agent {
            name: self.name(kind),
            ..Agent::default()
        };
        self.reads_and_writes(&mut agent, here);
        agent.toolset = self.may(32, &[Construct::Toolset]);
        self.tools(&mut agent, here, deeper);
        if deeper > 0 && self.may(8, &[Construct::Transfer]) {
            let mut target = self.below(here, "t", deeper - 1);
            target.model = true;
            target.settle_model();
            agent.targets.push(target);
        }
        agent.settle_model();
        agent
    }

    /// Adds tools: functions, agents, workflows.
    fn tools(&mut self, agent: &mut Agent, here: &Here, deeper: u32) {
        let tools = [
            Construct::ToolRead,
            Construct::ToolWrite,
            Construct::ToolBoth,
        ];
        if self.may(8, &tools) {
            let key = self.written(here);
            agent.tools.push(Write {
                key,
                own: None,
                perhaps: true,
            });
            let other = self.written(here);
            if self.may(6, &[Construct::ToolWrite]) && other != key {
                agent.tools.push(Write {
                    key: other,
                    own: None,
                    perhaps: true,
                });
            }
            if self.may(2, &[Construct::ToolBoth]) {
                let optional = !here.known.contains(&key);
                agent.reads.retain(|read| read.key != key);
                agent.reads.push(Read {
                    key,
                    own: None,
                    optional,
                    prompt: false,
                    tool: true,
                });
            }
        }
        if deeper > 0 && self.may(16, &[Construct::AgentTool]) {
            let mut helper = self.below(here, "h", deeper - 1);
            helper.exit = self.may(8, &[Construct::Exit]);
            if self.may(8, &[Construct::ExitTo]) && !here.loops.is_empty() && !helper.model {
                helper.leaves.extend(self.target(here, Construct::ExitTo));
            }
            agent.helpers.push(helper);
        }
        if self.may(16, &[Construct::WorkflowTool]) && !self.definitions.is_empty() {
            let flow = self.random.choose(&self.definitions).clone();
            // A workflow that is a tool stores its keys where a step of its name would store them,
            // so no step may have that name. It must not wait; one in twelve does, to test the
            // check.
            if !self.placed.contains(&flow.name) && (!waits(&flow) || self.random.one_in(12)) {
                self.placed.push(flow.name.clone());
                let name = flow.name.clone();
                agent.flows.push(Nested {
                    name,
                    flow,
                    reads: Vec::new(),
                    writes: Vec::new(),
                });
            }
        }
    }

    /// Gives agents below an instance the key names of its definition.
    fn rename_below(&mut self, agent: &mut Agent, instance: &Agent) {
        for below in agent.targets.iter_mut().chain(&mut agent.helpers) {
            for read in &mut below.reads {
                let same = instance
                    .reads
                    .iter()
                    .find(|other| other.key == read.key && self.random.one_in(2));
                read.own = same.and_then(|other| other.own);
            }
            for write in below.writes.iter_mut().chain(&mut below.tools) {
                let same = instance
                    .writes
                    .iter()
                    .find(|other| other.key == write.key && self.random.one_in(2));
                write.own = same.and_then(|other| other.own);
            }
            self.rename_below(below, instance);
        }
    }

    /// Grows an `await`.
    pub(super) fn person(&mut self, here: &mut Here) -> Agent {
        self.left = self.left.saturating_sub(1);
        let mut asks = Agent {
            name: self.name("q"),
            ..Agent::default()
        };
        self.reads(&mut asks, here);
        asks.reads.retain(|read| !is_secret(read.key));
        asks.reads.iter_mut().for_each(|read| read.prompt = true);
        let mut key = self.written(here);
        if is_secret(key) {
            key = PLAIN[0];
        }
        asks.writes.push(Write {
            key,
            own: None,
            perhaps: false,
        });
        let patience = [Patience::Endless, Patience::Fails, Patience::Default];
        let last = if self.wants(&[Construct::AwaitDefault]) {
            &patience[2..]
        } else {
            &patience[..]
        };
        asks.patience = Some(*self.random.choose(last));
        here.known.push(key);
        asks
    }

    fn reads(&mut self, agent: &mut Agent, here: &Here) {
        for _ in 0..self.random.below(4) {
            let optional = self.may(8, &[Construct::OptionalRead]);
            let key = if optional {
                Some(self.optional(here))
            } else {
                self.read(here, false)
            };
            let Some(key) = key else { continue };
            let prompt = self.random.one_in(3) && !is_secret(key);
            agent.reads.push(Read {
                key,
                own: None,
                optional,
                prompt,
                tool: false,
            });
        }
    }

    fn reads_and_writes(&mut self, agent: &mut Agent, here: &Here) {
        self.reads(agent, here);
        for _ in 0..[0, 1, 1, 1, 2][self.random.below(5) as usize] {
            let key = self.written(here);
            if agent.writes.iter().all(|write| write.key != key) {
                let perhaps = self.may(8, &[Construct::Out]);
                agent.writes.push(Write {
                    key,
                    own: None,
                    perhaps,
                });
            }
        }
    }

    /// Returns a key for an optional read: any key that no sibling writes.
    fn optional(&mut self, here: &Here) -> Key {
        for _ in 0..4 {
            let key = self.key();
            if !here.taken.contains(&key) {
                return key;
            }
        }
        self.key()
    }

    /// Gives the definition other keys than the instance: some unique ones, and some that other
    /// steps use.
    fn rename(&mut self, agent: &mut Agent, here: &Here) {
        let reads = agent.reads.iter().map(|read| read.key);
        let used: Vec<_> = reads
            .chain(agent.writes.iter().map(|write| write.key))
            .chain(agent.tools.iter().map(|write| write.key))
            .collect();
        let pool = if self.random.one_in(2) { OWN } else { PLAIN };
        let mut own = pool.iter().filter(|key| !used.contains(key));
        for read in &mut agent.reads {
            let is_there = !read.optional || here.known.contains(&read.key) || self.careless();
            if is_there && self.random.one_in(2) {
                read.own = own.next().copied();
            }
        }
        let left: Vec<_> = own.collect();
        if self.random.one_in(2) && left.len() >= agent.writes.len() {
            agent
                .writes
                .iter_mut()
                .zip(left)
                .for_each(|(write, key)| write.own = Some(key));
        }
    }
}

/// Whether any step of a workflow waits for an answer.
pub fn waits(flow: &Flow) -> bool {
    let mut found = flow.definitions().iter().any(|inner| waits(inner));
    flow.each(&mut |node| found |= matches!(node, Node::Run(agent) if agent.patience.is_some()));
    found
}
