//! `#[agent]` on the `impl` of a handwritten agent.

use adk::prelude::*;
use adk::{AgentMeta, KeySpec};

struct Twice;

#[agent(reads(draft: String))]
impl Agent for Twice {
    const META: AgentMeta<'static> =
        AgentMeta::custom("twice").writes(&[KeySpec::new("score", "f64")]);
    async fn run(&self, _: &mut Context) -> Result<Flow> {
        Ok(Flow::Continue)
    }
}

struct Words;

#[agent(reads(draft: String, draft: String), write(score: f64), writes = score, exits(outer))]
impl Agent for Words {
    const META: AgentMeta<'static> = AgentMeta::custom("words");
    async fn run(&self, _: &mut Context) -> Result<Flow> {
        Ok(Flow::Continue)
    }
}

struct Untyped;

#[agent(reads(draft), writes(usr:score: f64))]
impl Agent for Untyped {
    const META: AgentMeta<'static> = AgentMeta::custom("untyped");
    async fn run(&self, _: &mut Context) -> Result<Flow> {
        Ok(Flow::Continue)
    }
}

struct NoMeta;

#[agent(reads(draft: String))]
impl Agent for NoMeta {
    async fn run(&self, _: &mut Context) -> Result<Flow> {
        Ok(Flow::Continue)
    }
}

#[agent(reads(draft: String))]
impl Twice {}

#[agent]
impl Clone for Twice {
    fn clone(&self) -> Self {
        Self
    }
}

#[agent(reads(draft: String))]
fn function(draft: &str) {
    drop(draft.to_owned());
}

#[agent(writes(score: f64))]
fn typed() -> f64 {
    1.0
}

#[agent(reads(draft: String))]
struct Reviewer;

fn main() {}
