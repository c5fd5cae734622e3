//! Every arm writes the output, and one arm writes it only on some paths.

use adk::prelude::*;

workflow! {
    pub Answering(question: String, urgent: bool) -> answer: String {
        agent clerk -> answer: String { instruction: "Answer {question}.", transfer: [engineer] }
        agent engineer -> solution: String { instruction: "Solve {question}." }
        agent pager -> answer: String { instruction: "Page {question}." }

        match urgent < true => pager, false => clerk >
    }
}

fn main() {}
