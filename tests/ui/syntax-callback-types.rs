//! Callbacks that are given, or give, another type than they do: one message for each, under the type or the closure.

use adk::model::{ModelRequest, ModelResponse};
use adk::prelude::*;
use adk::{Content, FunctionCall};

struct Own;

fn model(_: &mut CallbackContext, _: &mut ModelRequest) -> Result<Option<ModelResponse>> {
    Ok(None)
}

async fn later(_: &mut CallbackContext) -> Option<Content> {
    None
}

fn limited(limit: u32) -> impl Fn(&mut CallbackContext) -> Option<String> {
    move |_| Some(limit.to_string())
}

struct Guard;

impl Guard {
    fn check(&self, _: &mut CallbackContext) {}
}

const REFUSAL: &str = "no";

workflow! {
    /// Parameters.
    pub Given(text: String) -> text: String {
        agent one -> text: String {
            instruction: "{text}",
            before_agent: [
                |_: &mut ToolContext| Ok(None),
                |_: &CallbackContext| Ok(None),
                async |_: CallbackContext| {},
            ],
            before_model: |_, response: &mut ModelResponse| { response.content.parts.clear(); None },
            after_model: |_cx, _r: &mut ModelRequest| Ok(None),
            on_model_error: |_, _, _: &std::io::Error| None,
            on_tool_error: |_, _: &mut FunctionCall, _| None,
        }

        again: loop(max = 2, after_agent = |_: &mut Context| ()) < one >
    }
}

workflow! {
    /// Answers.
    pub Giving(text: String) -> text: String {
        agent two -> text: String {
            instruction: "{text}",
            before_agent: [
                |_| true,
                |_| Ok(Some(5)),
                |_| Ok("x"),
                |_| "x",
                |_| Err(5),
                |_| { if true { return Err(Own); } Ok(None) },
                |_| later,
                |_| -> Result<bool> { Ok(true) },
                |_| async { Ok(Some(5)) },
                { let limit = 3; |_| limit },
            ],
            after_model: [|_, response| response, |_, response| Some(response)],
            before_tool: [|_, _| Some(Own), async |_, call| call.name.len()],
        }

        again: loop(max = 2, before_agent = async |_| -> bool { true }) < two >
    }
}

workflow! {
    /// What is no callback.
    pub Named(text: String) -> text: String {
        agent three -> text: String {
            instruction: "{text}",
            before_agent: [later(), limited(), limited, Guard, Guard::check, REFUSAL, None, async { None }],
            before_model: model(),
        }

        three
    }
}

fn main() {}
