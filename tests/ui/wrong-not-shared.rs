//! What cannot be shared between threads is told at the agent, and once at each workflow that would hold it.

use adk::AgentMeta;
use adk::prelude::*;
use std::cell::Cell;

#[derive(Default)]
struct Counter(Cell<u32>);

#[agent(reads(draft: String))]
impl Agent for Counter {
    const META: AgentMeta<'static> = AgentMeta::custom("counter");
    async fn run(&self, _: &mut Context) -> adk::Result<Flow> {
        self.0.set(self.0.get() + 1);
        Ok(Flow::Continue)
    }
}

workflow! {
    pub Counted(draft: String) {
        Counter
    }
}

workflow! {
    pub Given(draft: String) {
        agent counter: Counter;

        counter
    }
}

fn main() {}
