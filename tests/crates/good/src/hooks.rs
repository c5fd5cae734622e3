//! Functions as prompts, callbacks, and agents as tools.

use adk::model::{ModelRequest, ModelResponse};
use adk::prelude::*;
use adk::{FunctionCall, ReadonlyContext, Value};

/// An instruction that is written by hand.
#[must_use]
#[expect(
    clippy::needless_pass_by_value,
    reason = "a function that makes an instruction is given its context"
)]
pub fn by_hand(cx: ReadonlyContext) -> String {
    format!("You are {}.", cx.agent_name())
}

fn begins(_: &mut CallbackContext) {}

async fn ends(cx: &mut CallbackContext) -> Result<Option<Content>> {
    cx.state().set("temp:seen", true).map(|()| None)
}

fn asks(_: &mut CallbackContext, _: &mut ModelRequest) -> Option<&'static str> {
    None
}

fn answers(_: &mut CallbackContext, _: &mut ModelResponse) {}

fn fails(_: &mut CallbackContext, _: &ModelRequest, _: &Error) -> Option<String> {
    None
}

fn calls(_: &mut CallbackContext, _: &mut FunctionCall) {}

fn gives(_: &mut CallbackContext, _: &FunctionCall, _: &mut Value) {}

fn refuses(_: &mut CallbackContext, _: &FunctionCall, _: &Error) -> Option<Value> {
    None
}

/// Looks up a word.
#[tool]
pub fn look_up(word: String) -> usize {
    word.len()
}

workflow! {
    /// Has every field that holds code.
    pub Hooked(question: String) -> answer: String {
        /// Reads the text.
        agent reader { instruction: "Read.", max_turns: 2 }
        agent clerk -> answer: String {
            global_instruction: "Be brief.",
            instruction: by_hand,
            tools: [look_up, agent(reader)],
            before_agent: begins,
            after_agent: [ends, |cx: &mut CallbackContext| cx.state().set("temp:seen", 1 < 2 && 3 > 2)],
            before_model: asks,
            after_model: [answers],
            on_model_error: fails,
            before_tool: calls,
            after_tool: gives,
            on_tool_error: refuses,
            max_turns: 3,
        }
        agent closed -> answer: String { instruction: |cx| format!("{}: {{answer}}", cx.path()) }

        desk: sequence(before_agent = begins, after_agent = [ends]) < clerk >
        again: loop(max = 2, before_agent = |_: &mut CallbackContext| None::<Content>) < closed >
    }
}

#[test]
fn the_workflow_can_be_built() {
    drop(Hooked::default());
    assert!(adk::check::faults(&Hooked::SPEC).is_empty());
}
