//! Agents: what they read and write, and which loops they may end.

use super::{Grower, Here};
use crate::tree::*;

impl Grower {
    pub(super) fn agent(&mut self, here: &mut Here) -> Agent {
        self.left = self.left.saturating_sub(1);
        let mut agent = Agent { name: self.name("a"), ..Agent::default() };
        self.reads_and_writes(&mut agent, here);
        agent.exit = if here.loops.is_empty() {
            self.careless() && self.random.one_in(6)
        } else {
            self.random.one_in(6)
        };
        if self.random.one_in(14) && !here.loops.is_empty() {
            agent.leaves.extend(self.target(here));
        }
        agent.writes_first = self.random.one_in(2);
        if self.random.one_in(8) {
            agent.tools.push(self.written(here));
        }
        if self.random.one_in(20) {
            let mut target = Agent { name: self.name("t"), ..Agent::default() };
            self.reads_and_writes(&mut target, here);
            if self.random.one_in(2) {
                target.writes.clone_from(&agent.writes);
            }
            target.exit = !here.loops.is_empty() && self.random.one_in(6);
            if self.random.one_in(8) && !here.loops.is_empty() {
                target.leaves.extend(self.target(here));
            }
            agent.targets.push(target);
        }
        if self.random.one_in(6) {
            self.rename(&mut agent, here);
            let own: Vec<_> = agent.writes.iter().map(Write::own).collect();
            for target in agent.targets.iter_mut().filter(|target| target.writes.len() == own.len()) {
                if self.random.one_in(3) {
                    target.writes.iter_mut().zip(&own).for_each(|(write, key)| write.key = key);
                }
            }
        }
        here.known.extend(agent.writes.iter().filter(|write| !write.perhaps).map(|write| write.key));
        agent
    }

    /// An `await`.
    pub(super) fn person(&mut self, here: &mut Here) -> Agent {
        self.left = self.left.saturating_sub(1);
        let mut asks = Agent { name: self.name("q"), ..Agent::default() };
        self.reads(&mut asks, here);
        asks.reads.iter_mut().for_each(|read| read.prompt = true);
        let key = self.written(here);
        asks.writes.push(Write { key, own: None, perhaps: false });
        asks.patience = Some(*self.random.of(&[Patience::Endless, Patience::Fails, Patience::Default]));
        here.known.push(key);
        asks
    }

    fn reads(&mut self, agent: &mut Agent, here: &Here) {
        for _ in 0..self.random.below(4) {
            let optional = self.random.one_in(8);
            let key = if optional { Some(self.optional(here)) } else { self.read(here, false) };
            let Some(key) = key else { continue };
            agent.reads.push(Read { key, own: None, optional, prompt: self.random.one_in(3) });
        }
    }

    fn reads_and_writes(&mut self, agent: &mut Agent, here: &Here) {
        self.reads(agent, here);
        for _ in 0..[0, 1, 1, 1, 2][self.random.below(5) as usize] {
            let key = self.written(here);
            if agent.writes.iter().all(|write| write.key != key) {
                agent.writes.push(Write { key, own: None, perhaps: self.random.one_in(8) });
            }
        }
    }

    /// A key to read optionally: any that no sibling writes.
    fn optional(&mut self, here: &Here) -> Key {
        for _ in 0..4 {
            let key = self.key();
            if !here.taken.contains(&key) {
                return key;
            }
        }
        self.key()
    }

    /// Gives the definition other keys than the instance: some that nobody else has, and some that others have.
    fn rename(&mut self, agent: &mut Agent, here: &Here) {
        let reads = agent.reads.iter().map(|read| read.key);
        let used: Vec<_> =
            reads.chain(agent.writes.iter().map(|write| write.key)).chain(agent.tools.clone()).collect();
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
            agent.writes.iter_mut().zip(left).for_each(|(write, key)| write.own = Some(key));
        }
    }
}
