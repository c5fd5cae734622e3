//! Agents by hand, whose keys have types by `#[agent]` on their `impl`.

use adk::prelude::*;
use adk::{AgentMeta, Value};
use std::marker::PhantomData;

#[adk::data]
struct Draft {
    text: String,
}

#[adk::data]
struct Plan {
    steps: u8,
}

type Text = Draft;

#[derive(Default)]
struct Writer;

#[agent(writes(draft: Text, user:plan: Option<Plan>))]
impl Agent for Writer {
    const META: AgentMeta<'static> = AgentMeta::custom("writer");
    async fn run(&self, _: &mut Context) -> Result<Flow> {
        Ok(Flow::Continue)
    }
}

#[derive(Default)]
struct Reviewer;

#[agent(reads(draft: Plan, tone: Option<Plan>, any: Value), writes(score: f64))]
impl Agent for Reviewer {
    const META: AgentMeta<'static> = AgentMeta::custom("reviewer");
    async fn run(&self, _: &mut Context) -> Result<Flow> {
        Ok(Flow::Continue)
    }
}

struct Holder<T>(PhantomData<T>);

#[agent(reads(draft: T, tone: Option<Vec<T>>))]
impl<T: Send + Sync + 'static> Agent for Holder<T> {
    const META: AgentMeta<'static> = AgentMeta::custom("holder");
    async fn run(&self, _: &mut Context) -> Result<Flow> {
        Ok(Flow::Continue)
    }
}

#[agent]
fn planner(plan: Option<&Draft>) {
    drop(plan.cloned());
}

workflow! {
    Working(tone: Draft, any: u8, many: Vec<Draft>) -> score: u8 {
        agent given: Reviewer;
        agent right: Holder<Draft>;
        agent wrong: Holder<Plan>;
        Writer;
        Reviewer;
        given;
        right(tone = many);
        wrong;
        planner(plan = user:plan)
    }
}

fn main() {}
