//! Macro calls in a crate without the prelude.
#![no_implicit_prelude]

// The derive of schemars needs these imports.
use ::std::convert::{From as _, Into as _};

use ::adk::{agent, data, tool, workflow, Flow};
use ::std::option::Option;
use ::std::string::String;
use ::std::vec::Vec;

/// A decision.
#[data]
pub enum Decision {
    /// Yes.
    Yes,
    /// No.
    No {
        /// Why.
        reason: Option<String>,
    },
}

/// Data.
#[data]
pub struct Draft {
    /// The text.
    pub text: String,
    /// The comments.
    pub notes: Vec<String>,
}

/// Looks up a word.
#[tool(writes(found: u8))]
pub async fn look_up(
    cx: &mut ::adk::ToolContext,
    /// A word.
    word: &str,
    #[default(3)] most: usize,
    #[key] note: ::std::option::Option<&str>,
    #[key(user:plan)] plan: ::adk::Out<Draft>,
    other: Option<Vec<Draft>>,
) -> ::std::result::Result<usize, String> {
    let _ = (cx, other, note, plan);
    ::std::result::Result::Ok(word.len() + most)
}

/// Pays.
#[tool(confirm, blocking)]
pub fn pay(list: &[Draft], decision: &Decision, note: Option<&str>) -> bool {
    list.is_empty() && note.is_none() && matches(decision)
}

fn matches(decision: &Decision) -> bool {
    match decision {
        Decision::Yes => true,
        Decision::No { .. } => false,
    }
}

/// Counts.
#[agent(writes = count)]
pub async fn count(draft: &Draft, note: Option<&str>) -> Option<usize> {
    let _ = note;
    ::std::option::Option::Some(draft.text.len())
}

/// Ends the loop.
#[agent(blocking)]
pub fn done(count: Option<usize>) -> Flow {
    if count.is_none() {
        Flow::Exit
    } else {
        Flow::Continue
    }
}

fn before(_: &mut ::adk::callback::CallbackContext) -> Option<::adk::Content> {
    ::std::option::Option::None
}

::adk::llm::agent! {
    /// Writes.
    pub writer -> draft: Draft { instruction: "Write about {topic}.", tools: [look_up, pay], max_turns: 3, temperature: 0.5, stop: ["x"] }
}

workflow! {
    /// Uses everything.
    pub Work(
        /// The topic.
        topic: String,
        tone: String = "kind",
        drafts: Vec<Draft> = ::std::vec::Vec::new(),
    ) -> (draft: Draft, count: usize) {
        let count: usize = 0;
        let tries: u32 = 0;
        state user:name: Option<String>;
        agent helper -> help: String { instruction: "Help {topic}, {tries}, {user:name?}, {tone}.", timeout: "3s", retry: 2, before_agent: before }
        agent given: writer;
        agent other -> more: Vec<Draft> { instruction: ::std::concat!("Other ", "one."), before_model: |_, _| ::std::option::Option::None::<String> }

        given;
        every: each one in drafts < noted: sequence < helper > >;
        count;
        again: loop(max = 2) < done >;
        parallel(max_concurrency = 2) < other; two: sequence < writer as second > >;
        /// {topic}?
        await(timeout = "72h", default = Decision::Yes) decision: Decision;
        match decision {
            Decision::Yes => writer as third,
            Decision::No { reason } => writer as fourth,
        }
    }
}
