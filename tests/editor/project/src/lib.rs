//! Workflows over the agents of this crate and of another crate.
#![deny(warnings, missing_docs)]

pub mod desk;
pub mod steps;

use adk::prelude::*;
use critics::count_words;

/// The maximum number of rounds.
pub const ROUNDS: u32 = 3;

/// The prompt of the writer.
pub const WRITER: &str = "Write about {topic} for {audience}.";

/// The readers.
#[adk::data]
pub struct Audience {
    /// Their knowledge.
    pub level: String,
}

workflow! {
    /// Writes an article, then works on it until it is long enough.
    pub Article(topic: String, audience: Audience) -> draft: String {
        let approved: bool = false;

        /// Writes the first draft.
        agent writer -> draft: String {
            instruction: WRITER,
            tools: [steps::today, critics::archive],
        }

        /// Applies the review.
        agent editor -> draft: String {
            instruction: "Rewrite {draft} for {audience}. {review} {facts}",
        }

        /// Finds a title.
        agent titler -> title: String { instruction: "Find a title for {draft}." }

        /// A person who must agree.
        agent owner: steps::Owner;

        writer;
        steps::trim;
        refinement: loop(max = ROUNDS, until = approved) <
            parallel < critics::reviewer; critics::FactCheck >;
            editor;
            count_words;
            critics::long_enough;
            polishing: loop(max = 2) < editor as polisher; break refinement >
        >;
        titler as headline;
        owner
    }
}

/// Calls agents as functions.
pub fn count(draft: &str) -> usize {
    steps::trim(draft).len() + count_words(draft)
}

/// Builds an article, with another temperature of the writer.
pub fn make() -> Article {
    let mut article = Article::new(steps::Owner);
    article.writer.set_temperature(0.2);
    article
}
