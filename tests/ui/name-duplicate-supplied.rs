//! Two agents of one name, which have the fields by which they were declared: Rust code that uses these is told nothing.

use adk::{DynAgent, prelude::*};
use std::sync::Arc;

workflow! {
    /// Hunts.
    pub Hunting(query: String) -> raw: String {
        agent backend(query: String) -> raw: String as Arc<dyn DynAgent>;
        agent writer -> query: String { instruction: "Improve {query}", name: "backend" }

        writer;
        backend
    }
}

fn make(backend: Arc<dyn DynAgent>) -> Result<Hunting> {
    Hunting::new(backend)
}

workflow! {
    /// Writes.
    pub Writing(topic: String) -> draft: String {
        agent writer -> draft: String { instruction: "Write about {topic}." }
        agent critic -> draft: String { instruction: "Improve {draft}.", name: "writer" }

        writer;
        critic
    }
}

fn main() {
    let _ = make;
    let mut writing = Writing::default();
    writing.critic.set_model("a");
    writing.writer.set_model("a");
}
