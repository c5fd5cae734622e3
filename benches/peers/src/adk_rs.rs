//! The scenarios on adk-rs.
//!
//! The `Runner` of adk-rs reads the whole session at each event, so it is used only for single runs
//! and for the scenarios with texts, keys and chunks. The other scenarios run the agent without a
//! `Runner`: nothing is stored, so their times are lower bounds.

use crate::job::{Emits, Job, Result, Sample};
use crate::rows::Scenario;
use adk_rs::Runner;
use adk_rs::agents::{
    BaseAgent, IncludeContents, LlmAgent, LoopAgent, ParallelAgent, SequentialAgent,
};
use adk_rs::core::{
    CancellationToken, Event, EventStream, InvocationContext, InvocationOrigin, LlmRequest,
    LlmResponse, LlmResponseStream, Model, RunConfig, Session, SessionService, StreamingMode,
};
use adk_rs::genai_types::{Content, FunctionCall, Part};
use adk_rs::services::mem::InMemorySessionService;
use adk_rs::tools::FunctionTool;
use async_trait::async_trait;
use futures_util::{StreamExt, stream};
use parking_lot::Mutex;
use serde_json::json;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

#[derive(Debug)]
struct AdkRsAgent {
    name: String,
    emits: Emits,
}

#[async_trait]
impl BaseAgent for AdkRsAgent {
    fn name(&self) -> &str {
        &self.name
    }
    async fn run(
        self: Arc<Self>,
        cx: Arc<InvocationContext>,
    ) -> adk_rs::Result<EventStream<'static>> {
        if self.emits == Emits::Nothing {
            return Ok(Box::pin(stream::empty()));
        }
        let mut event = Event::new(self.name.clone(), text("hello world 1234"));
        event.invocation_id = cx.invocation_id.clone();
        if self.emits == Emits::Key {
            event.actions.state_delta.insert("counter".into(), json!(1));
        }
        Ok(Box::pin(stream::once(async move { Ok(event) })))
    }
}

/// A model that calls `tools` tools in every second reply. Without tools, each reply is text.
#[derive(Debug, Default)]
struct AdkRsScripted {
    tools: usize,
    calls: AtomicUsize,
}

#[async_trait]
impl Model for AdkRsScripted {
    fn name(&self) -> &str {
        "scripted"
    }
    fn supported_models(&self) -> &'static [&'static str] {
        &["scripted"]
    }
    async fn generate_content(&self, _: LlmRequest) -> adk_rs::Result<LlmResponse> {
        let number = self.calls.fetch_add(1, Relaxed);
        let call = |i| {
            FunctionCall::new("add", json!({"a": 1, "b": 2})).with_id(format!("call-{number}-{i}"))
        };
        let mut content = Content::model_text("a short draft of the document");
        if self.tools > 0 && number.is_multiple_of(2) {
            content.parts = (0..self.tools)
                .map(|i| Part::FunctionCall(call(i)))
                .collect();
        }
        Ok(LlmResponse {
            content: Some(content),
            ..Default::default()
        })
    }
}

/// A model that streams this number of chunks.
#[derive(Debug)]
struct AdkRsChunks(usize);

#[async_trait]
impl Model for AdkRsChunks {
    fn name(&self) -> &str {
        "chunks"
    }
    fn supported_models(&self) -> &'static [&'static str] {
        &["chunks"]
    }
    async fn generate_content(&self, _: LlmRequest) -> adk_rs::Result<LlmResponse> {
        Ok(text("word "))
    }
    async fn stream_generate_content(&self, _: LlmRequest) -> adk_rs::Result<LlmResponseStream> {
        Ok(Box::pin(stream::iter(
            (0..self.0).map(|_| Ok(text("word "))),
        )))
    }
}

/// A model that never replies.
#[derive(Debug)]
struct AdkRsNever;

#[async_trait]
impl Model for AdkRsNever {
    fn name(&self) -> &str {
        "never"
    }
    fn supported_models(&self) -> &'static [&'static str] {
        &["never"]
    }
    async fn generate_content(&self, _: LlmRequest) -> adk_rs::Result<LlmResponse> {
        std::future::pending().await
    }
}

fn text(text: &str) -> LlmResponse {
    LlmResponse {
        content: Some(Content::model_text(text)),
        ..Default::default()
    }
}

fn custom(name: &str, emits: Emits) -> Arc<dyn BaseAgent> {
    Arc::new(AdkRsAgent {
        name: name.into(),
        emits,
    })
}

fn llm(
    name: &str,
    instruction: &str,
    key: &str,
    contents: IncludeContents,
) -> Result<Arc<dyn BaseAgent>> {
    let model: Arc<dyn Model> = Arc::new(AdkRsScripted::default());
    let agent = LlmAgent::builder(name)
        .model(model)
        .instruction(instruction)
        .output_key(key);
    Ok(Arc::new(agent.include_contents(contents).build()?))
}

fn writer_and_critic(contents: IncludeContents) -> Result<Vec<Arc<dyn BaseAgent>>> {
    let writer = llm(
        "writer",
        "Refine the draft: {criticism?}",
        "draft",
        contents,
    )?;
    let critic = llm(
        "critic",
        "Criticise the draft: {draft?}",
        "criticism",
        contents,
    )?;
    Ok(vec![writer, critic])
}

pub async fn run(job: Job) -> Result<Option<Sample>> {
    let Job {
        scenario,
        width,
        size,
    } = job;
    let custom_pair = |emits| vec![custom("a", emits), custom("b", emits)];
    let sample = match scenario {
        Scenario::Text => stored_loop(custom_pair(Emits::Text), size).await?,
        Scenario::Key => stored_loop(custom_pair(Emits::Key), size).await?,
        Scenario::Silent => run_loop(custom_pair(Emits::Nothing), size / 2, size).await?,
        Scenario::Blocks => run_loop(vec![blocks(width)?], size, size).await?,
        Scenario::History => {
            run_loop(writer_and_critic(IncludeContents::Default)?, size / 2, size).await?
        }
        Scenario::NoHistory => {
            run_loop(writer_and_critic(IncludeContents::None)?, size / 2, size).await?
        }
        Scenario::Alone => {
            let refiner = llm(
                "refiner",
                "Refine the draft: {draft?}",
                "draft",
                IncludeContents::None,
            )?;
            run_loop(vec![refiner], size, size).await?
        }
        Scenario::Parallel => parallel(width, size).await?,
        Scenario::Tools => tools(width, size).await?,
        Scenario::Session => session(size).await?,
        Scenario::Run => runs(size).await?,
        Scenario::Chunks => chunks(width, size).await?,
        Scenario::Waiting => run_waiting(size).await?,
        Scenario::Each | Scenario::Workflows | Scenario::SilentParallel => return Ok(None),
    };
    Ok(Some(sample))
}

/// Runs an agent without a `Runner` and returns the time.
async fn drive_bare(agent: Arc<dyn BaseAgent>) -> Result<Duration> {
    let cx = Arc::new(InvocationContext {
        app_name: "app".into(),
        user_id: "user".into(),
        invocation_id: "inv-1".into(),
        session: Arc::new(Mutex::new(Session::new("app", "user", "session"))),
        session_service: Arc::new(InMemorySessionService::new()),
        artifact_service: None,
        memory_service: None,
        credential_service: None,
        run_config: RunConfig::default(),
        origin: InvocationOrigin::Api,
        user_content: Some(Content::user_text("go")),
        llm_call_count: Arc::new(Mutex::new(0)),
        cancellation: CancellationToken::new(),
        attributes: Arc::new(Mutex::new(HashMap::new())),
        root_agent: Some(agent.clone()),
    });
    let start = Instant::now();
    let mut events = agent.run(cx).await?;
    while let Some(event) = events.next().await {
        std::hint::black_box(event?);
    }
    Ok(start.elapsed())
}

/// Drives a run to its end and returns the time.
async fn drive(runner: &Runner, session: &str, mode: StreamingMode) -> Result<Duration> {
    let config = RunConfig {
        max_llm_calls: None,
        streaming_mode: mode,
        ..RunConfig::default()
    };
    let start = Instant::now();
    let mut events = runner
        .run_with("user", Some(session), Content::user_text("go"), config)
        .await?;
    while let Some(event) = events.next().await {
        std::hint::black_box(event?);
    }
    Ok(start.elapsed())
}

/// Builds a `Runner` with one session, `session`.
async fn runner(agent: Arc<dyn BaseAgent>) -> Result<(Runner, Arc<InMemorySessionService>)> {
    let sessions = Arc::new(InMemorySessionService::new());
    sessions
        .create_session("app", "user", None, Some("session"))
        .await?;
    let runner = Runner::builder()
        .app_name("app")
        .agent(agent)
        .session_service(sessions.clone())
        .build()?;
    Ok((runner, sessions))
}

async fn stored_loop(agents: Vec<Arc<dyn BaseAgent>>, events: usize) -> Result<Sample> {
    let agent = LoopAgent::new("loop", "", agents, (events / 2) as u32)?;
    let (runner, _) = runner(Arc::new(agent)).await?;
    Ok(Sample::new(
        drive(&runner, "session", StreamingMode::None).await?,
        events,
    ))
}

async fn run_loop(agents: Vec<Arc<dyn BaseAgent>>, rounds: usize, units: usize) -> Result<Sample> {
    let agent = LoopAgent::new("loop", "", agents, rounds as u32)?;
    Ok(Sample::new(drive_bare(Arc::new(agent)).await?, units))
}

fn blocks(levels: usize) -> Result<Arc<dyn BaseAgent>> {
    let mut agent = custom("a", Emits::Text);
    for i in 0..levels {
        agent = Arc::new(SequentialAgent::new(format!("level{i}"), "", vec![agent])?);
    }
    Ok(agent)
}

async fn parallel(children: usize, runs: usize) -> Result<Sample> {
    let mut elapsed = Duration::ZERO;
    for _ in 0..runs {
        let agents = (0..children)
            .map(|i| custom(&format!("w{i}"), Emits::Text))
            .collect();
        elapsed += drive_bare(Arc::new(ParallelAgent::new("all", "", agents)?)).await?;
    }
    Ok(Sample::new(elapsed, children * runs))
}

async fn tools(tools: usize, turns: usize) -> Result<Sample> {
    let add = FunctionTool::new(
        "add",
        "Adds two numbers.",
        None,
        Arc::new(|args, _| {
            Box::pin(async move {
                let number = |name| args[name].as_i64().unwrap_or(0);
                Ok(json!({"result": number("a") + number("b")}))
            })
        }),
    );
    let model: Arc<dyn Model> = Arc::new(AdkRsScripted {
        tools,
        ..Default::default()
    });
    let worker = LlmAgent::builder("worker")
        .model(model)
        .instruction("Add.")
        .output_key("answer");
    let worker = worker
        .tool(Arc::new(add))
        .include_contents(IncludeContents::None)
        .build()?;
    run_loop(
        vec![Arc::new(worker), custom("b", Emits::Text)],
        turns,
        turns,
    )
    .await
}

async fn session(before: usize) -> Result<Sample> {
    let pair = vec![custom("a", Emits::Text), custom("b", Emits::Text)];
    let (runner, _) = runner(Arc::new(SequentialAgent::new("pair", "", pair)?)).await?;
    for _ in 0..before {
        drive(&runner, "session", StreamingMode::None).await?;
    }
    let mut elapsed = Duration::ZERO;
    for _ in 0..Sample::TURNS {
        elapsed += drive(&runner, "session", StreamingMode::None).await?;
    }
    Ok(Sample::new(elapsed, Sample::TURNS))
}

async fn runs(runs: usize) -> Result<Sample> {
    let (runner, sessions) = runner(custom("a", Emits::Key)).await?;
    let start = Instant::now();
    for i in 0..runs {
        let id = format!("s{i}");
        sessions
            .create_session("app", "user", None, Some(&id))
            .await?;
        drive(&runner, &id, StreamingMode::None).await?;
    }
    Ok(Sample::new(start.elapsed(), runs))
}

async fn chunks(chunks: usize, runs: usize) -> Result<Sample> {
    let model: Arc<dyn Model> = Arc::new(AdkRsChunks(chunks));
    let mut elapsed = Duration::ZERO;
    for _ in 0..runs {
        let worker = LlmAgent::builder("worker")
            .model(model.clone())
            .instruction("Answer.")
            .output_key("answer");
        let (runner, _) = runner(Arc::new(worker.build()?)).await?;
        elapsed += drive(&runner, "session", StreamingMode::Sse).await?;
    }
    Ok(Sample::new(elapsed, chunks * runs))
}

async fn run_waiting(runs: usize) -> Result<Sample> {
    let agent = |name: &str, instruction: &str| -> Result<Arc<dyn BaseAgent>> {
        let model: Arc<dyn Model> = Arc::new(AdkRsNever);
        let agent = LlmAgent::builder(name)
            .model(model)
            .instruction(instruction)
            .output_key(name);
        Ok(Arc::new(agent.build()?))
    };
    let agents = vec![
        agent("writer", "Write about cats.")?,
        agent("reviewer", "Review {writer?}.")?,
    ];
    let (runner, sessions) = runner(Arc::new(SequentialAgent::new("review", "", agents)?)).await?;
    let runner = Arc::new(runner);
    Sample::grown(runs, |i| {
        let (runner, sessions) = (runner.clone(), sessions.clone());
        async move {
            let id = format!("s{i}");
            if sessions
                .create_session("app", "user", None, Some(&id))
                .await
                .is_ok()
            {
                let _ = drive(&runner, &id, StreamingMode::None).await;
            }
        }
    })
    .await
}
