//! `#[tool(confirm = PREDICATE)]`: the calls that need a person's consent.

use super::{Cx, args, call};
use adk::tool::ToolErrorKind;
use adk::{DynTool, Tool as _, tool};
use serde_json::{Value, json};

mod limits {
    /// Takes the arguments of `pay` in their order, without the context and the resource.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "it takes what the tool takes"
    )]
    pub(super) fn over(
        amount: f64,
        to: &str,
        tags: &[String],
        note: Option<&str>,
        times: u32,
        day: String,
    ) -> bool {
        amount * f64::from(times) > 100.0
            || to == "me"
            || tags.len() > 1
            || note.is_some()
            || day == "Sunday"
    }
}

/// Pays.
#[tool(confirm = limits::over)]
async fn pay(
    cx: &mut Cx,
    amount: f64,
    to: &str,
    tags: &[String],
    #[resource] rate: &f64,
    note: Option<&str>,
    #[default(1)] times: u32,
    #[default("Monday")] day: String,
) -> String {
    cx.actions.skip_summarization = true;
    format!("{} {to} {tags:?} {note:?} {times} {day}", amount * rate)
}

/// Says something.
#[tool(blocking, confirm = |text: &str, other| text.len() > other.len())]
fn say<'a>(text: &'a str, other: &'a str) -> String {
    format!("{text}{other}")
}

/// Forgets.
#[tool(confirm)]
fn forget(name: String) {
    drop(name);
}

/// Reads.
#[tool]
fn read(name: String) {
    drop(name);
}

fn asks(tool: &impl DynTool, with: &Value) -> Result<bool, String> {
    let asked = tool.needs_confirmation_dyn(args(with), &mut Cx::for_tests());
    asked.map_err(|error| {
        assert_eq!(error.kind(), ToolErrorKind::Argument);
        error.to_string()
    })
}

#[test]
fn a_predicate_takes_the_arguments_as_the_tool_does() {
    const {
        assert!(
            pay::META.confirm && say::META.confirm && forget::META.confirm && !read::META.confirm
        );
    };
    let pay = pay::default();
    let plain = json!({"amount": 50, "to": "Ann", "tags": ["a"]});
    assert_eq!(asks(&pay, &plain), Ok(false));
    for (key, value) in [
        ("amount", json!(101)),
        ("to", json!("me")),
        ("tags", json!(["a", "b"])),
        ("note", json!("quick")),
        ("times", json!(3)),
        ("day", json!("Sunday")),
    ] {
        let mut other = plain.clone();
        other[key] = value;
        assert_eq!(asks(&pay, &other), Ok(true), "{key}");
    }
    assert_eq!(
        asks(&say::default(), &json!({"text": "long", "other": "be"})),
        Ok(true)
    );
    assert_eq!(
        asks(&say::default(), &json!({"text": "be", "other": "long"})),
        Ok(false)
    );
}

#[tokio::test]
async fn invalid_arguments_are_an_error_of_the_tool_and_need_no_consent() {
    for (tool, with) in [
        (
            &pay::default() as &dyn DynTool,
            json!({"to": "me", "tags": []}),
        ),
        (
            &pay::default(),
            json!({"amount": "much", "to": "me", "tags": []}),
        ),
        (&forget::default(), json!({"name": 3})),
    ] {
        let mut cx = Cx::for_tests_with(Given { rate: 1.0 });
        let error = tool
            .call_dyn(args(&with), &mut cx)
            .await
            .expect_err("an error")
            .to_string();
        let asked = tool
            .needs_confirmation_dyn(args(&with), &mut cx)
            .expect_err("an error")
            .to_string();
        assert_eq!(asked, error);
    }
    assert_eq!(
        asks(&forget::default(), &json!({"name": "a"})),
        Ok(true),
        "of each call"
    );
    let mut cx = Cx::for_tests_with(Given { rate: 2.0 });
    let with = json!({"amount": 1, "to": "me", "tags": [], "times": 2});
    let paid = pay::default()
        .call_dyn(args(&with), &mut cx)
        .await
        .expect("paid");
    assert_eq!(
        (paid, cx.actions.skip_summarization),
        (json!("2 me [] None 2 Monday"), true)
    );
    assert_eq!(
        call(&say::default(), json!({"text": "a", "other": "b"}))
            .await
            .0
            .expect("a text"),
        json!("ab")
    );
    assert_eq!(
        call(&read::default(), json!({"name": "a"}))
            .await
            .0
            .expect("read"),
        Value::Null
    );
}

#[derive(adk::Resources, Clone)]
struct Given {
    rate: f64,
}
