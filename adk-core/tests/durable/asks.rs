//! Tools that ask a question in the middle of a call.

use super::crash::World;
use crate::support::*;
use adk_build::llm::LlmAgent;
use adk_build::testing::{Reply, ScriptedModel};
use adk_build::tool::{FunctionTool, ToolErrorKind};
use adk_build::{
    CallbackContext, ErrorKind, FunctionCall, Part, Runner, ToolContext, ToolError, Waiting,
};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[schemars(crate = "adk_build::__private::schemars")]
struct Order {
    name: String,
    questions: usize,
}

/// Makes a tool that asks `questions` questions and returns the answers. Its writes before a
/// question are discarded.
pub fn order(made: Arc<Mutex<Vec<String>>>) -> FunctionTool {
    let order = move |Order { name, questions }: Order, cx: &mut ToolContext| {
        let answers = cx.answers().to_vec();
        made.lock()
            .unwrap()
            .push(format!("{name} {}", answers.len()));
        if answers.len() < questions {
            cx.state().set("draft", &name)?;
            let question = format!("Which {name}, {}?", answers.len());
            return Err(ToolError::asks(question, json!({"type": "boolean"})));
        }
        Ok(json!({"name": name, "answers": answers}))
    };
    FunctionTool::new("order", "Orders.", order).writes::<String>("draft")
}

fn call(name: &str, questions: usize) -> Value {
    json!({"name": name, "questions": questions})
}

struct Shop {
    world: World,
    model: ScriptedModel,
    made: Arc<Mutex<Vec<String>>>,
}

impl Shop {
    fn new() -> Self {
        let reply = [("tea", 2), ("milk", 0), ("cake", 1)]
            .into_iter()
            .fold(Reply::new(), |reply, (name, questions)| {
                reply.call("order", call(name, questions))
            });
        let model = ScriptedModel::new().reply(reply).text("Done.");
        Self {
            world: World::new(),
            model,
            made: Arc::default(),
        }
    }

    fn tree(&self) -> Tree {
        let made = self.made.clone();
        let count = self.made.clone();
        let agent = LlmAgent::builder("clerk")
            .model(self.model.clone())
            .tool(order(made))
            .before_tool(
                move |_: &mut CallbackContext, call: &mut FunctionCall| -> Option<Value> {
                    count
                        .lock()
                        .unwrap()
                        .push(format!("before {}", call.args["name"]));
                    call.args.insert(
                        "name".into(),
                        json!(call.args["name"].as_str().unwrap().to_uppercase()),
                    );
                    None
                },
            );
        Tree::new("w", vec![run(agent.build().unwrap())])
    }

    fn process(&self) -> Runner {
        let builder = Runner::builder().session_store(self.world.sessions.clone());
        builder
            .engine(self.world.journal.clone())
            .workflow(self.tree())
            .build()
            .unwrap()
    }

    async fn answer(&self, waiting: &Waiting, answer: Value) -> Vec<Waiting> {
        self.process().answer(&waiting.id, answer).await.unwrap();
        self.process()
            .recover()
            .await
            .unwrap()
            .remove(0)
            .result
            .unwrap()
    }

    /// Takes the orders made since the last call.
    fn take_made(&self) -> Vec<String> {
        std::mem::take(&mut self.made.lock().unwrap())
    }
}

fn questions(waiting: &[Waiting]) -> Vec<&str> {
    waiting.iter().map(|one| &*one.question).collect()
}

#[tokio::test]
async fn a_call_continues_with_each_answer_and_repeats_nothing() {
    let shop = Shop::new();
    let error = shop.process().run(&shop.tree(), "go").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Paused);
    let waiting = shop.process().waiting().await.unwrap();
    assert_eq!(questions(&waiting), ["Which TEA, 0?", "Which CAKE, 0?"]);
    assert_eq!(waiting[0].schema, json!({"type": "boolean"}));
    let mut made = shop.take_made();
    made.sort();
    assert_eq!(
        made,
        [
            "CAKE 0",
            "MILK 0",
            "TEA 0",
            "before \"cake\"",
            "before \"milk\"",
            "before \"tea\""
        ]
    );

    let open = shop.answer(&waiting[0], json!(true)).await;
    assert_eq!(
        (questions(&open), shop.take_made()),
        (vec!["Which CAKE, 0?"], vec!["TEA 1".to_owned()])
    );
    let open = shop.answer(&open[0], json!(false)).await;
    assert_eq!(
        (questions(&open), shop.take_made()),
        (vec!["Which TEA, 1?"], vec!["CAKE 1".to_owned()])
    );
    assert_eq!(shop.answer(&open[0], json!(true)).await, []);
    assert_eq!(shop.take_made(), ["TEA 2"]);

    let requests = shop.model.requests();
    let parts = requests
        .last()
        .unwrap()
        .contents
        .iter()
        .flat_map(|content| &content.parts);
    let results: Vec<_> = parts
        .filter_map(|part| match part {
            Part::FunctionResponse(answer) => Some(answer.response["answers"].clone()),
            _ => None,
        })
        .collect();
    assert_eq!(results, [json!([true, true]), json!([]), json!([false])]);
    let outcome = shop
        .process()
        .resume(&shop.tree(), waiting[0].run_id)
        .await
        .unwrap();
    assert_eq!(
        outcome.get::<String>("draft").unwrap(),
        None,
        "an interrupted part has written nothing"
    );
}

#[tokio::test]
async fn if_the_run_cannot_wait_the_model_gets_an_error() {
    let model = ScriptedModel::new()
        .call("order", call("tea", 1))
        .text("Done.");
    let agent = LlmAgent::builder("clerk")
        .model(model.clone())
        .tool(order(Arc::default()));
    let runner: Runner = Runner::builder().build().unwrap();
    runner
        .run(&Tree::new("w", vec![run(agent.build().unwrap())]), "go")
        .await
        .unwrap();
    let requests = model.requests();
    assert!(
        format!("{:?}", requests[1].contents).contains("Which tea, 0?"),
        "{:?}",
        requests[1].contents
    );

    let mut cx = ToolContext::for_tests();
    assert!(!cx.may_ask() && cx.answers().is_empty());
    let order = order(Arc::default());
    let args = call("tea", 1).as_object().unwrap().clone();
    let error = adk_build::DynTool::call_dyn(&order, args, &mut cx)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ToolErrorKind::Asks);
}
