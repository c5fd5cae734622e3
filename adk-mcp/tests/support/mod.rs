//! An agent that makes calls from a script, and records their answers.

use adk_build::engine::MemoryJournal;
use adk_build::llm::LlmAgent;
use adk_build::testing::{Reply, ScriptedModel};
use adk_build::tool::DeclaredToolset;
use adk_build::{Content, Error, ErrorKind, MemoryArtifacts, Result, Runner, Tree};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Result of a run.
#[allow(dead_code, reason = "each test looks at something else")]
pub struct RunResult {
    /// Answers to the calls, in their order.
    pub answers: Vec<Map<String, Value>>,
    /// Tool names of the first model request.
    pub tools: Vec<String>,
    /// Descriptions of the tools.
    pub described: Vec<String>,
    /// Names of the saved artifacts.
    pub artifacts: Vec<String>,
}

impl RunResult {
    /// Returns the text of a call's result.
    pub fn result(&self, call: usize) -> &str {
        self.answers[call]
            .get("result")
            .and_then(Value::as_str)
            .unwrap_or_else(|| {
                panic!("call {call} was answered with {:?}", self.answers[call]);
            })
    }

    /// Returns the text of a call's error.
    pub fn error(&self, call: usize) -> &str {
        self.answers[call]
            .get("error")
            .and_then(Value::as_str)
            .unwrap_or_else(|| {
                panic!("call {call} was answered with {:?}", self.answers[call]);
            })
    }
}

/// Makes calls one after the other.
pub async fn calls(
    toolset: impl Into<DeclaredToolset>,
    calls: &[(&str, Value)],
) -> Result<RunResult> {
    let mut model = ScriptedModel::new();
    for (name, args) in calls {
        model = model.call(*name, args.clone());
    }
    let model = model.text("done");
    let agent = LlmAgent::builder("clerk")
        .toolset(toolset)
        .build()
        .expect("an agent");
    let runner: Runner = Runner::builder()
        .model(model.clone())
        .artifact_store(MemoryArtifacts::new())
        .build()?;
    let agent = Tree::of(Arc::new(agent)).expect("a tree");
    let mut stream = runner.run(&agent, "go").stream();
    let (mut answers, mut artifacts) = (Vec::new(), Vec::new());
    while let Some(event) = stream.next().await {
        let event = event?;
        artifacts.extend(
            event
                .actions
                .artifact_delta
                .iter()
                .map(|(name, _)| name.to_string()),
        );
        answers.extend(
            event
                .function_responses()
                .map(|answer| answer.response.clone()),
        );
    }
    let offered = model.requests()[0].tools.clone();
    let tools = offered.iter().map(|tool| tool.name.to_string()).collect();
    let described = offered
        .iter()
        .map(|tool| tool.description.to_string())
        .collect();
    Ok(RunResult {
        answers,
        tools,
        described,
        artifacts,
    })
}

/// Makes the calls of one turn in a run that waits for the given answers, one after the other.
/// `process` returns the toolset of each process that continues the run. Returns the questions, and
/// the answers that the model reads.
#[allow(dead_code, reason = "each test looks at something else")]
pub async fn run_with_answers<T: Into<DeclaredToolset>>(
    process: impl Fn() -> T,
    calls: &[(&str, Value)],
    answers: &[Value],
) -> (Vec<String>, Vec<Map<String, Value>>) {
    let reply = calls.iter().fold(Reply::new(), |reply, (name, args)| {
        reply.call(*name, args.clone())
    });
    let model = ScriptedModel::new().reply(reply).text("done");
    let runner: Runner = Runner::builder()
        .model(model.clone())
        .engine(MemoryJournal::new())
        .build()
        .expect("a runner");
    let tree = || {
        let agent = LlmAgent::builder("clerk")
            .toolset(process())
            .build()
            .expect("an agent");
        Tree::of(Arc::new(agent)).expect("a tree")
    };
    let mut ended = runner.run(&tree(), "go").await.map(drop);
    let mut questions = Vec::new();
    for answer in answers {
        assert_eq!(ended.expect_err("it waits").kind(), ErrorKind::Paused);
        let waiting = runner.waiting().await.expect("the waits").remove(0);
        runner
            .answer(&waiting.id, answer)
            .await
            .expect("it is open");
        questions.push(waiting.question);
        ended = runner.resume(&tree(), waiting.run_id).await.map(drop);
    }
    ended.expect("all is answered");
    let requests = model.requests();
    let told = requests
        .last()
        .expect("a request")
        .contents
        .iter()
        .flat_map(Content::function_responses);
    (
        questions,
        told.map(|answer| answer.response.clone()).collect(),
    )
}

/// Returns the error of a run that fails before its first call.
pub async fn run_error(toolset: impl Into<DeclaredToolset>) -> Error {
    calls(toolset, &[])
        .await
        .map(|heard| heard.tools)
        .expect_err("the run fails")
}
