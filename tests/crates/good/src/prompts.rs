//! Prompts in every place, and every field.

use adk::prelude::*;
use std::time::Duration;

const WRITER: &str = concat!("Write it: {topic}", "; {user:language?}, {", "tone", "}");

/// A type with prompts.
#[derive(Debug)]
pub struct Prompts;

impl Prompts {
    /// A prompt as an associated const.
    pub const EDITOR: &'static str = "Edit {draft}.";
}

const fn chosen(long: bool) -> &'static str {
    if long {
        "A long review of {draft}, in many words."
    } else {
        "Review {draft}."
    }
}

/// Searches.
#[tool]
pub fn search(query: &str, #[default(3)] most: u32) -> Vec<String> {
    vec![query.to_owned(); most as usize]
}

workflow! {
    /// Has prompts as literals of each kind, files, consts and expressions of consts.
    pub Written(topic: String, tone: String) -> draft: String {
        agent plain -> draft: String { instruction: "Write about {topic}.\n\tSecond line: {tone} \u{1F600} \\{not} {{tone}}" }
        agent raw -> draft: String { instruction: r#"Write "{topic}" {}"#, model: "gemini-2.5-flash" }
        agent of_const -> draft: String { instruction: WRITER }
        agent of_file -> criticism: String { instruction: include_str!("prompts/critic.md") }
        agent of_type -> draft: String { instruction: Prompts::EDITOR }
        agent of_call -> criticism: String { instruction: chosen(true) }
        agent of_block -> criticism: String { instruction: { const REVIEW: &str = "Review {draft}."; REVIEW } }
        agent of_nothing -> draft: String { }
        /// Has every field.
        ///
        /// - a list
        /// - in the documentation
        agent full -> criticism: String {
            name: "other_name",
            model: Rehearsal::new(),
            instruction: concat!("Review ", "{draft}", "."),
            tools: [search, self::search_again, adk::tools::exit_loop,],
            include_contents: none,
            temperature: 0.5 + f32::EPSILON,
            top_p: 1,
            max_output_tokens: 1_000,
            stop: ["END", "STOP".to_owned(),],
            seed: 42,
            timeout: "1500ms",
            retry: 3,
            max_turns: 2 + 3,
        }
        agent timed -> criticism: String {
            instruction: "Review {draft}.",
            include_contents: default,
            timeout: Duration::from_secs(60) * 2,
            retry: adk::llm::Retry::default(),
        }

        plain; raw; of_const; of_file; of_type; of_call; of_block; of_nothing; timed;
        loop(max = 2) < full >
    }
}

/// Searches again.
#[tool(name = "search-again", blocking, long_running)]
pub fn search_again() -> Option<String> {
    None
}

#[test]
fn every_prompt_is_read() {
    let reads: Vec<_> = Written::SPEC.steps.iter().map(|step| step.name).collect();
    assert!(reads.contains(&"other_name"), "{reads:?}");
    drop(Written::default());
}
