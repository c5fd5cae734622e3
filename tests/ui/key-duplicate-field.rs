use adk::prelude::*;

workflow! {
    pub Greeting(name: String, user:name: String) -> (user:plan: String, plan: String) {
        agent greeter -> plan: String { instruction: "Greet {name} and {user:name}." }
        agent planner -> user:plan: String { instruction: "Plan." }
        greeter;
        planner
    }
}

fn main() {}
