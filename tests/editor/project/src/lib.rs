//! Workflows over the agents of this crate and of another one.
#![deny(warnings, missing_docs)]

pub mod desk;
pub mod steps;

use adk::prelude::*;
use critics::count_words;

/// The most rounds.
pub const ROUNDS: u32 = 3;

/// How the writer is asked.
pub const WRITER: &str = "Write about {topic} for {audience}.";

/// Who is going to read it.
#[adk::data]
pub struct Audience {
    /// What they know already.
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

        /// Somebody who has to agree.
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

/// Calls what are steps as functions.
pub fn count(draft: &str) -> usize {
    steps::trim(draft).len() + count_words(draft)
}

/// Makes one, with a cooler writer.
pub fn make() -> Article {
    let mut article = Article::new(steps::Owner);
    article.writer.set_temperature(0.2);
    article
}
