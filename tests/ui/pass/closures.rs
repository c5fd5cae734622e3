//! Closures without types, for every callback.

use adk::llm::agent;
use adk::prelude::*;

/// Looks up a word.
#[tool]
fn look_up(word: String) -> String {
    word
}
agent! {
    /// Judges.
    pub Judge -> verdict: String {
        instruction: "Judge {draft}",
        before_model: |_, _| None,
        after_model: [|_, response| response.content.parts.clear(), async |_, _| None],
    }
}
workflow! {
    /// Has all callbacks.
    pub Whole(text: String) -> text: String {
        agent w -> text: String {
            instruction: "{text}",
            tools: [look_up],
            before_agent: |cx| { cx.state().set("a", 1)?; Ok(None) },
            after_agent: [
                |cx| cx.state().set("a", 1),
                async |cx| { cx.step("x", async { Ok(1) }).await?; Ok(None) },
                |_| Some("x"),
                |_| None,
            ],
            before_model: [
                |cx, request| { request.contents.clear(); drop(cx.path().clone()); },
                |_, request| request.contents.is_empty().then_some("no"),
                |_, _| None,
            ],
            after_model: [
                |_, r| { r.content.parts.clear(); },
                async move |_, r| { r.content.parts.clear(); Some("x") },
            ],
            on_model_error: [
                |_, r, e| Ok(Some(format!("{} {e}", r.contents.len()))),
                async |_, r, e| { std::future::ready(()).await; (r.contents.is_empty() && e.to_string().is_empty()).then_some("x") },
            ],
            before_tool: [
                |_, call| { call.args.clear(); None },
                |_, call| async move { call.name.clear(); },
                |_, _| Err("x"),
                |_, call| { if call.name.is_empty() { return Err("x".to_owned()); } Ok(None) },
            ],
            after_tool: [
                |_, call, result| { *result = serde_json::json!(call.name); },
                async |_, call, _| Some(serde_json::json!(call.name)),
                |cx, _, _: &mut serde_json::Value| cx.state().set("z", 1),
            ],
            on_tool_error: [
                |_, call, error| { let _ = (call, error); Some(serde_json::Value::Null) },
                |_, _, _| if true { None } else { None },
                async |_, _, _| Ok(None),
            ],
        }
        inner: sequence(before_agent = |_| None, after_agent = [|cx| cx.state().set("b", 1), async |_| {}]) < w >
    }
}
