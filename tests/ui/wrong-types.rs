use adk::prelude::*;
use adk::AgentMeta;

struct Opinion;

struct NotAnAgent;

/// An agent without a default.
struct Grader(u32);

impl Agent for Grader {
    const META: AgentMeta<'static> = AgentMeta::custom("grader");
    async fn run(&self, _cx: &mut Context) -> Result<Flow> {
        Ok(Flow::Continue)
    }
}

workflow! {
    pub Writing(opinion: Opinion) {
        let number: u32 = "5";
        agent critic -> verdict: Opinion { instruction: 5, tools: [NotAnAgent] }
        agent given: NotAnAgent;

        critic;
        NotAnAgent;
        nowhere;
        given;
        Grader
    }
}

workflow! {
    pub Given() {
        agent grader: Grader;
        grader
    }
}

fn main() {
    let _ = Given::new(Grader(1));
}
