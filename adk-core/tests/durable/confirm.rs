//! `#[tool(confirm)]`: a person has to agree before the tool runs.

use super::crash::World;
use crate::support::*;
use adk_core::llm::LlmAgent;
use adk_core::model::{Model, ModelChunk, ModelRequest, ModelResponse, ModelStream};
use adk_core::tool::FunctionTool;
use adk_core::{Content, ErrorKind, FunctionCall, Part, Role, RunEnd, Runner, ToolContext};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[schemars(crate = "adk_core::__private::schemars")]
struct Sum {
    amount: u32,
}

/// Calls three tools at once, and tells what they said. It has no memory of its own, as a real one.
pub struct Banker;

impl Model for Banker {
    fn name(&self) -> &str {
        "banker"
    }

    fn generate(&self, request: Arc<ModelRequest>) -> ModelStream {
        let answers: Vec<Value> = request
            .contents
            .iter()
            .flat_map(|content| &content.parts)
            .filter_map(|part| match part {
                Part::FunctionResponse(answer) => Some(json!(answer.response)),
                _ => None,
            })
            .collect();
        let call = |name: &str, args: Value| {
            let args = args.as_object().cloned().unwrap_or_default();
            Part::FunctionCall(FunctionCall { name: name.into(), args, ..FunctionCall::default() })
        };
        let content = if answers.is_empty() {
            Content::new(
                Role::Model,
                vec![
                    call("pay", json!({"amount": 1})),
                    call("look", json!({})),
                    call("pay", json!({"amount": 2})),
                ],
            )
        } else {
            Content::model(Value::from(answers).to_string())
        };
        let response = ModelResponse::new(content);
        Box::pin(futures_util::stream::iter([Ok(ModelChunk::Done(response))]))
    }
}

/// An agent that pays, and counts what it has paid.
pub fn payer(paid: Arc<AtomicU32>) -> LlmAgent {
    let pay = FunctionTool::new("pay", "Pays.", move |Sum { amount }: Sum, cx: &mut ToolContext| {
        paid.fetch_add(amount, SeqCst);
        let _ = cx.state().set("paid", amount);
        format!("paid {amount}")
    });
    let look = FunctionTool::new("look", "Looks.", |(): (), _: &mut ToolContext| "nothing to see");
    let agent =
        LlmAgent::builder("payer").model(Banker).tool(pay.writes::<u32>("paid").confirm(true)).tool(look);
    agent.output_key("told").build().unwrap()
}

fn tree(paid: &Arc<AtomicU32>) -> Tree {
    Tree::new("w", vec![run(payer(paid.clone())), run(say("end"))])
}

#[tokio::test]
async fn a_call_waits_for_yes_or_no_and_a_refusal_goes_to_the_model() {
    let (world, paid) = (World::new(), Arc::new(AtomicU32::new(0)));
    let runner = || -> Runner {
        let builder = Runner::builder().session_store(world.sessions.clone()).engine(world.journal.clone());
        builder.workflow(tree(&paid)).build().unwrap()
    };
    let first = tree(&paid);
    let mut stream = runner().run(&first, "go").stream();
    while let Some(event) = stream.next().await {
        event.unwrap();
    }
    let RunEnd::Paused(waiting) = stream.end() else { panic!() };
    let questions: Vec<_> = waiting.iter().map(|one| (&*one.question, one.path.to_string())).collect();
    let path = || "w/payer".to_owned();
    assert_eq!(
        questions,
        [
            ("May the tool `pay` be called with {\"amount\":1}?", path()),
            ("May the tool `pay` be called with {\"amount\":2}?", path()),
        ]
    );
    let other = runner();
    let error = other.answer(&waiting[0].id, "yes").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AnswerInvalid);
    other.answer(&waiting[1].id, true).await.unwrap();
    let open = other.recover().await.unwrap().remove(0).result.unwrap();
    assert_eq!((open.len(), paid.load(SeqCst)), (1, 2), "what is agreed to runs at once");
    other.answer(&waiting[0].id, false).await.unwrap();
    assert!(other.recover().await.unwrap().remove(0).result.unwrap().is_empty());
    assert_eq!(paid.load(SeqCst), 2, "it was paid once");
    let last = tree(&paid);
    let outcome = other.resume(&last, waiting[0].run_id).await.unwrap();
    let told: String = outcome.get("told").unwrap().unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(&told).unwrap(),
        json!([{"error": "This tool call is rejected."}, {"result": "nothing to see"}, {"result": "paid 2"}])
    );
    assert_eq!(outcome.get::<u32>("paid").unwrap(), Some(2));
}

#[tokio::test]
async fn callbacks_come_first_and_the_person_sees_what_they_made_of_it() {
    let (world, paid) = (World::new(), Arc::new(AtomicU32::new(0)));
    let asked = Arc::new(Mutex::new(0));
    let count = asked.clone();
    let (own, money) = (asked, paid.clone());
    let make = move || {
        let (count, money) = (count.clone(), money.clone());
        let pay = FunctionTool::new("pay", "Pays.", move |Sum { amount }: Sum, _: &mut ToolContext| {
            money.fetch_add(amount, SeqCst);
            "paid"
        });
        let look = FunctionTool::new("look", "Looks.", |(): (), _: &mut ToolContext| "nothing");
        let agent = LlmAgent::builder("payer")
            .model(Banker)
            .tool(pay.writes::<u32>("paid").confirm(true))
            .tool(look)
            .before_tool(
                move |_: &mut adk_core::CallbackContext, call: &mut FunctionCall| -> Option<Value> {
                    *count.lock().unwrap() += 1;
                    if call.args.get("amount") == Some(&json!(1)) {
                        return Some(json!("free"));
                    }
                    call.args.insert("amount".into(), json!(20));
                    None
                },
            );
        Tree::new("w", vec![run(agent.build().unwrap())])
    };
    let runner = || -> Runner {
        let builder = Runner::builder().session_store(world.sessions.clone()).engine(world.journal.clone());
        builder.workflow(make()).build().unwrap()
    };
    let first = make();
    let error = runner().run(&first, "go").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Paused);
    let waiting = runner().waiting().await.unwrap();
    assert_eq!(waiting.len(), 1, "a callback has answered the other");
    assert_eq!(waiting[0].question, "May the tool `pay` be called with {\"amount\":20}?");
    runner().answer(&waiting[0].id, true).await.unwrap();
    assert!(runner().recover().await.unwrap().remove(0).result.unwrap().is_empty());
    assert_eq!((paid.load(SeqCst), *own.lock().unwrap()), (20, 3), "each callback was asked once");
}
