//! The user defines the names of the prelude and of crates.
#![allow(dead_code, reason = "what they are does not matter")]

use adk::{agent, data, tool, workflow};
use std::primitive::{bool, str, u8, usize};
use std::string::String as Text;

/// Hides the item of this name in the prelude.
#[derive(Debug)]
pub struct Some;
/// Hides the item of this name in the prelude.
#[derive(Debug)]
pub struct None;
/// Hides the item of this name in the prelude.
#[derive(Debug)]
pub struct Ok;
/// Hides the item of this name in the prelude.
#[derive(Debug)]
pub struct Err;
/// Hides the item of this name in the prelude.
#[derive(Debug)]
pub struct Vec;
/// Hides the item of this name in the prelude.
#[derive(Debug)]
pub struct Option;
/// Hides the item of this name in the prelude.
#[derive(Debug)]
pub struct Result;
/// Hides the item of this name in the prelude.
#[derive(Debug)]
pub struct String;
/// Hides the item of this name in the prelude.
#[derive(Debug)]
pub struct Box;
/// Hides the item of this name in the prelude.
pub trait Default {}
/// Hides the item of this name in the prelude.
pub trait Send {}
/// Hides the item of this name in the prelude.
pub trait Sync {}
/// Hides the item of this name in the prelude.
pub trait From {}
/// Hides the item of this name in the prelude.
pub trait Into {}
/// Hides the item of this name in the prelude.
pub trait Iterator {}
/// Hides the crate of this name.
pub mod core {}
/// Hides the crate of this name.
pub mod serde {}
/// Hides the crate of this name.
pub mod schemars {}

use adk::Flow;

/// A decision.
#[data]
pub enum Decision {
    /// Yes.
    Yes,
    /// No.
    No {
        /// Why.
        reason: std::option::Option<Text>,
    },
}

/// Data.
#[data]
pub struct Draft {
    /// The text.
    pub text: Text,
    /// The comments.
    pub notes: std::vec::Vec<Text>,
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
    other: std::option::Option<std::vec::Vec<Draft>>,
) -> ::std::result::Result<usize, Text> {
    let _ = (cx, other, note, plan);
    ::std::result::Result::Ok(word.len() + most)
}

/// Pays.
#[tool(confirm, blocking)]
pub fn pay(list: &[Draft], decision: &Decision, note: std::option::Option<&str>) -> bool {
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
pub async fn count(draft: &Draft, note: std::option::Option<&str>) -> std::option::Option<usize> {
    let _ = note;
    ::std::option::Option::Some(draft.text.len())
}

/// Ends the loop.
#[agent(blocking)]
pub fn done(count: std::option::Option<usize>) -> Flow {
    if count.is_none() {
        Flow::Exit
    } else {
        Flow::Continue
    }
}

fn before(_: &mut ::adk::callback::CallbackContext) -> std::option::Option<::adk::Content> {
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
        topic: Text,
        tone: Text = std::convert::Into::into("kind"),
        drafts: std::vec::Vec<Draft> = ::std::vec::Vec::new(),
    ) -> (draft: Draft, count: usize) {
        let count: usize = 0;
        let tries: u32 = 0;
        state user:name: std::option::Option<Text>;
        agent helper -> help: Text { instruction: "Help {topic}, {tries}, {user:name?}, {tone}.", timeout: "3s", retry: 2, before_agent: before }
        agent given: writer;
        agent other -> more: std::vec::Vec<Draft> { instruction: ::std::concat!("Other ", "one."), before_model: |_, _| ::std::option::Option::None::<Text> }

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
