//! The scenarios on adk-rust, through its `Runner`.

use crate::job::{Emits, Job, Result, Sample};
use crate::rows::Scenario;
use adk_rust::agent::{LlmAgentBuilder, LoopAgent, ParallelAgent, SequentialAgent};
use adk_rust::runner::Runner;
use adk_rust::session::{CreateRequest, InMemorySessionService, SessionService};
use adk_rust::tool::FunctionTool;
use adk_rust::{
    Agent, Content, Event, EventStream, IncludeContents, InvocationContext, Llm, LlmRequest,
    LlmResponse, LlmResponseStream, Part,
};
use async_trait::async_trait;
use futures_util::{StreamExt, stream};
use serde_json::json;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

struct AdkRustAgent {
    name: String,
    emits: Emits,
    /// The role of the agent's texts. In a loop, adk-rust joins texts of one role into one growing
    /// text, so the agents of a loop have different roles.
    role: &'static str,
}

#[async_trait]
impl Agent for AdkRustAgent {
    fn name(&self) -> &str {
        &self.name
    }
    fn description(&self) -> &str {
        ""
    }
    fn sub_agents(&self) -> &[Arc<dyn Agent>] {
        &[]
    }
    async fn run(&self, cx: Arc<dyn InvocationContext>) -> adk_rust::Result<EventStream> {
        if self.emits == Emits::Nothing {
            return Ok(Box::pin(stream::empty()));
        }
        let mut event = Event::new(cx.invocation_id());
        event.author.clone_from(&self.name);
        event.llm_response.content = Some(content(self.role, text("hello world 1234")));
        if self.emits == Emits::Key {
            event.actions.state_delta.insert("counter".into(), json!(1));
        }
        Ok(Box::pin(stream::once(async move { Ok(event) })))
    }
}

/// A model that calls `tools` tools in every second reply. Without tools, each reply is text.
#[derive(Default)]
struct AdkRustScripted {
    tools: usize,
    calls: AtomicUsize,
}

#[async_trait]
impl Llm for AdkRustScripted {
    fn name(&self) -> &str {
        "scripted"
    }
    async fn generate_content(
        &self,
        _: LlmRequest,
        _: bool,
    ) -> adk_rust::Result<LlmResponseStream> {
        let number = self.calls.fetch_add(1, Relaxed);
        let call = |i| Part::FunctionCall {
            name: "add".into(),
            args: json!({"a": 1, "b": 2}),
            id: Some(format!("call-{number}-{i}")),
            thought_signature: None,
        };
        let parts = if self.tools == 0 || number % 2 == 1 {
            text("a short draft of the document")
        } else {
            (0..self.tools).map(call).collect()
        };
        let response = answer(parts, true);
        Ok(Box::pin(stream::once(async move { Ok(response) })))
    }
}

/// A model that streams this number of chunks.
struct AdkRustChunks(usize);

#[async_trait]
impl Llm for AdkRustChunks {
    fn name(&self) -> &str {
        "chunks"
    }
    async fn generate_content(
        &self,
        _: LlmRequest,
        _: bool,
    ) -> adk_rust::Result<LlmResponseStream> {
        let count = self.0;
        Ok(Box::pin(stream::iter(
            (0..count).map(move |i| Ok(answer(text("word "), i + 1 == count))),
        )))
    }
}

/// A model that never replies.
struct AdkRustNever;

#[async_trait]
impl Llm for AdkRustNever {
    fn name(&self) -> &str {
        "never"
    }
    async fn generate_content(
        &self,
        _: LlmRequest,
        _: bool,
    ) -> adk_rust::Result<LlmResponseStream> {
        Ok(Box::pin(stream::pending()))
    }
}

fn text(text: &str) -> Vec<Part> {
    vec![Part::Text { text: text.into() }]
}

fn content(role: &str, parts: Vec<Part>) -> Content {
    Content {
        role: role.into(),
        parts,
    }
}

fn answer(parts: Vec<Part>, last: bool) -> LlmResponse {
    LlmResponse {
        content: Some(content("model", parts)),
        partial: !last,
        turn_complete: last,
        ..Default::default()
    }
}

fn custom(name: &str, emits: Emits) -> Arc<dyn Agent> {
    let role = if name == "a" { "user" } else { "model" };
    Arc::new(AdkRustAgent {
        name: name.into(),
        emits,
        role,
    })
}

fn llm(
    name: &str,
    instruction: &str,
    key: &str,
    contents: IncludeContents,
) -> Result<Arc<dyn Agent>> {
    let agent = LlmAgentBuilder::new(name)
        .model(Arc::new(AdkRustScripted::default()))
        .instruction(instruction)
        .output_key(key)
        .include_contents(contents)
        .build()?;
    Ok(Arc::new(agent))
}

fn writer_and_critic(contents: IncludeContents) -> Result<Vec<Arc<dyn Agent>>> {
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
        Scenario::Text => run_loop(custom_pair(Emits::Text), size / 2, size).await?,
        Scenario::Key => run_loop(custom_pair(Emits::Key), size / 2, size).await?,
        Scenario::Silent => run_loop(custom_pair(Emits::Nothing), size / 2, size).await?,
        Scenario::Blocks => run_loop(vec![blocks(width)], size, size).await?,
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

async fn create(sessions: &InMemorySessionService, id: &str) -> Result<()> {
    let request = CreateRequest {
        app_name: "app".into(),
        user_id: "user".into(),
        session_id: Some(id.into()),
        state: HashMap::new(),
    };
    sessions.create(request).await?;
    Ok(())
}

fn runner(agent: Arc<dyn Agent>, sessions: Arc<InMemorySessionService>) -> Result<Runner> {
    Ok(Runner::builder()
        .app_name("app")
        .agent(agent)
        .session_service(sessions)
        .build()?)
}

/// Drives a run to its end and returns the time.
async fn drive(runner: &Runner, session: &str) -> Result<Duration> {
    let start = Instant::now();
    let mut events = runner
        .run_str("user", session, content("user", text("go")))
        .await?;
    while let Some(event) = events.next().await {
        std::hint::black_box(event?);
    }
    Ok(start.elapsed())
}

/// Drives a run in a new session.
async fn drive_alone(agent: Arc<dyn Agent>) -> Result<Duration> {
    let sessions = Arc::new(InMemorySessionService::new());
    create(&sessions, "session").await?;
    drive(&runner(agent, sessions)?, "session").await
}

async fn run_loop(agents: Vec<Arc<dyn Agent>>, rounds: usize, units: usize) -> Result<Sample> {
    let agent = LoopAgent::new("loop", agents).with_max_iterations(rounds as u32);
    Ok(Sample::new(drive_alone(Arc::new(agent)).await?, units))
}

fn blocks(levels: usize) -> Arc<dyn Agent> {
    (0..levels).fold(custom("a", Emits::Text), |inner, i| {
        Arc::new(SequentialAgent::new(format!("level{i}"), vec![inner]))
    })
}

async fn parallel(children: usize, runs: usize) -> Result<Sample> {
    let mut elapsed = Duration::ZERO;
    for _ in 0..runs {
        let agents = (0..children)
            .map(|i| custom(&format!("w{i}"), Emits::Text))
            .collect();
        elapsed += drive_alone(Arc::new(ParallelAgent::new("all", agents))).await?;
    }
    Ok(Sample::new(elapsed, children * runs))
}

async fn tools(tools: usize, turns: usize) -> Result<Sample> {
    let add = FunctionTool::new(
        "add",
        "Adds two numbers.",
        |_, args: serde_json::Value| async move {
            Ok(json!({"result": args["a"].as_i64().unwrap_or(0) + args["b"].as_i64().unwrap_or(0)}))
        },
    );
    let worker = LlmAgentBuilder::new("worker")
        .model(Arc::new(AdkRustScripted {
            tools,
            ..Default::default()
        }))
        .instruction("Add.")
        .output_key("answer")
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
    let sessions = Arc::new(InMemorySessionService::new());
    create(&sessions, "session").await?;
    let pair = vec![custom("a", Emits::Text), custom("b", Emits::Text)];
    let runner = runner(Arc::new(SequentialAgent::new("pair", pair)), sessions)?;
    for _ in 0..before {
        drive(&runner, "session").await?;
    }
    let mut elapsed = Duration::ZERO;
    for _ in 0..Sample::TURNS {
        elapsed += drive(&runner, "session").await?;
    }
    Ok(Sample::new(elapsed, Sample::TURNS))
}

async fn runs(runs: usize) -> Result<Sample> {
    let sessions = Arc::new(InMemorySessionService::new());
    let runner = runner(custom("a", Emits::Key), sessions.clone())?;
    let start = Instant::now();
    for i in 0..runs {
        let id = format!("s{i}");
        create(&sessions, &id).await?;
        drive(&runner, &id).await?;
    }
    Ok(Sample::new(start.elapsed(), runs))
}

async fn chunks(chunks: usize, runs: usize) -> Result<Sample> {
    let mut elapsed = Duration::ZERO;
    for _ in 0..runs {
        let worker = LlmAgentBuilder::new("worker")
            .model(Arc::new(AdkRustChunks(chunks)))
            .instruction("Answer.")
            .output_key("answer")
            .build()?;
        elapsed += drive_alone(Arc::new(worker)).await?;
    }
    Ok(Sample::new(elapsed, chunks * runs))
}

async fn run_waiting(runs: usize) -> Result<Sample> {
    let agent = |name: &str, instruction: &str| -> Result<Arc<dyn Agent>> {
        let agent = LlmAgentBuilder::new(name)
            .model(Arc::new(AdkRustNever))
            .instruction(instruction)
            .output_key(name);
        Ok(Arc::new(agent.build()?))
    };
    let agents = vec![
        agent("writer", "Write about cats.")?,
        agent("reviewer", "Review {writer?}.")?,
    ];
    let sessions = Arc::new(InMemorySessionService::new());
    let runner = Arc::new(runner(
        Arc::new(SequentialAgent::new("review", agents)),
        sessions.clone(),
    )?);
    Sample::grown(runs, |i| {
        let (runner, sessions) = (runner.clone(), sessions.clone());
        async move {
            let id = format!("s{i}");
            if create(&sessions, &id).await.is_ok() {
                let _ = drive(&runner, &id).await;
            }
        }
    })
    .await
}
