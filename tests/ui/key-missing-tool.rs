use adk::prelude::*;

workflow! {
    pub Writing(topic: String) -> text: String {
        agent writer -> text: String {
            instruction: "Write about {topic}.",
            tools: [agent(thinker)],
        }
        /// Thinks about a key that no step writes.
        agent thinker { instruction: "Think about {topc}." }

        writer
    }
}

/// Notes the decision.
#[tool]
fn note(#[key] verdct: &str, #[key] topic: &str, text: &str) -> String {
    format!("{topic}: {verdct}, {text}")
}

workflow! {
    pub Judging(topic: String, verdict: String) {
        agent judge { instruction: "Judge {topic}.", tools: [note] }

        judge;
        judge(verdct = verdict) as second;
        judge(verdit = verdict) as third
    }
}

workflow! {
    pub Handing(topic: String) {
        agent desk { instruction: "Help with {topic}.", transfer: [clerk] }
        agent clerk { instruction: "Help with {topic}.", tools: [note] }

        desk
    }
}

fn main() {}
