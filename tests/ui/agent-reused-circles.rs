//! Workflows and agents that run each other: the one that closes the circle is told, and nothing else.

use adk::llm;
use adk::prelude::*;

workflow! {
    /// Runs the next one.
    Writing(text: String) -> text: String { Reviewing }
}

workflow! {
    /// Runs the one before.
    Reviewing(text: String) -> text: String { Writing }
}

workflow! {
    /// The first of three.
    First(text: String) -> text: String {
        agent writer -> text: String { instruction: "{text}", tools: [agent(Second)] }

        writer
    }
}

workflow! {
    /// The second of three, which runs the first one as well.
    Second(text: String) -> text: String {
        parallel < Third as own; First as other -> note >
    }
}

workflow! {
    /// The third of three.
    Third(text: String) -> text: String { First }
}

workflow! {
    /// Runs a circle without being part of it.
    Outside(text: String) -> text: String { Third }
}

llm::agent! {
    /// Asks the next one.
    asks { instruction: "{text}", tools: [agent(answers)] }
}

llm::agent! {
    /// Asks back.
    answers { instruction: "{text}", tools: [agent(asks)] }
}

/// In a block of its own a name is another one's.
fn main() {
    workflow! {
        /// Runs what this block declares.
        Reviewing(text: String) -> text: String { Checking }
    }
    workflow! {
        /// Runs nobody but an agent of its own.
        Checking(text: String) -> text: String {
            agent checker -> text: String { instruction: "{text}" }

            checker
        }
    }
}
