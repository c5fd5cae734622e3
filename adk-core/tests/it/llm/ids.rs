//! Call ids that occur more than once: in one reply, in one turn, in each turn, in concurrent runs.

use super::*;
use adk_build::engine::MemoryJournal;
use adk_build::llm::LlmAgent;
use adk_build::model::ModelRequest;
use adk_build::session::{MemoryStore, SessionStore};
use adk_build::testing::Reply;
use adk_build::tool::FunctionTool;
use adk_build::{Content, FunctionResponse, Part, Role, RunEnd};
use std::collections::HashSet;

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[schemars(crate = "adk_build::__private::schemars")]
struct Subject {
    what: String,
}

fn books() -> FunctionTool {
    FunctionTool::new("book", "Books.", |args: Subject, _| {
        format!("booked {}", args.what)
    })
}

fn asks() -> FunctionTool {
    FunctionTool::new("ask", "Asks a person.", |_: Subject, _| None::<String>).long_running(true)
}

fn agent(tool: FunctionTool) -> LlmAgent {
    LlmAgent::builder("a").tool(tool).build().unwrap()
}

fn call(id: &str, tool: &str, what: &str) -> Reply {
    Reply::new().call_with_id(id, tool, json!({"what": what}))
}

/// Returns each call of a request with its result. Asserts that every call has its answer directly
/// after it, and that no two calls share an id that the provider sees.
fn exchanges(request: &ModelRequest) -> Vec<(String, Value)> {
    let mut ids = HashSet::new();
    let mut open: Vec<(String, String)> = Vec::new();
    let mut out = Vec::new();
    for part in request.contents.iter().flat_map(|content| &content.parts) {
        match part {
            Part::FunctionCall(call) => {
                assert!(
                    call.id.is_empty() || ids.insert(call.id.clone()),
                    "two calls have the id {}",
                    call.id
                );
                let what = call
                    .args
                    .values()
                    .next()
                    .and_then(Value::as_str)
                    .unwrap_or_default();
                open.push((call.id.clone(), what.to_owned()));
            }
            Part::FunctionResponse(response) => {
                let at = open.iter().position(|(id, _)| *id == response.id);
                let (_, what) = open.remove(
                    at.unwrap_or_else(|| panic!("the response {} has no call", response.id)),
                );
                out.push((
                    what,
                    response
                        .response
                        .values()
                        .next()
                        .cloned()
                        .unwrap_or_default(),
                ));
            }
            _ => assert!(open.is_empty(), "{open:?} has no answer in {request:?}"),
        }
    }
    assert!(open.is_empty(), "{open:?} has no answer");
    out
}

fn results(model: &ScriptedModel) -> Vec<(String, Value)> {
    exchanges(model.requests().last().unwrap())
}

fn expected(pairs: &[(&str, &str)]) -> Vec<(String, Value)> {
    pairs
        .iter()
        .map(|(what, result)| ((*what).to_owned(), json!(result)))
        .collect()
}

#[tokio::test]
async fn two_calls_with_one_id_in_a_reply_both_run() {
    let reply = call("c", "book", "Paris").call_with_id("c", "book", json!({"what": "Rome"}));
    let model = ScriptedModel::new().reply(reply).text("done");
    runner(&model).run(&agent(books()), "go").await.unwrap();
    assert_eq!(
        results(&model),
        expected(&[("Paris", "booked Paris"), ("Rome", "booked Rome")])
    );
}

#[tokio::test]
async fn an_id_repeated_in_every_reply_is_another_call_each_time() {
    let model = ScriptedModel::new()
        .reply(call("c", "book", "Paris"))
        .reply(call("c", "book", "Rome"))
        .text("done")
        .reply(call("c", "book", "Oslo"))
        .text("done");
    let (runner, agent) = (runner(&model), agent(books()));
    let session = runner.session("u", "s");
    session.run(&agent, "go").await.unwrap();
    session.run(&agent, "go on").await.unwrap();
    assert_eq!(
        results(&model),
        expected(&[
            ("Paris", "booked Paris"),
            ("Rome", "booked Rome"),
            ("Oslo", "booked Oslo")
        ])
    );
}

#[tokio::test]
async fn an_open_call_of_a_dropped_run_takes_no_answer_of_another_call() {
    let model = ScriptedModel::new()
        .reply(call("c", "book", "Paris"))
        .text("done")
        .reply(call("c", "book", "Rome"))
        .reply(call("c", "book", "Oslo"))
        .text("done");
    let (runner, agent) = (runner(&model), agent(books()));
    let session = runner.session("u", "s");
    session.run(&agent, "first").await.unwrap();
    let mut stream = session.run(&agent, "second").stream();
    // Takes the user's event and the call of Rome, then drops the stream.
    stream.next().await.unwrap().unwrap();
    stream.next().await.unwrap().unwrap();
    drop(stream);
    session.run(&agent, "third").await.unwrap();
    assert_eq!(
        results(&model),
        expected(&[("Paris", "booked Paris"), ("Oslo", "booked Oslo")])
    );
}

/// Runs until all waits are resolved with `answers`, in order.
async fn answer_all(model: &ScriptedModel, answers: &[&str]) {
    let sessions: Arc<dyn SessionStore> = Arc::new(MemoryStore::new());
    let runner: Runner = Runner::builder()
        .model(model.clone())
        .session_store(sessions)
        .engine(MemoryJournal::new())
        .build()
        .unwrap();
    let agent = agent(asks());
    let mut answers = answers.iter();
    let mut stream = runner.run(&agent, "go").stream();
    loop {
        while let Some(event) = stream.next().await {
            event.unwrap();
        }
        let RunEnd::Paused(waiting) = stream.end() else {
            break;
        };
        for wait in &waiting {
            runner
                .answer(&wait.id, answers.next().unwrap())
                .await
                .unwrap();
        }
        stream = runner.resume(&agent, waiting[0].run_id).stream();
    }
    assert_eq!(answers.next(), None);
}

#[tokio::test]
async fn an_answer_from_outside_belongs_to_the_waiting_call() {
    // The calls are in successive replies.
    let model = ScriptedModel::new()
        .reply(call("c", "ask", "one"))
        .reply(call("c", "ask", "two"))
        .text("done");
    answer_all(&model, &["ONE", "TWO"]).await;
    assert_eq!(results(&model), expected(&[("one", "ONE"), ("two", "TWO")]));
    // Both calls are in one reply.
    let both = call("c", "ask", "one").call_with_id("c", "ask", json!({"what": "two"}));
    let model = ScriptedModel::new().reply(both).text("done");
    answer_all(&model, &["ONE", "TWO"]).await;
    assert_eq!(results(&model), expected(&[("one", "ONE"), ("two", "TWO")]));
}

#[tokio::test]
async fn a_message_answers_the_latest_call_with_its_id() {
    let model = ScriptedModel::new()
        .reply(call("c", "ask", "one"))
        .text("first")
        .reply(call("c", "ask", "two"))
        .text("second");
    let (runner, agent) = (runner(&model), agent(asks()));
    let session = runner.session("u", "s");
    let answer = |text: &str| {
        let response = serde_json::Map::from_iter([("result".to_owned(), json!(text))]);
        let part = FunctionResponse {
            id: "c".into(),
            name: "ask".into(),
            response,
        };
        Content::new(Role::User, vec![Part::from(part)])
    };
    session.run(&agent, "go").await.unwrap_err();
    session.run(&agent, answer("ONE")).await.unwrap();
    session.run(&agent, "again").await.unwrap_err();
    session.run(&agent, answer("TWO")).await.unwrap();
    assert_eq!(results(&model), expected(&[("one", "ONE"), ("two", "TWO")]));
}
