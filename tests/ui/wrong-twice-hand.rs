//! So is a second `impl Agent`.

use adk::prelude::*;
use adk::AgentMeta;

/// An agent by hand.
struct Own;

#[agent(reads(text: String))]
impl Agent for Own {
    const META: AgentMeta<'static> = AgentMeta::custom("own");

    async fn run(&self, _: &mut Context) -> Result<Flow> {
        Ok(Flow::Continue)
    }
}

#[agent(reads(words: String))]
impl Agent for Own {
    const META: AgentMeta<'static> = AgentMeta::custom("own");

    async fn run(&self, _: &mut Context) -> Result<Flow> {
        Ok(Flow::Continue)
    }
}

fn main() {}
