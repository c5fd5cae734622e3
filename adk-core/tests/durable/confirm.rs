//! `#[tool(confirm)]`: a person must agree before the tool runs.

use super::crash::World;
use crate::support::*;
use adk_build::llm::LlmAgent;
use adk_build::model::{Model, ModelChunk, ModelRequest, ModelResponse, ModelStream};
use adk_build::testing::{Reply, ScriptedModel};
use adk_build::tool::FunctionTool;
use adk_build::{
    Content, ErrorKind, FunctionCall, Part, Role, RunEnd, Runner, ToolContext, Waiting,
};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[schemars(crate = "adk_build::__private::schemars")]
struct Sum {
    amount: u32,
}

/// A stateless model that calls three tools at once and reports their results.
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
            Part::from(FunctionCall {
                name: name.into(),
                args,
                ..FunctionCall::default()
            })
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

/// Makes an agent that pays and counts payments.
pub fn payer(paid: Arc<AtomicU32>) -> LlmAgent {
    let pay = FunctionTool::new(
        "pay",
        "Pays.",
        move |Sum { amount }: Sum, cx: &mut ToolContext| {
            paid.fetch_add(amount, SeqCst);
            let _ = cx.state().set("paid", amount);
            format!("paid {amount}")
        },
    );
    let look = FunctionTool::new(
        "look",
        "Looks.",
        |(): (), _: &mut ToolContext| "nothing to see",
    );
    let look = look.confirm_if(|(): &()| false);
    let agent = LlmAgent::builder("payer")
        .model(Banker)
        .tool(pay.writes::<u32>("paid").confirm(true))
        .tool(look);
    agent.output_key("report").build().unwrap()
}

fn tree(paid: &Arc<AtomicU32>) -> Tree {
    Tree::new("w", vec![run(payer(paid.clone())), run(say("end"))])
}

#[tokio::test]
async fn a_call_waits_for_an_answer_and_a_refusal_is_sent_to_the_model() {
    let (world, paid) = (World::new(), Arc::new(AtomicU32::new(0)));
    let runner = || -> Runner {
        let builder = Runner::builder()
            .session_store(world.sessions.clone())
            .engine(world.journal.clone());
        builder.workflow(tree(&paid)).build().unwrap()
    };
    let first = tree(&paid);
    let mut stream = runner().run(&first, "go").stream();
    while let Some(event) = stream.next().await {
        event.unwrap();
    }
    let RunEnd::Paused(waiting) = stream.end() else {
        panic!()
    };
    let questions: Vec<_> = waiting
        .iter()
        .map(|one| (&*one.question, one.path.to_string()))
        .collect();
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
    assert_eq!(
        (open.len(), paid.load(SeqCst)),
        (1, 2),
        "an approved call runs at once"
    );
    other.answer(&waiting[0].id, false).await.unwrap();
    assert!(
        other
            .recover()
            .await
            .unwrap()
            .remove(0)
            .result
            .unwrap()
            .is_empty()
    );
    assert_eq!(paid.load(SeqCst), 2, "the sum was paid once");
    let last = tree(&paid);
    let outcome = other.resume(&last, waiting[0].run_id).await.unwrap();
    let report: String = outcome.get("report").unwrap().unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(&report).unwrap(),
        json!([
            {"error": "This tool call is rejected."},
            {"result": "nothing to see"},
            {"result": "paid 2"},
        ])
    );
    assert_eq!(outcome.get::<u32>("paid").unwrap(), Some(2));
}

#[tokio::test]
async fn callbacks_run_first_and_the_person_sees_their_changes() {
    let (world, paid) = (World::new(), Arc::new(AtomicU32::new(0)));
    let asked = Arc::new(Mutex::new(0));
    let count = asked.clone();
    let (own, money) = (asked, paid.clone());
    let make = move || {
        let (count, money) = (count.clone(), money.clone());
        let pay = FunctionTool::new(
            "pay",
            "Pays.",
            move |Sum { amount }: Sum, _: &mut ToolContext| {
                money.fetch_add(amount, SeqCst);
                "paid"
            },
        );
        let look = FunctionTool::new("look", "Looks.", |(): (), _: &mut ToolContext| "nothing");
        let agent = LlmAgent::builder("payer")
            .model(Banker)
            .tool(pay.writes::<u32>("paid").confirm(true))
            .tool(look)
            .before_tool(
                move |_: &mut adk_build::CallbackContext,
                      call: &mut FunctionCall|
                      -> Option<Value> {
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
        let builder = Runner::builder()
            .session_store(world.sessions.clone())
            .engine(world.journal.clone());
        builder.workflow(make()).build().unwrap()
    };
    let first = make();
    let error = runner().run(&first, "go").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Paused);
    let waiting = runner().waiting().await.unwrap();
    assert_eq!(waiting.len(), 1, "a callback has answered the other");
    assert_eq!(
        waiting[0].question,
        "May the tool `pay` be called with {\"amount\":20}?"
    );
    runner().answer(&waiting[0].id, true).await.unwrap();
    assert!(
        runner()
            .recover()
            .await
            .unwrap()
            .remove(0)
            .result
            .unwrap()
            .is_empty()
    );
    assert_eq!(
        (paid.load(SeqCst), *own.lock().unwrap()),
        (20, 3),
        "each callback was asked once"
    );
}

/// Makes a model that calls `pay` with each argument list of a turn, one turn after the other.
fn paying(turns: &[&[Value]]) -> ScriptedModel {
    let turns = turns.iter().fold(ScriptedModel::new(), |model, turn| {
        model.reply(
            turn.iter()
                .fold(Reply::new(), |reply, args| reply.call("pay", args.clone())),
        )
    });
    turns.text("Done.")
}

/// Questions and payments across processes.
struct Bank {
    world: World,
    model: ScriptedModel,
    paid: Arc<Mutex<Vec<u32>>>,
}

type Change = fn(&mut FunctionCall);

impl Bank {
    fn new(turns: &[&[Value]]) -> Self {
        Self {
            world: World::new(),
            model: paying(turns),
            paid: Arc::default(),
        }
    }

    /// Builds a tree whose tool asks about sums over `limit`, after a callback changed the call.
    fn tree(&self, limit: u32, change: Option<Change>) -> Tree {
        let paid = self.paid.clone();
        let pay = FunctionTool::new(
            "pay",
            "Pays.",
            move |Sum { amount }: Sum, _: &mut ToolContext| {
                paid.lock().unwrap().push(amount);
                format!("paid {amount}")
            },
        );
        let pay =
            pay.confirm_if(move |sum: &Sum| sum.amount.checked_sub(limit).expect("a sum") > 0);
        let payer = LlmAgent::builder("payer")
            .model(self.model.clone())
            .tool(pay);
        let payer = match change {
            Some(change) => payer.before_tool(
                move |_: &mut adk_build::CallbackContext,
                      call: &mut FunctionCall|
                      -> Option<Value> {
                    change(call);
                    None
                },
            ),
            None => payer,
        };
        Tree::new("w", vec![run(payer.build().unwrap())])
    }

    /// Builds the runner of a process that knows the workflow.
    fn process(&self, limit: u32, change: Option<Change>) -> Runner {
        let builder = Runner::builder().session_store(self.world.sessions.clone());
        builder
            .engine(self.world.journal.clone())
            .workflow(self.tree(limit, change))
            .build()
            .unwrap()
    }

    /// Runs until only a person can continue it.
    async fn begin(&self, limit: u32, change: Option<Change>) -> Vec<Waiting> {
        let (runner, tree) = (self.process(limit, change), self.tree(limit, change));
        let mut stream = runner.run(&tree, "go").stream();
        while let Some(event) = stream.next().await {
            event.unwrap();
        }
        match stream.end() {
            RunEnd::Paused(waiting) => waiting,
            RunEnd::Finished(_) => Vec::new(),
            other => panic!("{other:?}"),
        }
    }

    /// Recovers the run in another process and returns its waits.
    async fn recover(&self, limit: u32, change: Option<Change>) -> Vec<Waiting> {
        self.process(limit, change)
            .recover()
            .await
            .unwrap()
            .remove(0)
            .result
            .unwrap()
    }

    async fn answer(&self, waiting: &Waiting, yes: bool) {
        self.process(0, None)
            .answer(&waiting.id, yes)
            .await
            .unwrap();
    }

    fn paid(&self) -> Vec<u32> {
        self.paid.lock().unwrap().clone()
    }

    /// Returns the results that the model read in its last call.
    fn last_results(&self) -> Vec<Value> {
        let requests = self.model.requests();
        let parts = requests
            .last()
            .unwrap()
            .contents
            .iter()
            .flat_map(|content| &content.parts);
        let answers = parts.filter_map(|part| match part {
            Part::FunctionResponse(answer) => Some(json!(answer.response)),
            _ => None,
        });
        answers.collect()
    }
}

fn sum(amount: u32) -> Value {
    json!({"amount": amount})
}

fn questions(waiting: &[Waiting]) -> Vec<&str> {
    waiting.iter().map(|one| &*one.question).collect()
}

#[tokio::test]
async fn the_predicate_decides_and_unreadable_arguments_raise_no_question() {
    let bank = Bank::new(&[&[sum(100), sum(101), json!({"amount": "much"}), json!({})]]);
    let waiting = bank.begin(100, None).await;
    assert_eq!(
        questions(&waiting),
        ["May the tool `pay` be called with {\"amount\":101}?"]
    );
    assert_eq!(bank.paid(), [100], "a call without a question runs at once");
    bank.answer(&waiting[0], true).await;
    assert_eq!(bank.recover(100, None).await, []);
    assert_eq!(bank.paid(), [100, 101]);
    // The errors equal those of a tool without confirmation.
    let errors = [
        json!({"error": "argument `amount`: expected an integer (u32), got the string \"much\""}),
        json!({"error": "argument `amount` is missing: expected an integer (u32)"}),
    ];
    let [first, second] = errors;
    assert_eq!(
        bank.last_results(),
        [
            json!({"result": "paid 100"}),
            json!({"result": "paid 101"}),
            first,
            second
        ]
    );
}

#[tokio::test]
async fn a_panicking_predicate_is_a_tool_error_and_the_tool_does_not_run() {
    let bank = Bank::new(&[&[sum(1)]]);
    assert_eq!(bank.begin(100, None).await, []);
    assert!(bank.paid().is_empty());
    let error = bank.last_results().remove(0)["error"]
        .as_str()
        .unwrap()
        .to_owned();
    let start = "the confirmation predicate of tool `pay` panicked (reference ";
    assert!(error.starts_with(start), "{error}");
}

#[tokio::test]
async fn predicate_person_and_tool_see_arguments_changed_by_callbacks() {
    let bank = Bank::new(&[&[sum(60), sum(500)]]);
    // The callback changes 60 to 440 and 500 to 0.
    let change: Change = |call| {
        let amount = call.args["amount"].as_u64().unwrap_or_default();
        call.args.insert("amount".into(), json!(500 - amount));
    };
    let waiting = bank.begin(0, Some(change)).await;
    assert_eq!(
        questions(&waiting),
        ["May the tool `pay` be called with {\"amount\":440}?"]
    );
    assert_eq!(bank.paid(), [0]);
    bank.answer(&waiting[0], true).await;
    assert_eq!(bank.recover(0, Some(change)).await, []);
    assert_eq!(bank.paid(), [0, 440]);
}

#[tokio::test]
async fn an_answer_covers_one_call_once() {
    let bank = Bank::new(&[&[sum(7), sum(7)], &[sum(7)]]);
    let waiting = bank.begin(0, None).await;
    assert_eq!(
        waiting.len(),
        2,
        "two calls with the same arguments are two questions"
    );
    assert_ne!(waiting[0].id, waiting[1].id);
    bank.answer(&waiting[1], true).await;
    let open = bank.recover(0, None).await;
    assert_eq!(
        (open[0].id.clone(), open.len(), bank.paid()),
        (waiting[0].id.clone(), 1, vec![7])
    );
    bank.answer(&waiting[0], false).await;
    let again = bank.recover(0, None).await;
    assert_eq!(
        (questions(&again), bank.paid()),
        (questions(&waiting[..1]), vec![7]),
        "a later turn asks again"
    );
    assert!(waiting.iter().all(|one| one.id != again[0].id));
    // An answered question takes no other answer.
    let runner = bank.process(0, None);
    for answered in &waiting {
        assert_eq!(
            runner.answer(&answered.id, true).await.unwrap_err().kind(),
            ErrorKind::Answered
        );
    }
    bank.answer(&again[0], true).await;
    assert_eq!(bank.recover(0, None).await, []);
    assert_eq!(bank.paid(), [7, 7]);
    for gone in waiting.iter().chain(&again) {
        let error = runner.answer(&gone.id, true).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Answered, "{error}");
    }
}

#[tokio::test]
async fn a_call_of_a_cancelled_run_takes_no_answer() {
    let bank = Bank::new(&[&[sum(7)]]);
    let waiting = bank.begin(0, None).await;
    let runner = bank.process(0, None);
    runner.cancel(waiting[0].run_id).await.unwrap();
    drop(runner.recover().await.unwrap());
    let error = runner.answer(&waiting[0].id, true).await.unwrap_err();
    assert_eq!(
        (error.kind(), bank.paid()),
        (ErrorKind::UnknownWait, vec![]),
        "{error}"
    );
}

#[tokio::test]
async fn a_resumed_run_uses_the_displayed_arguments_despite_program_changes() {
    let more: Change = |call| {
        call.args.insert("amount".into(), json!(1_000_000));
    };
    for (yes, paid) in [(true, vec![7, 8]), (false, vec![7])] {
        let bank = Bank::new(&[&[sum(7), sum(8)]]);
        let waiting = bank.begin(7, None).await;
        assert_eq!(waiting.len(), 1);
        bank.answer(&waiting[0], yes).await;
        // The new program has another limit and a callback that raises the sum.
        assert_eq!(bank.recover(0, Some(more)).await, []);
        assert_eq!(bank.paid(), paid);
    }
}
