//! Arms as Rust ends functions, and items that are written where one is looked for: behind the last step.

use adk::prelude::*;

workflow! {
    pub Todo(text: String, kind: String) -> text: String {
        agent writer -> text: String { instruction: "Answer {text}" }
        agent critic -> text: String { instruction: "Answer {text}" }

        match kind <
            "x" => writer,
            "y" => unimplemented!("later"),
            "z" => critic,
            _ => (),
        >
    }
}

/// How bad it is.
#[data]
pub enum Severity {
    Low,
    Of { level: u32 },
    High,
}

workflow! {
    pub Panics(ticket: String, severity: Severity) -> ticket: String {
        agent clerk -> ticket: String { instruction: "Answer {ticket}" }

        match severity <
            Severity::High => panic!(),
            Severity::Of { .. } => < clerk as first; clerk >,
            Severity::Low => println! { "low" },
        >
        match severity < Severity::High => clerk as second, Severity::Of { level: 1 } => todo![], _ => () >
    }
}

workflow! {
    pub Results(ticket: String, severity: Severity) -> ticket: String {
        agent clerk -> ticket: String { instruction: "Answer {ticket}" }

        match severity <
            Severity::High => clerk,
            Severity::Of { .. } => Err("not yet"),
            _ => Ok(()),
        >
        Ok(())
    }
}

workflow! {
    pub Agents(topic: String) -> (text: String, score: u32) {
        writer;
        rater

        /// Writes.
        agent writer -> text: String { instruction: "Write about {topic}." }
        /// Rates.
        agent rater -> score: u32 { instruction: "Rate {text}.", max_turns: 2 }
    }
}

workflow! {
    pub Values(topic: String) -> (text: String, tone: String) {
        agent writer -> text: String { instruction: "Write about {topic} in {tone}." }

        writer
        let tone: String = "plain";
    }
}

workflow! {
    pub States(topic: String) -> text: String {
        agent writer -> text: String { instruction: "Write about {topic} for {user:name}." }

        loop(max = 2) < writer
            state user:name: String;
        >
    }
}

fn main() {}
