//! A slip in the step of a supplied agent is one message, also where Rust code supplies the agent and uses its field.

use adk::prelude::*;
use adk::{Agent, AgentMeta, DynAgent};
use std::sync::Arc;

struct Own;

impl Agent for Own {
    const META: AgentMeta<'static> = AgentMeta::custom("own");

    async fn run(&self, _: &mut Context) -> adk::Result<Flow> {
        Ok(Flow::Continue)
    }
}

workflow! {
    pub Given(topic: String) {
        agent writer: Own;
        wirter
    }
}

workflow! {
    pub Described(topic: String) {
        agent critic(topic: String) -> remark: String as Arc<dyn DynAgent>;
        crtic
    }
}

fn main() {
    let _ = Given::new(Own).writer;
}

pub fn described(critic: Arc<dyn DynAgent>) -> adk::Result<Arc<dyn DynAgent>> {
    Ok(Described::new(critic)?.critic)
}
