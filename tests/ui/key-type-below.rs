//! Agents that are written by hand, what stands below an agent and inside of a nested workflow: each says types of its own.

use adk::AgentMeta;
use adk::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Clone, Serialize, Deserialize)]
pub struct Plan(pub String);

#[derive(Clone, Serialize, Deserialize)]
pub struct Draft(pub String);

#[derive(Default)]
pub struct Turn;

#[agent(reads(key: Plan), writes(key: Draft))]
impl Agent for Turn {
    const META: AgentMeta<'static> = AgentMeta::custom("turn").description("Turns.");

    async fn run(&self, _: &mut Context) -> Result<Flow> {
        Ok(Flow::Continue)
    }
}

#[derive(Default)]
pub struct Planner;

#[agent(writes(key: Plan))]
impl Agent for Planner {
    const META: AgentMeta<'static> = AgentMeta::custom("planner").description("Plans.");

    async fn run(&self, _: &mut Context) -> Result<Flow> {
        Ok(Flow::Continue)
    }
}

#[derive(Default)]
pub struct Drafter;

#[agent(writes(key: Draft))]
impl Agent for Drafter {
    const META: AgentMeta<'static> = AgentMeta::custom("drafter").description("Drafts.");

    async fn run(&self, _: &mut Context) -> Result<Flow> {
        Ok(Flow::Continue)
    }
}

/// Saves the draft.
#[tool(writes(draft: Draft))]
fn save(cx: &mut ToolContext) {
    drop(cx.path().clone());
}

#[agent]
fn one(draft: Option<Draft>) {
    drop(draft);
}

#[agent(writes = note)]
fn writer(topic: &str) -> String {
    topic.to_owned()
}

#[agent]
fn number(note: Option<u32>) {
    drop(note);
}

workflow! { pub Turning(key: Plan) { Turn } }

workflow! {
    pub Asking() {
        agent asker { instruction: "Ask.", tools: [agent(Planner), agent(Drafter)] }
        asker
    }
}

workflow! {
    pub Saving(items: Vec<String>) {
        agent saver { instruction: "Save {item}.", tools: [save] }
        each item in items < saver >
        one
    }
}

workflow! { pub Noting(topic: String) { writer -> user:note } }

workflow! { pub Counting() { state count: String; agent teller { instruction: "Tell {count}." } teller } }

workflow! { pub Around(topic: String) { Noting; number(note = user:note) } }

workflow! { pub Counted(count: u32) { Counting } }

fn main() {}
