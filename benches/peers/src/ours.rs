//! The scenarios on adk.

use crate::count::count_polls;
use crate::job::{Job, Result, Sample};
use crate::rows::Scenario;
use adk::model::{Model, ModelChunk, ModelRequest, ModelStream};
use adk::prelude::*;
use adk::{AgentMeta, BoxFuture, DynAgent, ParallelAgent, Prepare, RunStream};
use futures_util::stream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

const TEXT: &str = "hello world 1234";
const ANSWER: &str = "a short draft of the document";

#[derive(Default)]
pub struct Say;
impl Agent for Say {
    const META: AgentMeta<'static> = AgentMeta::custom("say");
    async fn run(&self, cx: &mut Context) -> adk::Result<Flow> {
        count_polls(cx.emit(Event::new().with_text(TEXT))).await?;
        Ok(Flow::Continue)
    }
}

#[derive(Default)]
pub struct SayAndWrite;
#[agent(writes(counter: i64))]
impl Agent for SayAndWrite {
    const META: AgentMeta<'static> = AgentMeta::custom("say_and_write");
    async fn run(&self, cx: &mut Context) -> adk::Result<Flow> {
        count_polls(cx.emit(Event::new().with_text(TEXT).with_state("counter", 1))).await?;
        Ok(Flow::Continue)
    }
}

#[derive(Default)]
pub struct Silent;
impl Agent for Silent {
    const META: AgentMeta<'static> = AgentMeta::custom("silent");
    async fn run(&self, _: &mut Context) -> adk::Result<Flow> {
        Ok(Flow::Continue)
    }
}

/// An agent whose name is known only at run time.
struct Child<A>(AgentMeta<'static>, A);
impl<A: Agent> DynAgent for Child<A> {
    fn meta(&self) -> &AgentMeta<'_> {
        &self.0
    }
    fn run_dyn<'a>(&'a self, cx: &'a mut Context) -> BoxFuture<'a, adk::Result<Flow>> {
        Box::pin(self.1.run(cx))
    }
    fn prepare_dyn(&self, _: &mut Prepare<'_>) {}
}

/// Adds one.
#[agent(writes = left)]
fn add_one(right: u64) -> u64 {
    right + 1
}

/// Multiplies a number by itself.
#[agent(writes = square)]
fn squares(x: u64) -> u64 {
    x * x
}

/// Adds two numbers.
#[tool]
fn add(
    /// The first.
    a: i64,
    /// The second.
    b: i64,
) -> i64 {
    a + b
}

workflow! {
    /// Two agents in turns.
    pub Texts() { rally: loop(max = 4_000_000_000) < Say as a; Say as b > }
}
workflow! {
    /// Two agents in turns that write a key.
    pub Keys() { rally: loop(max = 4_000_000_000) < SayAndWrite as a; SayAndWrite as b > }
}
workflow! {
    /// Two agents in turns that do nothing.
    pub Silence() { rally: loop(max = 4_000_000_000) < Silent as a; Silent as b > }
}
workflow! {
    /// Two agents, once.
    pub Pair() { Say as a; Say as b }
}
workflow! {
    /// One function.
    pub Function(right: u64) -> left: u64 { add_one }
}
workflow! {
    /// A function for each element.
    pub EachSquare(xs: Vec<u64>) -> square: Vec<u64> { each x in xs < squares > }
}
workflow! {
    /// Ten blocks in a loop.
    pub Blocks() {
        rally: loop(max = 4_000_000_000) < < < < < < < < < < < Say > > > > > > > > > > >
    }
}

/// Each workflow is the only step of the next.
macro_rules! levels {
    ($inner:ident in $outer:ident $($more:ident)*) => {
        workflow! {
            /// One level.
            pub $outer() { $inner }
        }
        levels!($outer in $($more)*);
    };
    ($inner:ident in) => {
        workflow! {
            /// All levels in a loop.
            pub Workflows() { rally: loop(max = 4_000_000_000) < $inner > }
        }
    };
}
levels!(Say in Level1 Level2 Level3 Level4 Level5 Level6 Level7 Level8 Level9 Level10);

workflow! {
    /// A writer and a critic who see the conversation.
    pub History() {
        agent writer -> draft: String { instruction: "Refine the draft: {criticism?}" }
        agent critic -> criticism: String { instruction: "Criticise the draft: {draft?}" }
        rally: loop(max = 4_000_000_000) < writer; critic >
    }
}
workflow! {
    /// A writer and a critic who see no conversation.
    pub NoHistory() {
        agent writer -> draft: String {
            include_contents: none,
            instruction: "Refine the draft: {criticism?}",
        }
        agent critic -> criticism: String {
            include_contents: none,
            instruction: "Criticise the draft: {draft?}",
        }
        rally: loop(max = 4_000_000_000) < writer; critic >
    }
}
workflow! {
    /// A refiner who sees no conversation.
    pub Alone() {
        agent refiner -> draft: String {
            include_contents: none,
            instruction: "Refine the draft: {draft?}",
        }
        rally: loop(max = 4_000_000_000) < refiner >
    }
}
workflow! {
    /// Tools. The second agent ends the turn of the first.
    pub Tools() -> answer: String {
        agent worker -> answer: String { include_contents: none, instruction: "Add.", tools: [add] }
        rally: loop(max = 4_000_000_000) < worker; Say >
    }
}
workflow! {
    /// One answer.
    pub Ask(question: String) -> answer: String {
        agent worker -> answer: String { instruction: "Answer {question}." }
        worker
    }
}
workflow! {
    /// A draft, and a review of it.
    pub Review(topic: String) -> review: String {
        agent writer -> draft: String { instruction: "Write about {topic}." }
        agent reviewer -> review: String { instruction: "Review {draft}." }
        writer; reviewer
    }
}

/// A model that makes these calls in every second reply. Without calls, each reply is text.
struct Scripted {
    calls: Vec<Part>,
    asked: AtomicUsize,
}
impl Model for Scripted {
    fn name(&self) -> &str {
        "scripted"
    }
    fn generate(&self, _: Arc<ModelRequest>) -> ModelStream {
        let answers = self.calls.is_empty() || self.asked.fetch_add(1, Relaxed) % 2 == 1;
        let done = if answers {
            ANSWER.into()
        } else {
            Content::new(adk::Role::Model, self.calls.clone()).into()
        };
        Box::pin(stream::once(std::future::ready(Ok(ModelChunk::Done(done)))))
    }
}

/// A model that streams this number of chunks.
struct Chunks(usize);
impl Model for Chunks {
    fn name(&self) -> &str {
        "chunks"
    }
    fn generate(&self, _: Arc<ModelRequest>) -> ModelStream {
        let done = ModelChunk::Done("word ".repeat(self.0).into());
        let chunks = (0..self.0).map(|_| ModelChunk::Text("word ".to_owned()));
        Box::pin(stream::iter(chunks.chain([done]).map(Ok)))
    }
}

/// A model that never replies.
struct Never;
impl Model for Never {
    fn name(&self) -> &str {
        "never"
    }
    fn generate(&self, _: Arc<ModelRequest>) -> ModelStream {
        Box::pin(stream::pending())
    }
}

/// Runs the loop of a workflow for `rounds` rounds.
macro_rules! looped {
    ($workflow:ty, $rounds:expr, $units:expr) => {{
        let mut workflow = <$workflow>::default();
        workflow.rally.set_max($rounds)?;
        Sample::new(
            drive(scripted(0)?.run(&workflow, ()).stream()).await?,
            $units,
        )
    }};
}

pub async fn run(job: Job) -> Result<Option<Sample>> {
    let Job {
        scenario,
        width,
        size,
    } = job;
    let rounds = size as u32;
    let half = rounds / 2;
    let sample = match scenario {
        Scenario::Text => looped!(Texts, half, size),
        Scenario::Key => looped!(Keys, half, size),
        Scenario::Silent => looped!(Silence, half, size),
        Scenario::Blocks => looped!(Blocks, rounds, size),
        Scenario::Workflows => looped!(Workflows, rounds, size),
        Scenario::History => looped!(History, half, size),
        Scenario::NoHistory => looped!(NoHistory, half, size),
        Scenario::Alone => looped!(Alone, rounds, size),
        Scenario::Parallel => parallel::<Say>(width, size).await?,
        Scenario::SilentParallel => parallel::<Silent>(width, size).await?,
        Scenario::Each => each(size).await?,
        Scenario::Tools => tools(width, size).await?,
        Scenario::Session => session(size).await?,
        Scenario::Run => runs(size).await?,
        Scenario::Chunks => chunks(width, size).await?,
        Scenario::Waiting => run_waiting(size).await?,
    };
    Ok(Some(sample))
}

/// Drives a run to its end and returns the time. The time does not include freeing the memory of
/// the run.
async fn drive<T: Send + 'static>(mut stream: RunStream<'_, T>) -> Result<Duration> {
    let start = Instant::now();
    while let Some(event) = count_polls(stream.next()).await {
        std::hint::black_box(event?);
    }
    let outcome = stream.finish().await?;
    let elapsed = start.elapsed();
    drop(outcome);
    Ok(elapsed)
}

fn scripted(tools: usize) -> Result<Runner> {
    let call: Part =
        serde_json::from_value(json!({"functionCall": {"name": "add", "args": {"a": 1, "b": 2}}}))?;
    let model: Arc<dyn Model> = Arc::new(Scripted {
        calls: vec![call; tools],
        asked: AtomicUsize::new(0),
    });
    Ok(Runner::builder()
        .model(model)
        .config(RunConfig::new().max_llm_calls(0))
        .build()?)
}

async fn parallel<A: Agent + Default + 'static>(children: usize, runs: usize) -> Result<Sample> {
    let runner = Runner::builder().build()?;
    // The names are never freed, like the literals of a program.
    let child = |i: usize| Child(AgentMeta::custom(format!("w{i}").leak()), A::default());
    let workflow = ParallelAgent::builder("all")
        .sub_agents((0..children).map(child).collect::<Vec<_>>())
        .build()?;
    let mut elapsed = Duration::ZERO;
    for _ in 0..runs {
        elapsed += drive(runner.run(&workflow, "go").stream()).await?;
    }
    Ok(Sample::new(elapsed, children * runs))
}

async fn each(elements: usize) -> Result<Sample> {
    let runner = Runner::builder().build()?;
    let list: Vec<u64> = (0..elements as u64).collect();
    Ok(Sample::new(
        drive(runner.run(&EachSquare::default(), list).stream()).await?,
        elements,
    ))
}

async fn tools(tools: usize, turns: usize) -> Result<Sample> {
    let mut workflow = Tools::default();
    workflow.rally.set_max(turns as u32)?;
    Ok(Sample::new(
        drive(scripted(tools)?.run(&workflow, ()).stream()).await?,
        turns,
    ))
}

async fn session(before: usize) -> Result<Sample> {
    let runner = Runner::builder().build()?;
    let session = runner.session("user", "session");
    let workflow = Pair::default();
    for _ in 0..before {
        drive(session.run(&workflow, ()).stream()).await?;
    }
    let mut elapsed = Duration::ZERO;
    for _ in 0..Sample::TURNS {
        elapsed += drive(session.run(&workflow, ()).stream()).await?;
    }
    Ok(Sample::new(elapsed, Sample::TURNS))
}

async fn runs(runs: usize) -> Result<Sample> {
    let runner = Runner::builder().build()?;
    let workflow = Function::default();
    let start = Instant::now();
    for _ in 0..runs {
        std::hint::black_box(
            count_polls(runner.run(&workflow, 1).into_future())
                .await?
                .output,
        );
    }
    Ok(Sample::new(start.elapsed(), runs))
}

async fn chunks(chunks: usize, runs: usize) -> Result<Sample> {
    let model: Arc<dyn Model> = Arc::new(Chunks(chunks));
    let config = RunConfig::new().streaming(true).max_llm_calls(0);
    let runner = Runner::builder().model(model).config(config).build()?;
    let workflow = Ask::default();
    let mut elapsed = Duration::ZERO;
    for _ in 0..runs {
        elapsed += drive(runner.run(&workflow, "why").stream()).await?;
    }
    Ok(Sample::new(elapsed, chunks * runs))
}

async fn run_waiting(runs: usize) -> Result<Sample> {
    let model: Arc<dyn Model> = Arc::new(Never);
    let runner = Runner::builder().model(model).build()?;
    let workflow = Arc::new(Review::default());
    Sample::grown(runs, |_| {
        let mut stream = runner.run(workflow.clone(), "cats").stream();
        async move { while stream.next().await.is_some() {} }
    })
    .await
}
