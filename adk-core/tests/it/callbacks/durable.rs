//! Callbacks and the journal: external effects happen once.

use super::*;
use crate::support::*;
use adk_build::engine::{
    self, Body, ClaimId, Engine, Reply, Retention, Roles, Slot, StepKey, Stored, Wait,
};
use adk_build::model::ModelRequest;
use adk_build::session::Location;
use adk_build::testing::Reply as ScriptedReply;
use adk_build::{Agent, AgentMeta, Context, Flow, FunctionCall, Plugin, Result, WithCallbacks};

/// A journal that records the steps of all runs by their path, and replays them.
#[derive(Clone, Default)]
struct Journal(Arc<Mutex<Vec<(String, Value)>>>);

impl Journal {
    fn keys(&self) -> Vec<String> {
        self.0
            .lock()
            .unwrap()
            .iter()
            .map(|(key, _)| key.clone())
            .collect()
    }
}

impl engine::Journal for Journal {
    fn commit<'a>(&'a self, slot: Slot, body: Body) -> Reply<'a, Result<Stored>> {
        Reply::Later(Box::pin(
            async move { Ok(slot.append(body.draft().await?)) },
        ))
    }
    fn step(
        &self,
        _: ClaimId,
        key: StepKey,
        work: BoxFuture<'static, Result<Value>>,
    ) -> BoxFuture<'_, Result<Value>> {
        Box::pin(async move {
            let key = key.to_string();
            let known = self
                .0
                .lock()
                .unwrap()
                .iter()
                .find(|(other, _)| *other == key)
                .map(|(_, value)| value.clone());
            match known {
                Some(value) => Ok(value),
                None => {
                    let value = work.await?;
                    self.0.lock().unwrap().push((key, value.clone()));
                    Ok(value)
                }
            }
        })
    }
    fn answer(&self, _: ClaimId, _: Wait) -> BoxFuture<'_, Result<Option<Value>>> {
        Box::pin(async { Ok(None) })
    }
}

impl Engine for Journal {
    fn retention(&self) -> Retention {
        Retention::Durable
    }
    fn location(&self) -> Location {
        Location::Memory
    }
    fn roles(&self) -> Roles<'_> {
        Roles {
            registry: None,
            waits: None,
            keys: None,
            driver: None,
            remote: None,
            timers: None,
        }
    }
}

#[tokio::test]
async fn steps_of_callbacks_are_numbered_by_their_names() {
    let journal = Journal::default();
    let agent = by("a", |cx| {
        let step = cx.step("own", async { Ok(1) });
        Box::pin(async move { step.await.map(|_: i32| adk_build::Flow::Continue) })
    });
    let agent = WithCallbacks::new(agent)
        .before_agent(async |cx: &mut CallbackContext| {
            cx.step("look", async { Ok(1) }).await.map(|_: i32| ())
        })
        .before_agent(async |cx: &mut CallbackContext| {
            cx.step("look", async { Ok(2) }).await.map(|_: i32| ())
        })
        .after_agent(async |cx: &mut CallbackContext| {
            cx.step("log", async { Ok(3) }).await.map(|_: i32| ())
        });
    let tree = Tree::new("w", vec![run(agent)]);
    assert!(
        drive(Runner::builder().engine(journal.clone()), &tree)
            .await
            .is_empty()
    );
    assert_eq!(
        journal.keys(),
        [
            "w/a:callback.look@0",
            "w/a:callback.look@1",
            "w/a:step.own@0",
            "w/a:callback.log@0"
        ]
    );
}

#[tokio::test]
async fn a_block_numbers_its_steps_from_begin_to_end() {
    let journal = Journal::default();
    let tree = Tree::new("w", vec![repeat("lp", Some(2), vec![run(say("a"))])]).on("lp", |own| {
        own.before(async |cx: &mut CallbackContext| {
            cx.step("x", async { Ok(1) }).await.map(|_: i32| ())
        });
        own.after(async |cx: &mut CallbackContext| {
            cx.step("x", async { Ok(2) }).await.map(|_: i32| ())
        });
    });
    drive(Runner::builder().engine(journal.clone()), &tree).await;
    assert_eq!(journal.keys(), ["w/lp:callback.x@0", "w/lp:callback.x@1"]);
}

/// External effects, in order.
static DONE: Mutex<Vec<&str>> = Mutex::new(Vec::new());

fn done(what: &'static str) {
    DONE.lock().unwrap().push(what);
}

fn take_done() -> Vec<&'static str> {
    std::mem::take(&mut DONE.lock().unwrap())
}

/// Changes a request in a step. An `async` closure that is a callback captures nothing, so other
/// callbacks are functions or plugins.
async fn ask_policy(cx: &mut CallbackContext, request: &mut ModelRequest) -> Result<()> {
    let policy = async {
        done("policy");
        Ok("Be kind.".to_owned())
    };
    request
        .system_instruction
        .push_str(&cx.step("policy", policy).await?);
    Ok(())
}

async fn add_more(cx: &mut CallbackContext, _: &FunctionCall, result: &mut Value) -> Result<()> {
    let more = async {
        done("after");
        Ok(10)
    };
    *result = json!(result.as_i64().unwrap_or_default() + cx.step("more", more).await?);
    Ok(())
}

/// Runs twice with one journal: external effects of tools and their callbacks happen in the first
/// run only.
#[tokio::test]
async fn tool_callbacks_are_part_of_the_call_record_and_model_callbacks_take_steps() {
    let (journal, trace) = (Journal::default(), Trace::default());
    let model = ScriptedModel::new()
        .call("add", json!({"a": 1, "b": 2}))
        .text("3");
    let tree = || {
        let mut agent = llm();
        agent
            .add_tool(add(&trace))
            .add_before_tool(|cx: &mut CallbackContext, _: &mut FunctionCall| {
                done("before");
                cx.state().set("seen", 1)
            })
            .add_after_tool(add_more)
            .add_before_model(ask_policy);
        Tree::new("w", vec![run(agent)])
    };
    let first = drive(modelled(&model).engine(journal.clone()), &tree()).await;
    assert_eq!(first[1], r#"a:  seen=1 add->{"result":13}"#);
    assert_eq!(
        (take_done(), trace.take().len()),
        (vec!["policy", "before", "after", "policy"], 1)
    );
    let second = drive(modelled(&model).engine(journal.clone()), &tree()).await;
    assert_eq!(second, first);
    assert!(
        take_done().is_empty() && trace.take().is_empty(),
        "every step was replayed from the record"
    );
    assert_eq!(
        journal.keys(),
        [
            "w/a:callback.policy@0",
            "w/a:model@0",
            "w/a:tool.add@0",
            "w/a:callback.policy@1",
            "w/a:model@1"
        ]
    );
    assert!(
        model
            .requests()
            .iter()
            .all(|request| request.system_instruction.ends_with("Be kind."))
    );
}

/// A plugin that sees each event and may take a step at it.
struct Watching {
    steps: bool,
}

impl Plugin for Watching {
    fn name(&self) -> &str {
        "watching"
    }

    async fn on_event(&self, cx: &mut CallbackContext, _: &Event) -> Result<Option<Event>> {
        if self.steps {
            cx.step("seen", async { Ok(()) }).await?;
        }
        Ok(None)
    }
}

/// Plugins see the pieces of a streamed reply. The pieces change neither what a run commits nor the
/// numbers of its recorded calls.
#[tokio::test]
async fn pieces_of_a_reply_change_no_write_and_no_call_number() {
    for steps in [None, Some(false), Some(true)] {
        let mut runs = Vec::new();
        for streams in [false, true] {
            let (journal, trace) = (Journal::default(), Trace::default());
            let mut agent = llm();
            agent.add_tool(add(&trace)).add_before_model(
                |cx: &mut CallbackContext, _: &mut ModelRequest| cx.state().set("asked", true),
            );
            let reply = ScriptedReply::new()
                .text("let me see")
                .call("add", json!({"a": 1, "b": 2}))
                .pieces(["let me ", "see"]);
            let model = ScriptedModel::new().reply(reply).text("3");
            let mut builder = Runner::builder()
                .model(model)
                .config(any_key().streaming(streams))
                .engine(journal.clone());
            if let Some(steps) = steps {
                builder = builder.plugin(Watching { steps });
            }
            let runner: Runner = builder.build().unwrap();
            let tree = Tree::new("w", vec![run(agent)]);
            let mut stream = runner.run(&tree, "go").stream();
            let (mut pieces, mut complete) = (0, Vec::new());
            while let Some(event) = stream.next().await {
                let event = event.unwrap();
                if event.partial {
                    pieces += 1;
                } else {
                    complete.push(short(&event));
                }
            }
            assert_eq!(pieces > 0, streams);
            assert_eq!(trace.take().len(), 1, "{steps:?}, streams: {streams}");
            runs.push((complete, journal.keys()));
        }
        assert!(runs[0].0.iter().any(|event| event.contains("asked=true")));
        assert_eq!(runs[0], runs[1], "steps of the plugin: {steps:?}");
    }
}

/// A plugin that refuses an event: by an error, or by an event that it may not make.
struct Refusing {
    fails: bool,
}

impl Plugin for Refusing {
    fn name(&self) -> &str {
        "refusing"
    }

    async fn on_event(&self, cx: &mut CallbackContext, _: &Event) -> Result<Option<Event>> {
        cx.step("seen", async { Ok(()) }).await?;
        if self.fails {
            return Err(adk_build::Error::other("refused"));
        }
        let mut event = Event::new();
        event.actions.state_delta = [("unannounced", json!(1))].into_iter().collect();
        Ok(Some(event))
    }
}

/// An agent that continues after a refused event.
struct Continuing;

impl Agent for Continuing {
    const META: AgentMeta<'static> = AgentMeta::custom("a");

    async fn run(&self, cx: &mut Context) -> Result<Flow> {
        for turn in 1..=2 {
            let value: i32 = cx.step("own", async move { Ok(turn) }).await?;
            assert_eq!(value, turn);
            assert!(cx.emit(Event::new().with_text("hello")).await.is_err());
        }
        Ok(Flow::Continue)
    }
}

/// The calls after a refused event have new numbers.
#[tokio::test]
async fn a_refused_event_changes_no_call_number() {
    for fails in [true, false] {
        let journal = Journal::default();
        let builder = Runner::builder()
            .engine(journal.clone())
            .plugin(Refusing { fails });
        let runner: Runner = builder.build().unwrap();
        let tree = Tree::new("w", vec![run(Continuing)]);
        runner.run(&tree, "go").await.unwrap();
        assert_eq!(
            journal.keys(),
            [
                "w/a:step.own@0",
                "w/a:callback.seen@0",
                "w/a:step.own@1",
                "w/a:callback.seen@1"
            ]
        );
    }
}
