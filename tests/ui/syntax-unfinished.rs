//! What stands in an editor before it is typed to its end, and signs in the place of others.

use adk::prelude::*;

#[data]
pub enum Level {
    Low,
    High { score: u32 },
}

workflow! {
    pub Valued() {
        let tone: String =
        state user:name: String;
        agent writer { instruction: "Write to {user:name}, {tone}." }

        writer
    }
}

workflow! {
    pub Supplied() {
        agent counter:
        agent writer { instruction: "Write." }

        writer;
        counter
    }
}

workflow! {
    pub Outputs() {
        agent writer -> draft: String { instruction: "Write." }

        writer ->
        rounds: loop(max = 2) < writer as b >
    }
}

workflow! {
    pub Ends(level: Level) {
        agent writer -> draft: String { instruction: "Write." }

        rounds: loop(max = 2) < writer; break: rounds >
    }
}

workflow! {
    pub Looks(level: Level) {
        agent writer { instruction: "Write." }

        match level.score <
            Level::High { score } if score > 10 => writer,
            Level::High { .. } | Level::Low => (),
        >
    }
}

workflow! {
    pub Constant(level: Level, tone: String: "plain") {
        const done: String = "done";
        agent writer { instruction: "Write, {tone}, and say {done}." }

        writer
    }
}

fn main() {}
