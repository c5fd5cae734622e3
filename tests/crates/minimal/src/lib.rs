//! The expansion of every macro refers only to `adk-workflow`, and causes no warnings of a lint.
#![deny(
    warnings,
    missing_docs,
    missing_debug_implementations,
    unreachable_pub,
    unused_qualifications
)]
#![deny(
    rust_2018_idioms,
    let_underscore_drop,
    single_use_lifetimes,
    clippy::all,
    clippy::pedantic
)]
#![forbid(unsafe_code)]

use adk::prelude::*;

const WRITER: &str = concat!("Write it: {plan}", "; {user:language?}");

/// Agents in their own module.
pub mod agents {
    adk::llm::agent! {
        /// Reviews the draft.
        pub critic -> criticism: String { instruction: "Review {draft}." }

        pub(crate) hidden -> secret: String { instruction: "Think." }
    }
}

/// Agents that hand over to agents of other modules.
pub mod desk {
    /// Counts the bills.
    #[adk::tool]
    fn count(text: &str) -> usize {
        text.len()
    }

    adk::llm::agent! {
        /// Answers questions about bills.
        pub clerk -> answer: String {
            instruction: "Answer {question}.",
            transfer: [experts::lawyer, auditor],
            tools: [count],
            max_turns: 3,
        }
        /// Audits.
        pub auditor -> answer: String { instruction: "Audit {question}." }
    }

    /// Agents below others.
    pub mod experts {
        adk::llm::agent! {
            /// Knows the law.
            pub lawyer -> answer: String { instruction: "Advise on {question}, {user:country?}." }
        }
    }
}

workflow! {
    /// Drafts a story in two steps.
    pub Drafting(topic: String, tone: String = "plain") -> draft: String {
        /// Plans the story.
        agent outline -> plan: String { instruction: include_str!("prompt.md"), timeout: "30s" }
        agent writer -> draft: String { instruction: WRITER, retry: 1, max_turns: 3 }

        outline;
        writer
    }
}

workflow! {
    /// Drafts a story, then refines it.
    pub Story(
        /// The topic.
        topic: String,
        rounds: Vec<u32>,
    ) -> (draft: String, criticism: String) {
        let done: bool = false;
        state user:language: Option<String>;
        agent given: agents::critic;

        Drafting;
        refinement: loop(max = 3, until = done) <
            agents::critic;
            parallel < agents::hidden; given >
        >
    }
}

// The type is private, and its fields are never read.
workflow! {
    Small() {
        agent one { instruction: "Say something." }
        named: sequence < one >
    }
}

/// Builds the values.
#[must_use]
pub fn make() -> (Drafting, Story, DraftingInput, StoryInput) {
    drop(Small::default());
    let small = DraftingInput::from("a cat");
    (
        Drafting::default(),
        Story::default(),
        small,
        StoryInput::new("a cat", vec![1]),
    )
}
