use adk::prelude::*;

workflow! {
    pub Writing(topic: String) -> draft: String {
        agent planner -> plan: String { instruction: "Plan a text about {topic}." }
        agent writer -> draft: String { instruction: "Write it after {plan}." }
        agent critic { instruction: "Review {draft} for {user:name}, {app:rules?} and {temp:note?}." }

        writer;
        planner;
        critic
    }
}

fn main() {}
