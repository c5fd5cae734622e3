//! Agents as tools: their own calls are recorded one by one.

use super::crash::{Ended, World, drive};
use adk_build::llm::LlmAgent;
use adk_build::model::{Model, ModelChunk, ModelRequest, ModelResponse, ModelStream, Usage};
use adk_build::tool::FunctionTool;
use adk_build::{
    AgentTool, CallbackContext, Content, ErrorKind, FunctionCall, Part, Role, RunConfig, RunEnd,
    SequentialAgent,
};
use serde_json::{Map, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// A model that calls its tool `times` times, judged by the conversation, and counts its calls.
#[derive(Clone)]
struct Calls {
    tool: &'static str,
    times: usize,
    asked: Arc<AtomicUsize>,
}

impl Model for Calls {
    fn name(&self) -> &str {
        "calls"
    }

    fn generate(&self, request: Arc<ModelRequest>) -> ModelStream {
        self.asked.fetch_add(1, SeqCst);
        let answers = request
            .contents
            .iter()
            .flat_map(Content::function_responses)
            .count();
        let part = if answers < self.times {
            let args = Map::from_iter([("request".to_owned(), json!(format!("number {answers}")))]);
            Part::from(FunctionCall {
                id: String::new(),
                name: self.tool.to_owned(),
                args,
                signature: None,
                malformed: None,
            })
        } else {
            Part::text(format!("after {answers} answers"))
        };
        let response =
            ModelResponse::new(Content::new(Role::Model, vec![part])).with_usage(Usage::new(10, 1));
        Box::pin(futures_util::stream::iter([Ok(ModelChunk::Done(response))]))
    }
}

/// Makes a clerk that asks a reviewer twice; the reviewer looks something up each time.
fn clerk(asked: &Arc<AtomicUsize>, lookups: &Arc<AtomicUsize>) -> LlmAgent {
    let calls = |tool, times| Calls {
        tool,
        times,
        asked: asked.clone(),
    };
    let count = lookups.clone();
    let look_up = FunctionTool::new(
        "look_up",
        "Looks up.",
        move |_: Map<String, serde_json::Value>, _| {
            count.fetch_add(1, SeqCst);
            "found"
        },
    );
    let reviewer = LlmAgent::builder("reviewer")
        .description("Reviews.")
        .model(calls("look_up", 1))
        .tool(look_up);
    let reviewer = AgentTool::new(reviewer.build().unwrap());
    LlmAgent::builder("clerk")
        .model(calls("reviewer", 2))
        .tool(reviewer)
        .build()
        .unwrap()
}

#[tokio::test]
async fn a_crash_inside_an_agent_tool_repeats_none_of_its_calls() {
    let (mut at, mut kills) = (0, 0);
    loop {
        // The clerk makes three calls, and the reviewer two in each of its two turns.
        let (asked, lookups) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let agent = clerk(&asked, &lookups);
        let (world, mut delivered) = (World::new(), Vec::new());
        let (runner, engine) = world.process(at);
        let ended = drive(runner.run(&agent, "go").stream(), &engine, &mut delivered).await;
        at += 1;
        if matches!(ended, Ended::Through(_)) {
            assert_eq!((asked.load(SeqCst), lookups.load(SeqCst)), (7, 2));
            break;
        }
        let keys = world.sessions.list("app", None, "").await.unwrap();
        let session = world.sessions.get(&keys[0].key).await.unwrap().unwrap();
        let Some(run) = session.event(0).map(|event| event.invocation_id) else {
            continue;
        };
        // The engine asserts that no recorded step is executed again.
        let (runner, engine) = world.process(usize::MAX);
        let again = drive(runner.resume(&agent, run).stream(), &engine, &mut delivered).await;
        assert!(matches!(again, Ended::Through(_)), "killed at {at}");
        kills += 1;
        let (asked, lookups) = (asked.load(SeqCst), lookups.load(SeqCst));
        assert!(
            asked + lookups <= 10,
            "killed at {at}: {asked} calls of models, {lookups} of the tool"
        );
        assert_eq!(delivered.last().unwrap().text(), "after 2 answers");
    }
    assert!(kills > 30, "only {kills}");
}

/// Makes a clerk whose reviewer gets its one call of `look_up` from a callback, with `version` as
/// argument.
fn clerk_of(version: u64, lookups: &Arc<AtomicUsize>) -> LlmAgent {
    let asked = Arc::<AtomicUsize>::default();
    let calls = |tool, times| Calls {
        tool,
        times,
        asked: asked.clone(),
    };
    let count = lookups.clone();
    let look_up = FunctionTool::new(
        "look_up",
        "Looks up.",
        move |_: Map<String, serde_json::Value>, _| {
            count.fetch_add(1, SeqCst);
            "found"
        },
    );
    let from_callback = move |_: &mut CallbackContext, request: &mut ModelRequest| {
        let is_first = request
            .contents
            .iter()
            .flat_map(Content::function_responses)
            .count()
            == 0;
        let args = Map::from_iter([("version".to_owned(), json!(version))]);
        let call = FunctionCall {
            name: "look_up".to_owned(),
            args,
            ..FunctionCall::default()
        };
        is_first.then(|| ModelResponse::new(Content::new(Role::Model, vec![Part::from(call)])))
    };
    let reviewer = LlmAgent::builder("reviewer")
        .description("Reviews.")
        .model(calls("none", 0));
    let reviewer = reviewer
        .tool(look_up)
        .before_model(from_callback)
        .build()
        .unwrap();
    LlmAgent::builder("clerk")
        .model(calls("reviewer", 1))
        .tool(AgentTool::new(reviewer))
        .build()
        .unwrap()
}

#[tokio::test]
async fn a_call_that_differs_from_its_record_ends_the_run_before_any_call() {
    let (mut diverged, mut in_flight, mut at) = (0, 0, 0);
    loop {
        let lookups = Arc::<AtomicUsize>::default();
        let (world, mut delivered) = (World::new(), Vec::new());
        let (runner, engine) = world.process(at);
        let (then, now) = (clerk_of(1, &lookups), clerk_of(2, &lookups));
        at += 1;
        let ended = drive(runner.run(&then, "go").stream(), &engine, &mut delivered).await;
        if matches!(ended, Ended::Through(_)) {
            break;
        }
        let before = lookups.load(SeqCst);
        let Some(run) = delivered.first().map(|event| event.invocation_id) else {
            continue;
        };
        let (runner, _) = world.process(usize::MAX);
        let Err(error) = runner.resume(&now, run).await else {
            // A call whose record was not stored yet is executed once more.
            in_flight += lookups.load(SeqCst) - 1;
            continue;
        };
        assert_eq!(
            (error.kind(), before, lookups.load(SeqCst)),
            (ErrorKind::Diverged, 1, 1),
            "{error}"
        );
        assert!(
            error.message().starts_with("call 1 of tool `look_up`"),
            "{error}"
        );
        assert!(
            error
                .help()
                .is_some_and(|help| help.contains("`clerk/reviewer`")),
            "{error}"
        );
        diverged += 1;
    }
    assert!(diverged > 2 && in_flight == 1, "{diverged}, {in_flight}");
}

/// Runs a clerk and one more agent with at most `max` model calls, kills the process at a point,
/// and resumes the run. Returns the end of the second process, or `None` if the first was not
/// killed.
async fn resumed_after_kill(at: usize, max: u32) -> Option<Result<Usage, ErrorKind>> {
    let (asked, lookups) = (Arc::default(), Arc::default());
    // The last agent adds a point at which the clerk has finished.
    let last = Calls {
        tool: "none",
        times: 0,
        asked: Arc::clone(&asked),
    };
    let agents = (
        clerk(&asked, &lookups),
        LlmAgent::builder("last").model(last).build().unwrap(),
    );
    let tree = SequentialAgent::builder("w")
        .sub_agents(agents)
        .build()
        .unwrap();
    let (world, mut first) = (World::new(), None);
    for at in [at, usize::MAX] {
        let (runner, engine) = world.process(at);
        let request = match first {
            None => runner
                .run(&tree, "go")
                .config(RunConfig::new().max_llm_calls(max)),
            // The run keeps its original settings.
            Some(run) => runner.resume(&tree, run),
        };
        let mut stream = request.stream();
        loop {
            let event = tokio::select! {
                biased;
                () = engine.crashed.notified() => break,
                event = stream.next() => event,
            };
            match event {
                Some(Ok(_)) => {}
                Some(Err(error)) => return first.map(|_| Err(error.kind())),
                None => {
                    let RunEnd::Finished(outcome) = stream.end() else {
                        panic!("killed at {at}: the run did not end")
                    };
                    return first.map(|_| Ok(outcome.usage));
                }
            }
        }
        let keys = world.sessions.list("app", None, "").await.unwrap();
        let session = world.sessions.get(&keys[0].key).await.unwrap().unwrap();
        first = session.event(0).map(|event| event.invocation_id);
        first?;
    }
    None
}

#[tokio::test]
async fn recorded_usage_counts_in_a_resumed_run() {
    let mut kills = 0;
    for at in 1..200 {
        if let Some(ended) = resumed_after_kill(at, 8).await {
            let usage = ended.unwrap();
            assert_eq!(
                (usage.calls, usage.input_tokens, usage.output_tokens),
                (8, 80, 8),
                "killed at {at}"
            );
            kills += 1;
        }
        if let Some(ended) = resumed_after_kill(at, 7).await {
            assert_eq!(
                ended.unwrap_err(),
                ErrorKind::LlmCallsExceeded,
                "killed at {at}"
            );
        }
    }
    assert!(kills > 30, "only {kills}");
}
