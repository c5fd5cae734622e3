//! The scenarios on graph-flow: tasks that write a key. graph-flow has no event stream, so its rows
//! contain less work than the rows of the other peers.

use crate::job::{Job, Result, Sample};
use crate::rows::Scenario;
use async_trait::async_trait;
use graph_flow::{
    Context, ExecutionStatus, FanOutTask, FlowRunner, Graph, GraphBuilder, InMemorySessionStorage,
    NextAction, Session, SessionStorage, Task, TaskResult,
};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A task that counts its executions, and repeats until the count is `until`.
struct Count {
    id: String,
    until: usize,
}

#[async_trait]
impl Task for Count {
    fn id(&self) -> &str {
        &self.id
    }
    async fn run(&self, context: Context) -> graph_flow::Result<TaskResult> {
        let count = context.get("counter").unwrap_or(0) + 1;
        context.set("counter", count)?;
        let next = if count >= self.until {
            NextAction::End
        } else {
            NextAction::ContinueAndExecute
        };
        Ok(TaskResult::new(Some("hello world 1234".into()), next))
    }
}

fn count(id: &str, until: usize) -> Arc<Count> {
    Arc::new(Count {
        id: id.into(),
        until,
    })
}

pub async fn run(job: Job) -> Result<Option<Sample>> {
    let Job {
        scenario,
        width,
        size,
    } = job;
    let sample = match scenario {
        Scenario::Text | Scenario::Silent => steps(size).await?,
        Scenario::Parallel => parallel(width, size).await?,
        Scenario::Run => runs(size).await?,
        _ => return Ok(None),
    };
    Ok(Some(sample))
}

async fn drive(runner: &FlowRunner, session: &str) -> Result<Duration> {
    let start = Instant::now();
    while !matches!(
        runner.run(session).await?.status,
        ExecutionStatus::Completed
    ) {}
    Ok(start.elapsed())
}

async fn steps(steps: usize) -> Result<Sample> {
    let graph = GraphBuilder::new("loop")
        .add_task(count("a", steps))
        .add_task(count("b", steps))
        .add_edge("a", "b")
        .add_edge("b", "a")
        .build()?;
    let storage = Arc::new(InMemorySessionStorage::new());
    storage
        .save(Session::new_from_task("session".into(), "a"))
        .await?;
    let runner = FlowRunner::new(Arc::new(graph), storage);
    Ok(Sample::new(drive(&runner, "session").await?, steps))
}

async fn parallel(children: usize, runs: usize) -> Result<Sample> {
    let tasks = (0..children)
        .map(|i| count(&format!("w{i}"), 0) as Arc<dyn Task>)
        .collect();
    let all = FanOutTask::new("all", tasks).with_next_action(NextAction::End);
    let elapsed = run_in_sessions(
        GraphBuilder::new("parallel").add_task(all).build()?,
        "all",
        runs,
    )
    .await?;
    Ok(Sample::new(elapsed, children * runs))
}

async fn runs(runs: usize) -> Result<Sample> {
    let graph = GraphBuilder::new("one").add_task(count("a", 0)).build()?;
    Ok(Sample::new(run_in_sessions(graph, "a", runs).await?, runs))
}

/// Runs a graph `runs` times, each time in a new session.
async fn run_in_sessions(graph: Graph, first: &str, runs: usize) -> Result<Duration> {
    let storage = Arc::new(InMemorySessionStorage::new());
    let runner = FlowRunner::new(Arc::new(graph), storage.clone());
    let start = Instant::now();
    for i in 0..runs {
        let id = format!("s{i}");
        storage
            .save(Session::new_from_task(id.clone(), first))
            .await?;
        drive(&runner, &id).await?;
    }
    Ok(start.elapsed())
}
