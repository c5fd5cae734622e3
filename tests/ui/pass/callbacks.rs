//! Closures with partly open types, and functions, as callbacks.

use adk::model::{ModelRequest, ModelResponse};
use adk::{Content, prelude::*};
use serde_json::json;

mod h {
    use adk::Content;
    use adk::prelude::*;

    pub async fn later(_: &mut CallbackContext) -> Result<Option<Content>> {
        Ok(None)
    }

    pub fn now(_: &mut CallbackContext) -> Option<&'static str> {
        None
    }

    pub fn gen_<T: Default>(_: &mut CallbackContext) {
        let _ = T::default();
    }

    pub fn make(n: u32) -> impl Fn(&mut CallbackContext) -> Option<String> {
        move |_| Some(n.to_string())
    }

    pub fn make0() -> impl Fn(&mut CallbackContext) -> Option<String> {
        make(0)
    }

    pub struct H;

    impl H {
        pub fn stat(_: &mut CallbackContext) {}
    }

    pub const C: fn(&mut CallbackContext) = |_| ();
}

fn asked(_: &mut CallbackContext, _: &mut ModelRequest) -> Result<Option<ModelResponse>> {
    Ok(None)
}

workflow! {
    /// Has all callbacks.
    pub Whole(text: String) -> text: String {
        agent a -> text: String {
            instruction: "{text}",
            before_agent: [
                |cx: &mut CallbackContext| h::later(cx),
                |cx| h::later(cx),
                |cx: &mut CallbackContext| Some(cx.agent_name()),
                |cx: &mut CallbackContext| Box::pin(async move { let _ = cx.path(); Some("x") }),
                |cx| Box::pin(async move { let _ = cx.path(); Some("x") }),
                |cx| { let n = cx.state().get::<u32>("n")?; Ok(n.map(|n| n.to_string())) },
                |_| Some("x".into()),
                async |_| Some("x".into()),
                async |_| Ok(Some("x".into())),
                async |cx| { cx.state().set("a", 1)?; if true { return Err("no".into()); } Ok(None) },
                |_| std::process::exit(1),
                |_| { if cfg!(test) { return None; } std::process::exit(1) },
                |_| { let _ = 1; },
                { let n = std::sync::atomic::AtomicU32::new(0); move |_| { n.fetch_add(1, std::sync::atomic::Ordering::Relaxed); None } },
                { let n = String::from("x"); |_| Some(n.clone()) },
                h::make(3),
                h::make0(),
                h::gen_::<u32>,
                h::H::stat,
                h::C,
                h::later,
                |cx| h::now(cx),
                |cx| { h::now(cx) },
                |cx| async move { h::later(cx).await },
                async move |cx: &mut CallbackContext| h::later(cx).await,
                async |cx| -> Result<Option<Content>> { h::later(cx).await },
                |_| -> Option<Content> { None },
                |_: &mut CallbackContext| -> Result<Option<Content>> { Ok(Some("x".into())) },
                |_| Ok(Some(Content::model("x"))),
                |_| { if true { return Ok(None); } Ok(Some(Content::model("x"))) },
                |_| { if true { return Ok(None); } Ok(Some("x")) },
                |_| { if true { return None; } Some(String::new()) },
                |_| match 1 { 1 => Ok(None), 2 => Err("a"), _ => Ok(Some("x")) },
                |cx: &mut _| { let _ = cx.path(); None },
                |cx| Ok(cx.state().get::<String>("a")?),
                |cx| Ok(cx.state().set("a", 1)?),
                |_| Err(Error::other("x")),
                |_| Err("x")?,
                |_| Err::<(), _>("x"),
                |_| std::future::ready(Some("x")),
                |_| { let s = String::new(); async move { Some(s) } },
                |_| Ok(Default::default()),
                if true { |_: &mut CallbackContext| None } else { |_: &mut CallbackContext| Some("x") },
                (|_| None),
                |cx| cx.path().to_string().parse::<u32>().map(|n| Some(n.to_string())),
                |_| Some("x").filter(|_| true),
                |_| Ok::<_, Error>(None),
                |_| Ok::<Option<Content>, _>(None),
                Box::new(|_: &mut CallbackContext| None::<Content>),
                |cx| { let cx: &CallbackContext = cx; let _ = cx.path(); Ok(()) },
                async |cx| { let n = cx.step("x", async { Ok(1) }).await?; Ok((n == 1).then(|| "x".into())) },
                |_| loop { return None; },
                |_| { let r: Result<Option<Content>> = Ok(None); r },
                |_| Ok(Some(format!("x"))),
                std::convert::identity(h::now),
                |cx| cx.state().get("greeting"),
                { let log = std::sync::Arc::new(String::new()); move |_| { let log = log.clone(); async move { Some(log.to_string()) } } },
                |cx| cx.agent_name().is_empty().then_some(Content::model("x")),
            ],
            after_model: [
                |_cx: &mut CallbackContext, _r: &mut ModelResponse| Ok(None),
                |_cx, _r| { if true { return Ok(Some(ModelResponse::from("x"))); } Ok(None) },
                |_cx, _r| Ok(Some("x".into())),
                |_cx, _r| { if true { return Err("x".into()); } Ok(None) },
                |_cx, _r| -> Result<_> { Ok(None) },
                |_, response| Some(response.clone()),
            ],
            before_tool: [
                |_, call| Ok(Some(json!({"a": call.name}))),
                |_, _| Some(3),
                |_, _| Ok(Some(3)),
                |_, _| Ok(Some("x".into())),
                |_, _| Ok(Some(serde_json::from_str("1")?)),
                |_, call| { let v: u32 = serde_json::from_value(call.args["n"].clone())?; if v > 3 { return Ok(Some(json!(3))); } Ok(None) },
            ],
            on_model_error: [
                |_, _, e| Ok(Some(e.to_string().into())),
            ],
            after_tool: [
                |_, _, v| { *v = json!(1); Ok(None) },
            ],
            on_tool_error: [
                |_, _, e: &adk::Error| Some(e.to_string().into()),
            ],
            before_model: [
                |_, ModelRequest { contents, .. }| contents.clear(),
                |_, request| { if request.contents.is_empty() { return Ok(Some("nothing".into())); } Ok(None) },
                |_, _| Some(Content::model("x")),
                asked,
            ],
        }

        first: loop(max = 2, before_agent = |cx| (cx.iteration() > Some(1)).then_some("x".into())) < a >
        second: sequence(after_agent = [|_| Ok(None), async |_| Ok(None), h::later, h::now]) < a as again >
    }
}
