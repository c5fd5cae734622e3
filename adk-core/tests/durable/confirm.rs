//! `#[tool(confirm)]`: a person has to agree before the tool runs.

use super::crash::World;
use crate::support::*;
use adk_core::llm::LlmAgent;
use adk_core::model::{Model, ModelChunk, ModelRequest, ModelResponse, ModelStream};
use adk_core::testing::{Reply, ScriptedModel};
use adk_core::tool::FunctionTool;
use adk_core::{Content, ErrorKind, FunctionCall, Part, Role, RunEnd, Runner, ToolContext, Waiting};
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
            Part::from(FunctionCall { name: name.into(), args, ..FunctionCall::default() })
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
    let look = look.confirm_if(|(): &()| false);
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

/// Calls `pay` with each of these in one turn, then with each of the next list, and so on.
fn paying(turns: &[&[Value]]) -> ScriptedModel {
    let turns = turns.iter().fold(ScriptedModel::new(), |model, turn| {
        model.reply(turn.iter().fold(Reply::new(), |reply, args| reply.call("pay", args.clone())))
    });
    turns.text("Done.")
}

/// What is asked and paid, whatever processes do it.
struct Bank {
    world: World,
    model: ScriptedModel,
    paid: Arc<Mutex<Vec<u32>>>,
}

type Change = fn(&mut FunctionCall);

impl Bank {
    fn new(turns: &[&[Value]]) -> Self {
        Self { world: World::new(), model: paying(turns), paid: Arc::default() }
    }

    /// A person agrees to sums over a limit, after a callback has changed the call.
    fn tree(&self, limit: u32, change: Option<Change>) -> Tree {
        let paid = self.paid.clone();
        let pay = FunctionTool::new("pay", "Pays.", move |Sum { amount }: Sum, _: &mut ToolContext| {
            paid.lock().unwrap().push(amount);
            format!("paid {amount}")
        });
        let pay = pay.confirm_if(move |sum: &Sum| sum.amount.checked_sub(limit).expect("a sum") > 0);
        let payer = LlmAgent::builder("payer").model(self.model.clone()).tool(pay);
        let payer = match change {
            Some(change) => payer.before_tool(
                move |_: &mut adk_core::CallbackContext, call: &mut FunctionCall| -> Option<Value> {
                    change(call);
                    None
                },
            ),
            None => payer,
        };
        Tree::new("w", vec![run(payer.build().unwrap())])
    }

    /// A process that knows the workflow.
    fn process(&self, limit: u32, change: Option<Change>) -> Runner {
        let builder = Runner::builder().session_store(self.world.sessions.clone());
        builder.engine(self.world.journal.clone()).workflow(self.tree(limit, change)).build().unwrap()
    }

    /// Runs as far as it goes without a person.
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

    /// Goes on in another process; who waits then.
    async fn recover(&self, limit: u32, change: Option<Change>) -> Vec<Waiting> {
        self.process(limit, change).recover().await.unwrap().remove(0).result.unwrap()
    }

    async fn answer(&self, waiting: &Waiting, yes: bool) {
        self.process(0, None).answer(&waiting.id, yes).await.unwrap();
    }

    fn paid(&self) -> Vec<u32> {
        self.paid.lock().unwrap().clone()
    }

    /// What the model has read in its last call.
    fn told(&self) -> Vec<Value> {
        let requests = self.model.requests();
        let parts = requests.last().unwrap().contents.iter().flat_map(|content| &content.parts);
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

fn asked(waiting: &[Waiting]) -> Vec<&str> {
    waiting.iter().map(|one| &*one.question).collect()
}

#[tokio::test]
async fn the_predicate_decides_and_nobody_is_asked_about_arguments_that_cannot_be_read() {
    let bank = Bank::new(&[&[sum(100), sum(101), json!({"amount": "much"}), json!({})]]);
    let waiting = bank.begin(100, None).await;
    assert_eq!(asked(&waiting), ["May the tool `pay` be called with {\"amount\":101}?"]);
    assert_eq!(bank.paid(), [100], "what needs no agreement runs at once");
    bank.answer(&waiting[0], true).await;
    assert_eq!(bank.recover(100, None).await, []);
    assert_eq!(bank.paid(), [100, 101]);
    // The errors are those of a tool that asks nobody.
    let errors = [
        json!({"error": "argument `amount`: expected an integer (u32), got the string \"much\""}),
        json!({"error": "argument `amount` is missing: expected an integer (u32)"}),
    ];
    let [first, second] = errors;
    assert_eq!(bank.told(), [json!({"result": "paid 100"}), json!({"result": "paid 101"}), first, second]);
}

#[tokio::test]
async fn a_predicate_that_panics_is_an_error_of_the_tool_which_does_not_run() {
    let bank = Bank::new(&[&[sum(1)]]);
    assert_eq!(bank.begin(100, None).await, []);
    assert!(bank.paid().is_empty());
    let error = bank.told().remove(0)["error"].as_str().unwrap().to_owned();
    assert_eq!(error, "the confirmation predicate of tool `pay` panicked: a sum");
}

#[tokio::test]
async fn predicate_person_and_tool_see_what_callbacks_have_made_of_the_arguments() {
    let bank = Bank::new(&[&[sum(60), sum(500)]]);
    // 60 becomes 440, 500 becomes 0.
    let change: Change = |call| {
        let amount = call.args["amount"].as_u64().unwrap_or_default();
        call.args.insert("amount".into(), json!(500 - amount));
    };
    let waiting = bank.begin(0, Some(change)).await;
    assert_eq!(asked(&waiting), ["May the tool `pay` be called with {\"amount\":440}?"]);
    assert_eq!(bank.paid(), [0]);
    bank.answer(&waiting[0], true).await;
    assert_eq!(bank.recover(0, Some(change)).await, []);
    assert_eq!(bank.paid(), [0, 440]);
}

#[tokio::test]
async fn an_answer_covers_one_call_once() {
    let bank = Bank::new(&[&[sum(7), sum(7)], &[sum(7)]]);
    let waiting = bank.begin(0, None).await;
    assert_eq!(waiting.len(), 2, "two calls with the same arguments are two questions");
    assert_ne!(waiting[0].id, waiting[1].id);
    bank.answer(&waiting[1], true).await;
    let open = bank.recover(0, None).await;
    assert_eq!((open[0].id.clone(), open.len(), bank.paid()), (waiting[0].id.clone(), 1, vec![7]));
    bank.answer(&waiting[0], false).await;
    let again = bank.recover(0, None).await;
    assert_eq!((asked(&again), bank.paid()), (asked(&waiting[..1]), vec![7]), "a later turn asks again");
    assert!(waiting.iter().all(|one| one.id != again[0].id));
    // What has its answer takes no other.
    let runner = bank.process(0, None);
    for answered in &waiting {
        assert_eq!(runner.answer(&answered.id, true).await.unwrap_err().kind(), ErrorKind::Answered);
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
async fn a_call_of_a_run_that_was_cancelled_takes_no_answer() {
    let bank = Bank::new(&[&[sum(7)]]);
    let waiting = bank.begin(0, None).await;
    let runner = bank.process(0, None);
    runner.cancel(waiting[0].run_id).await.unwrap();
    drop(runner.recover().await.unwrap());
    let error = runner.answer(&waiting[0].id, true).await.unwrap_err();
    assert_eq!((error.kind(), bank.paid()), (ErrorKind::UnknownWait, vec![]), "{error}");
}

#[tokio::test]
async fn a_resumed_run_keeps_to_what_was_shown_whatever_the_program_has_become() {
    let more: Change = |call| {
        call.args.insert("amount".into(), json!(1_000_000));
    };
    for (yes, paid) in [(true, vec![7, 8]), (false, vec![7])] {
        let bank = Bank::new(&[&[sum(7), sum(8)]]);
        let waiting = bank.begin(7, None).await;
        assert_eq!(waiting.len(), 1);
        bank.answer(&waiting[0], yes).await;
        // The new program has another limit, and a callback that raises the sum.
        assert_eq!(bank.recover(0, Some(more)).await, []);
        assert_eq!(bank.paid(), paid);
    }
}
