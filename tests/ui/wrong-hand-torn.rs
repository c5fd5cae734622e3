//! An `impl Agent` that lacks something small: that is told, and nothing of the workflow that runs the agent.

use adk::prelude::*;
use adk::AgentMeta;

#[derive(Default)]
pub struct Unfor;

#[agent(reads(city: String), writes(first: u32))]
impl Agent Unfor {
    const META: AgentMeta<'static> = AgentMeta::custom("unfor");

    async fn run(&self, _: &mut Context) -> Result<Flow> {
        Ok(Flow::Continue)
    }
}

#[derive(Default)]
pub struct Unended;

#[agent(reads(city: String), writes(second: u32))]
impl Agent for Unended {
    const META: AgentMeta<'static> = AgentMeta::custom("unended")

    async fn run(&self, _: &mut Context) -> Result<Flow> {
        Ok(Flow::Continue)
    }
}

#[derive(Default)]
pub struct Last;

#[agent(reads(city: String), writes(third: u32))]
impl Agent for Last {
    async fn run(&self, _: &mut Context) -> Result<Flow> {
        Ok(Flow::Continue)
    }

    const META: AgentMeta<'static> = AgentMeta::custom("last")
}

#[derive(Default)]
pub struct Named;

#[agent(reads(city: String), writes(fourth: u32))]
impl Agent for Named {
    const META: &str = "named";

    async fn run(&self, _: &mut Context) -> Result<Flow> {
        Ok(Flow::Continue)
    }
}

#[derive(Default)]
pub struct Inherent;

#[agent(reads(city: String), writes(fifth: u32))]
impl Inherent {
    const META: AgentMeta<'static> = AgentMeta::custom("inherent");

    async fn run(&self, _: &mut Context) -> Result<Flow> {
        Ok(Flow::Continue)
    }
}

workflow! {
    pub Telling(city: String) -> text: String {
        agent teller -> text: String { instruction: "{first} {second} {third} {fourth} {fifth}" }

        Unfor; Unended; Last; Named; Inherent;
        teller
    }
}

fn main() {}
