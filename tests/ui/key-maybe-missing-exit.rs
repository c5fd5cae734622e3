use adk::prelude::*;

/// Ends the loop.
#[agent]
fn enough(topic: &str) -> Flow {
    Flow::exit_if(topic.is_empty())
}

#[agent(writes = found)]
fn find(topic: &str) -> Option<String> {
    Some(topic.to_owned())
}

workflow! {
    pub Writing(topic: String) -> found: String {
        agent writer -> draft: String { instruction: "Write about {topic}." }
        agent critic { instruction: "Review {draft}." }
        agent reader { instruction: "Read {found}." }

        outer: loop(max = 2) < enough; writer >
        critic;
        find;
        reader
    }
}

fn main() {}
