//! An agent by hand that says of no key that it writes it, before one that misses a key.

use adk::AgentMeta;
use adk::prelude::*;

#[derive(Default)]
struct Dice;

impl Agent for Dice {
    const META: AgentMeta<'static> = AgentMeta::custom("dice");
    async fn run(&self, _: &mut Context) -> Result<Flow> {
        Ok(Flow::Continue)
    }
}

#[agent(writes = sum)]
fn add(roll: u32) -> u32 {
    roll
}

workflow! {
    pub Game() -> sum: u32 {
        Dice;
        add
    }
}

fn main() {}
