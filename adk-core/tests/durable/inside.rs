//! An agent that is used as a tool: its own calls are recorded one by one.

use super::crash::{Ended, World, drive};
use adk_core::llm::LlmAgent;
use adk_core::model::{Model, ModelChunk, ModelRequest, ModelResponse, ModelStream};
use adk_core::tool::FunctionTool;
use adk_core::{AgentTool, Content, FunctionCall, Part, Role};
use serde_json::{Map, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// Calls its tool as often as it is to, by what it sees of the conversation; counts.
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
        let answers = request.contents.iter().flat_map(Content::function_responses).count();
        let part = if answers < self.times {
            let args = Map::from_iter([("request".to_owned(), json!(format!("number {answers}")))]);
            Part::FunctionCall(FunctionCall {
                id: String::new(),
                name: self.tool.to_owned(),
                args,
                signature: None,
                malformed: None,
            })
        } else {
            Part::text(format!("after {answers} answers"))
        };
        let response = ModelResponse::new(Content::new(Role::Model, vec![part]));
        Box::pin(futures_util::stream::iter([Ok(ModelChunk::Done(response))]))
    }
}

/// A clerk who asks a reviewer twice, who looks something up each time.
fn clerk(asked: &Arc<AtomicUsize>, lookups: &Arc<AtomicUsize>) -> LlmAgent {
    let calls = |tool, times| Calls { tool, times, asked: asked.clone() };
    let count = lookups.clone();
    let look_up = FunctionTool::new("look_up", "Looks up.", move |_: Map<String, serde_json::Value>, _| {
        count.fetch_add(1, SeqCst);
        "found"
    });
    let reviewer =
        LlmAgent::builder("reviewer").description("Reviews.").model(calls("look_up", 1)).tool(look_up);
    let reviewer = AgentTool::new(reviewer.build().unwrap());
    LlmAgent::builder("clerk").model(calls("reviewer", 2)).tool(reviewer).build().unwrap()
}

#[tokio::test]
async fn a_crash_in_the_middle_of_it_repeats_none_of_its_calls() {
    let (mut at, mut kills) = (0, 0);
    loop {
        // Three calls of the clerk, twice two of the reviewer.
        let (asked, lookups) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let agent = clerk(&asked, &lookups);
        let (world, mut delivered) = (World::new(), Vec::new());
        let (runner, engine) = world.process(at);
        let ended = drive(runner.run(&agent, "go").stream(), &engine, &mut delivered).await;
        at += 1;
        if matches!(ended, Ended::Through) {
            assert_eq!((asked.load(SeqCst), lookups.load(SeqCst)), (7, 2));
            break;
        }
        let keys = world.sessions.list("app", None).await.unwrap();
        let session = world.sessions.get(&keys[0].key).await.unwrap().unwrap();
        let Some(run) = session.event(0).map(|event| event.invocation_id) else { continue };
        // That no recorded step is done again is what this engine looks at.
        let (runner, engine) = world.process(usize::MAX);
        let again = drive(runner.resume(&agent, run).stream(), &engine, &mut delivered).await;
        assert!(matches!(again, Ended::Through), "killed at {at}");
        kills += 1;
        let (asked, lookups) = (asked.load(SeqCst), lookups.load(SeqCst));
        assert!(asked + lookups <= 10, "killed at {at}: {asked} calls of models, {lookups} of the tool");
        assert_eq!(delivered.last().unwrap().text(), "after 2 answers");
    }
    assert!(kills > 30, "only {kills}");
}
