//! Answers that do not fit their type are returned to the model for correction.

use super::*;
use crate::support::{Tree, run};
use adk_build::build::LlmAgentBuilder;
use adk_build::engine::MemoryJournal;
use adk_build::llm::{LlmAgent, OutputKey, RETRY_KEY};
use adk_build::testing::Reply;
use adk_build::{DynAgent, ErrorKind, KeySpec, RunEnd, RunId};

#[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Order {
    items: Vec<Item>,
}

#[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Item {
    name: String,
    count: u8,
}

const ORDER: &[KeySpec<'static>] = &[KeySpec::new("order", "Order")];

const fn orders(name: &'static str) -> LlmDecl {
    LlmDecl::new(meta(name).writes(ORDER)).output(OutputKey::json::<Order>("order"))
}

agent!(Clerk = orders("clerk"));
agent!(Patient = orders("patient").answer_attempts(5));
agent!(Hasty = orders("hasty").max_turns(2));
agent!(After = decl("after").instruction("{order}"));

const WRONG: &str = r#"{"items": [{"name": "tea", "count": 1}, {"name": "milk", "count": 300}]}"#;
const RIGHT: &str = r#"{"items": [{"name": "tea", "count": 1}]}"#;

fn one<W: Declares<0> + 'static>() -> Tree {
    Tree::new("w", vec![run(llm::<W>())])
}

#[tokio::test]
async fn corrections_name_the_fault_and_its_place() {
    let fenced = format!("Here you are:\n```json\n{RIGHT}\n```");
    let reply = |text: &str| Reply::new().text(text).usage(10, 1);
    let model = ScriptedModel::new()
        .reply(reply(WRONG))
        .reply(reply("I cannot do that."))
        .reply(reply(&fenced))
        .on("after")
        .text("ok");
    let tree = Tree::new("w", vec![run(llm::<Clerk>()), run(llm::<After>())]);
    let runner = runner(&model);
    let mut stream = runner.run(&tree, "go").stream();
    let (events, error) = collect(&mut stream).await;
    assert!(error.is_none(), "{error:?}");
    let retries = events
        .iter()
        .filter(|event| event.partial)
        .map(|event| event.details.as_ref().unwrap().custom_metadata[RETRY_KEY].clone());
    let retries: Vec<_> = retries.collect();
    assert_eq!(retries.len(), 2);
    assert_eq!(retries[0]["attempt"], 1);
    let stored: Vec<_> = events.iter().filter(|event| !event.partial).collect();
    assert_eq!(stored.len(), 2, "unfit answers are not stored");
    assert_eq!(delta(stored[0])["order"]["items"][0]["name"], "tea");

    let asked = model.requests();
    let corrections: Vec<_> = asked[2]
        .contents
        .iter()
        .map(|content| content.text())
        .collect();
    assert_eq!(corrections.len(), 5, "{corrections:?}");
    assert_eq!(corrections[1], WRONG);
    let why = "Your answer does not fit: `items[1].count`: expected an integer";
    assert!(
        corrections[2].starts_with(why) && corrections[2].contains("300"),
        "{}",
        corrections[2]
    );
    assert!(
        corrections[2].contains(r#""required":["items"]"#),
        "it has the schema: {}",
        corrections[2]
    );
    assert!(
        corrections[4].contains("it is not JSON"),
        "{}",
        corrections[4]
    );
    let seen = format!("{:?}", asked[3].contents);
    assert!(
        !seen.contains("300") && !seen.contains("does not fit"),
        "other agents see no correction: {seen}"
    );
    let RunEnd::Finished(outcome) = stream.end() else {
        panic!()
    };
    assert_eq!(
        (outcome.usage.calls, outcome.usage.input_tokens),
        (4, 30),
        "each attempt is paid for"
    );
}

#[tokio::test]
async fn attempts_are_limited_and_the_error_has_text_schema_and_reason() {
    async fn attempts<W: Declares<0> + 'static>() -> (usize, Error) {
        let model = ScriptedModel::new().text(WRONG).repeat_last();
        let error = failure(&model, &one::<W>()).await;
        (model.requests().len(), error)
    }
    let (count, error) = attempts::<Clerk>().await;
    assert_eq!((count, error.kind()), (3, ErrorKind::OutputInvalid));
    let text = error.to_string();
    let start = "agent `clerk` (at w/clerk): the model's answer does not fit the type of `order` \
        in 3 attempts: `items[1].count`: expected an integer";
    assert!(text.starts_with(start), "{text}");
    assert!(
        text.contains(&format!("it was: {WRONG}; the schema is: {{")),
        "{text}"
    );
    assert_eq!(attempts::<Patient>().await.0, 5);
    let (count, error) = attempts::<Hasty>().await;
    assert_eq!(
        (count, error.kind()),
        (2, ErrorKind::OutputInvalid),
        "no more than `max_turns`"
    );

    let built = LlmAgent::builder("built")
        .output_key("order")
        .output_type::<Order>()
        .answer_attempts(1);
    let built = built.build().unwrap();
    let model = ScriptedModel::new().text(WRONG).repeat_last();
    let error = runner(&model).run(&built, "go").await.unwrap_err();
    assert_eq!(
        (model.requests().len(), error.kind()),
        (1, ErrorKind::OutputInvalid)
    );
    let refused = LlmAgent::builder("none")
        .output_type::<Order>()
        .answer_attempts(0)
        .build()
        .unwrap_err();
    assert!(
        refused
            .to_string()
            .contains("`answer_attempts` of agent `none` is 0"),
        "{refused}"
    );
}

#[test]
fn a_typed_answer_has_a_bound_without_a_limit() {
    let built = |attempts: fn(LlmAgentBuilder) -> LlmAgentBuilder| {
        let agent = attempts(
            LlmAgent::builder("a")
                .output_key("o")
                .output_type::<Order>(),
        );
        agent.build().unwrap().meta().max_turns
    };
    assert_eq!(
        (
            built(|agent| agent),
            built(|agent| agent.answer_attempts(5))
        ),
        (Some(3), Some(5))
    );
    assert_eq!(
        built(|agent| agent.answer_attempts(5).max_turns(2)),
        Some(2)
    );
}

#[tokio::test]
async fn a_cut_off_answer_is_not_requested_again() {
    let cut = Reply::new()
        .text(&WRONG[..20])
        .finish(adk_build::model::FinishReason::MaxTokens);
    let model = ScriptedModel::new().reply(cut).repeat_last();
    let error = failure(&model, &one::<Clerk>()).await;
    assert_eq!(
        (model.requests().len(), error.kind()),
        (1, ErrorKind::OutputInvalid)
    );
    assert!(
        error.help().unwrap().contains("max_output_tokens"),
        "{error}"
    );
}

#[tokio::test]
async fn an_answer_by_a_tool_has_the_same_attempts() {
    let with_tool = || {
        let mut agent = llm::<Clerk>();
        agent.add_tool(gives("f", Value::Null));
        Tree::new("w", vec![run(agent)])
    };
    let wrong = serde_json::from_str::<Value>(WRONG).unwrap();
    let model = ScriptedModel::new()
        .call("set_model_response", wrong)
        .repeat_last();
    let error = failure(&model, &with_tool()).await;
    assert_eq!(
        (model.requests().len(), error.kind()),
        (3, ErrorKind::OutputInvalid)
    );
    let text = error.message();
    assert!(
        text.contains("in 3 attempts: `items[1].count`: expected an integer"),
        "{text}"
    );
    assert!(
        text.contains(r#"it was: {"items":[{"#) && !text.contains("Call `set_model_response`"),
        "{text}"
    );
    // Unfit text and calls in between share one count.
    let model = ScriptedModel::new()
        .text("Sure.")
        .call("f", json!({}))
        .text("Sure.")
        .text(RIGHT);
    let said = events(&model, &with_tool()).await;
    assert_eq!(delta(said.last().unwrap())["order"]["items"][0]["count"], 1);
    let last = &model.requests()[3].contents;
    assert_eq!(
        last.len(),
        5,
        "the conversation, then the last attempt: {last:?}"
    );
}

#[tokio::test]
async fn a_resumed_run_repeats_no_attempt() {
    let model = ScriptedModel::new()
        .text(WRONG)
        .text(RIGHT)
        .on("after")
        .text("ok");
    let runner: Runner = Runner::builder()
        .model(model.clone())
        .engine(MemoryJournal::new())
        .build()
        .unwrap();
    let tree = Tree::new("w", vec![run(llm::<Clerk>()), run(llm::<After>())]);
    let mut stream = runner.run(&tree, "go").stream();
    let mut id: Option<RunId> = None;
    // Drops the run after the first attempt. The resumed run does not repeat it.
    while let Some(event) = stream.next().await {
        let event = event.unwrap();
        id = id.or(Some(event.invocation_id));
        if event.partial {
            break;
        }
    }
    drop(stream);
    let asked = model.requests().len();
    let mut stream = runner.resume(&tree, id.unwrap()).stream();
    let (_, error) = collect(&mut stream).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!((asked, model.requests().len()), (1, 3));
}
