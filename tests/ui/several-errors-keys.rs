//! A key with an invalid type is treated as the intended key, so it hides no error in the flow.

use adk::prelude::*;

workflow! {
    pub Untyped(topic: String) {
        let tone = "plain";
        let short = true;

        agent writer { instruction: "Write about {topik} in a {tone} tone." }

        match short < true => writer, false => () >
    }
}

workflow! {
    pub Borrowed(topic: &str, words: &[String], strict: &bool = true) -> summary: &str {
        let tone: &str = "plain";
        let title: str = "none";
        let seen: Option<[u8]> = None;

        agent writer -> draft: &'static str { instruction: "Write about {topik} in a {tone} tone, {title}, {seen}." }
        agent lister -> points: [String] { instruction: "List the points of {draft}, of {words}." }

        writer;
        lister;
        /// Is it good?
        await good: &bool;
        loop(until = good, max = 2) < lister as again >
        match strict < true => writer as second, false => () >
    }
}

workflow! {
    pub Unknown(topic: String) {
        let count = 3;

        agent writer { instruction: "Write {count} lines about {topik}." }

        writer
    }
}

fn main() {}
