//! Closures as callbacks whose tokens show the error.

use adk::prelude::*;

workflow! {
    /// Answers.
    pub Answering(text: String) -> text: String {
        agent speaker -> text: String {
            instruction: "{text}",
            before_agent: [|| Ok(None), |_, _| {}, async |_cx, _request| Ok(None)],
            before_model: |_request| None,
            after_model: (|| {}),
            on_model_error: |_cx, _error| Some("no"),
            before_tool: |_: &mut CallbackContext| Ok(()),
            after_tool: { let limit = 3; move |_, result| { *result = limit.into(); } },
            on_tool_error: async || {},
            after_agent: [|_| { Ok(None); }, |_| { println!("over"); None; }, |cx| { cx.state().set("over", true); }],
        }

        again: loop(max = 2, before_agent = |_, _| None, after_agent = [|_| None, || ()]) < speaker >
    }
}

fn main() {}
