use adk::prelude::*;

workflow! {
    pub Greeting(name: String, user:name: String) -> (user:plan: String, plan: String) {
        agent greeter { instruction: "Greet {name} and {user:name}." }
        greeter
    }
}

fn main() {}
