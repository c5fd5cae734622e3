//! Agents that the caller supplies, as people write them first, and what is typed by half: one message each, and the rest is read.

use adk::DynAgent;
use adk::prelude::*;
use std::sync::Arc;

/// Counts.
#[agent(writes = n)]
fn count(text: &str) -> u32 {
    text.len() as u32
}

mod agents {
    adk::llm::agent! {
        /// Writes.
        pub drafter -> text: String { instruction: "Write about {topic}." }
    }
}

workflow! {
    pub Author(topic: String) -> text: String {
        agents::drafter;
    }
}

workflow! {
    pub Values(topic: String) -> n: u32 {
        agent first: agents::drafter::new();
        agent second: agents::drafter { n: 3 };
        agent third: Author::default();
        agent fourth: Author { n: 3 };
        agent fifth: Author(3);
        agent seventh: Author {};
        agent eighth: Author() -> draft: String;
        agent ninth: Author { n: 4 }
        agent sixth: Arc::new(Author);

        first;
        second;
        third;
        fourth;
        fifth;
        sixth;
        seventh;
        eighth;
        ninth;
        count;
    }
}

workflow! {
    pub Orders(topic: String) -> (n: u32, score: u32) {
        agent counter: Author -> n: u32;
        agent rater(topic: String) as Arc<dyn DynAgent> -> score: u32;
        agent author: String -> text: String { instruction: "Write about {topic}." }

        counter;
        rater;
        author;
    }
}

workflow! {
    pub HalfAgent(topic: String) -> text: String {
        agent writer -> text: String { instruction: "Write about {topic}." }

        agent
        writer
    }
}

workflow! {
    pub HalfAgents(topic: String) -> criticism: String {
        agent writer -> text: String { instruction: "Write about {topic}." }
        agent critic -> criticism: String { instruction: "Review {text}." }

        agent
        writer;
        agent critic;
    }
}

workflow! {
    pub HalfState(topic: String) -> text: String {
        state user:
        agent writer -> text: String { instruction: "Write about {topic} for {user:name}." }

        writer
    }
}

workflow! {
    pub HalfStates(topic: String) -> text: String {
        state app:tone:
        let style:
        /// Writes.
        agent writer -> text: String { instruction: "Write about {topic} in {style} {app:tone}." }

        writer
    }
}

workflow! {
    pub HalfBlocks(topic: String) -> text: String {
        agent writer -> text: String { instruction: "Write about {topic}." }
        agent critic -> criticism: String { instruction: "Review {text}." }

        let
        loop(max = 2) < writer as first; critic as second -> (criticism) >
        agent
        again: loop(max = 2) < critic; writer >
    }
}

workflow! {
    pub HalfLet(topic: String) -> text: String {
        agent writer -> text: String { instruction: "Write about {topic}." }

        state user:
        match topic < "x" => writer, _ => writer as other >
    }
}

workflow! {
    pub HalfType(topic: String) -> text: String {
        agent writer -> text: String { instruction: "Write about {topic}." }

        agent given:
        match topic < "x" => writer, _ => writer as other >
        given;
    }
}

workflow! {
    pub HalfLoop(topic: String) -> text: String {
        agent writer -> text: String { instruction: "Write about {topic}." }
        agent critic -> criticism: String { instruction: "Review {text}." }

        agent
        again: loop(max = 2) < writer; critic >
    }
}

workflow! {
    pub HalfAwait(topic: String) -> text: String {
        agent writer -> text: String { instruction: "Write about {topic}." }
        agent critic -> text: String { instruction: "Mend {text}. {decision?}" }

        writer;
        await decision:
        again: loop(max = 2) < critic; writer as second >
        await
        further: loop(max = 2) < critic as other; writer as third >
        await approval:
        loop(max = 2) < critic as fourth >
    }
}

workflow! {
    pub NamedBehind(topic: String) -> text: String {
        agent writer -> text: String { instruction: "Write about {topic}. {decision}" }

        await(timeout = "72h", default = true) decision: bool as review;
        writer
    }
}

workflow! {
    pub Signs(topic: String) -> text: String {
        agent writer -> text: String: { instruction: "Write about {topic}." }
        agent critic -> criticism: String, instruction: "Review {text}", temperature: 0.5
        agent refiner -> text: String = { instruction: "Apply {criticism} to {text}" }

        writer;
        critic;
        refiner
    }
}

adk::llm::agent! {
    /// Reviews.
    pub critic -> criticism: String, instruction: "Review {text}"
}

fn main() {}
