//! A nested workflow sets a key of the session at its start, in parallel to a reader of the key.

use adk::prelude::*;

#[agent(writes = draft)]
fn write(topic: &str) -> String {
    format!("About {topic}")
}

#[agent(writes = greeting)]
fn greet(name: Option<&str>) -> String {
    format!("Dear {}", name.unwrap_or("reader"))
}

workflow! {
    Drafting(topic: String) -> draft: String {
        let user:name: String = "Ada";

        write;
    }
}

workflow! {
    Letter(topic: String) -> (draft: String, greeting: String) {
        parallel <
            Drafting;
            greet(name = user:name);
        >
    }
}

fn main() {}
