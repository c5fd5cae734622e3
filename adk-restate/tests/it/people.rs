//! Runs on a Restate server that wait for people, for deadlines or for their turn, and cancelled
//! runs.
use crate::support::{self, World, until};
use adk::engine::{RunFilter, RunStatus};
use adk::model::{Model, ModelChunk, ModelRequest, ModelResponse, ModelStream};
use adk::prelude::*;
use adk::{Content, ErrorKind, FunctionCall, Part, Role, RunEnd, RunId, RunStream, Waiting};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::sync::Semaphore;

/// Returns its topic from a recorded call.
#[agent(writes = draft)]
async fn write(cx: &mut Context, topic: String) -> Result<String> {
    cx.step("pen", async move { Ok(format!("about {topic}")) })
        .await
}

/// Ends the workflow.
#[agent(writes = line)]
fn print(draft: &str, yes: bool) -> String {
    format!("{draft}: {yes}")
}

workflow! {
    /// A question before the last step.
    Asking(topic: String) -> line: String {
        write;
        /// Is {draft} fit for print?
        await yes: bool;
        print;
    }
}

workflow! {
    /// Questions with a short deadline.
    Hasty() -> (line: String) {
        let draft: String = "in haste";
        /// Now?
        await(timeout = "200ms", default = true) yes: bool;
        print;
        /// Sure?
        late: await(timeout = "200ms") sure: bool;
    }
}

/// Joins two answers.
#[agent(writes = line)]
fn both(yes: bool, also: bool) -> String {
    format!("{yes} {also}")
}

workflow! {
    /// Questions to two people at once.
    Panel() -> line: String {
        pair: parallel <
            < /// The first?
              one: await yes: bool >;
            < /// The second?
              two: await also: bool >
        >
        both;
    }
}

async fn paused<T: Send + 'static>(mut stream: RunStream<'_, T>) -> Vec<Waiting> {
    while let Some(event) = stream.next().await {
        event.unwrap();
    }
    match stream.end() {
        RunEnd::Paused(waiting) => waiting,
        _ => panic!("it does not wait"),
    }
}

async fn status(world: &World, run: RunId) -> RunStatus {
    world
        .client
        .runs(&RunFilter::of_run(run))
        .await
        .unwrap()
        .remove(0)
        .status
}

#[tokio::test]
#[ignore = "needs the binary of a Restate server"]
async fn a_run_waits_for_an_answer() {
    let world = World::start(|builder| builder.workflow(Asking::default())).await;
    let waiting = paused(world.client.run(&Asking::default(), "cats").stream()).await;
    assert_eq!(
        (waiting.len(), &*waiting[0].question),
        (1, "Is about cats fit for print?")
    );
    let (run, wait) = (waiting[0].run_id, &waiting[0].id);
    assert_eq!(status(&world, run).await, RunStatus::Paused);
    assert_eq!(world.client.waiting().await.unwrap().len(), 1);
    let error = world.client.answer(wait, "what?").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AnswerInvalid);
    world.client.answer(wait, true).await.unwrap();
    let error = world.client.answer(wait, false).await.unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::Answered | ErrorKind::UnknownWait),
        "{error}"
    );
    let ended = world.client.resume(&Asking::default(), run).await.unwrap();
    assert_eq!(ended.output, "about cats: true");
    assert_eq!(status(&world, run).await, RunStatus::Finished);
    assert_eq!(
        world
            .entries("asking")
            .await
            .iter()
            .filter(|name| name.starts_with("asking/"))
            .collect::<Vec<_>>(),
        ["asking/write:step.pen@0", "asking/print:function@0"]
    );
}

#[tokio::test]
#[ignore = "needs the binary of a Restate server"]
async fn a_deadline_passes() {
    let world = World::start(|builder| builder.workflow(Hasty::default())).await;
    let waiting = paused(world.client.run(&Hasty::default(), ()).stream()).await;
    let run = waiting[0].run_id;
    until("it has ended", async || {
        !status(&world, run).await.is_open()
    })
    .await;
    // The first question has a default.
    match status(&world, run).await {
        RunStatus::Failed(error) => {
            assert!(
                error
                    .to_string()
                    .contains("(at hasty/late): no answer arrived in time"),
                "{error}"
            )
        }
        status => panic!("{status:?}"),
    }
}

#[tokio::test]
#[ignore = "needs the binary of a Restate server"]
async fn branches_wait_for_answers() {
    let world = World::start(|builder| builder.workflow(Panel::default())).await;
    let waiting = paused(world.client.run(&Panel::default(), ()).stream()).await;
    let run = waiting[0].run_id;
    until("both wait", async || {
        world.client.waiting().await.unwrap().len() == 2
    })
    .await;
    let mut waiting = world.client.waiting().await.unwrap();
    waiting.sort_by_key(|waiting| waiting.path.to_string());
    world.client.answer(&waiting[0].id, true).await.unwrap();
    let left = paused(world.client.resume(&Panel::default(), run).stream()).await;
    assert_eq!((left.len(), &left[0].id), (1, &waiting[1].id));
    world.client.answer(&waiting[1].id, false).await.unwrap();
    let ended = world.client.resume(&Panel::default(), run).await.unwrap();
    assert_eq!(ended.output, "true false");
}

#[tokio::test]
#[ignore = "needs the binary of a Restate server"]
async fn the_first_answer_counts() {
    let world = World::start(|builder| builder.workflow(Asking::default())).await;
    let waiting = paused(world.client.run(&Asking::default(), "cats").stream()).await;
    let (run, wait) = (waiting[0].run_id, &waiting[0].id);
    let answers = (0..8).map(|number| world.client.answer(wait, number % 2 == 0));
    let given = futures_util::future::join_all(answers).await;
    let taken: Vec<_> = (0..8).filter(|number| given[*number].is_ok()).collect();
    assert_eq!(taken.len(), 1, "{given:?}");
    let refused = given
        .iter()
        .filter_map(|given| given.as_ref().err())
        .map(adk::Error::kind);
    for kind in refused {
        assert!(
            matches!(kind, ErrorKind::Answered | ErrorKind::UnknownWait),
            "{given:?}"
        );
    }
    let ended = world.client.resume(&Asking::default(), run).await.unwrap();
    assert_eq!(ended.output, format!("about cats: {}", taken[0] % 2 == 0));
}

/// A model that calls three tools at once, and repeats their results.
struct Banker;

impl Model for Banker {
    fn name(&self) -> &str {
        "banker"
    }

    fn generate(&self, request: Arc<ModelRequest>) -> ModelStream {
        let parts = request.contents.iter().flat_map(|content| &content.parts);
        let answers: Vec<Value> = parts
            .filter_map(|part| match part {
                Part::FunctionResponse(answer) => Some(json!(answer.response)),
                _ => None,
            })
            .collect();
        let call = |name: &str, amount: u32| {
            let args = json!({"amount": amount}).as_object().cloned().unwrap();
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
                    call("pay", 1),
                    call("look", 2),
                    call("look", 3),
                    call("pay", 4),
                ],
            )
        } else {
            Content::model(Value::from(answers).to_string())
        };
        let response = ModelResponse::new(content);
        Box::pin(futures_util::stream::iter([Ok(ModelChunk::Done(response))]))
    }
}

/// Pays, if a person agrees.
#[tool(confirm)]
fn pay(amount: u32) -> String {
    format!("paid {amount}")
}

/// Looks up an amount.
#[tool]
fn look(amount: u32) -> String {
    format!("seen {amount}")
}

workflow! {
    /// Payments and lookups.
    Till() -> answer: String {
        agent clerk -> answer: String { instruction: "Pay.", tools: [pay, look] }
        clerk;
    }
}

#[tokio::test]
#[ignore = "needs the binary of a Restate server"]
async fn tools_run_together_and_ask() {
    let world = World::start(|builder| builder.model(Banker).workflow(Till::default())).await;
    let mut waiting = paused(world.client.run(&Till::default(), ()).stream()).await;
    let run = waiting[0].run_id;
    let mut answers = 0;
    let ended = loop {
        for wait in &waiting {
            world.client.answer(&wait.id, answers == 0).await.unwrap();
            answers += 1;
        }
        let mut stream = world.client.resume(Arc::new(Till::default()), run).stream();
        while let Some(event) = stream.next().await {
            event.unwrap();
        }
        match stream.end() {
            RunEnd::Paused(left) => waiting = left,
            RunEnd::Finished(ended) => break ended,
            end => panic!("{end:?}"),
        }
    };
    assert_eq!(answers, 2);
    assert!(
        ended.output.contains("paid 1") && ended.output.contains("seen 3"),
        "{}",
        ended.output
    );
    assert!(!ended.output.contains("paid 4"), "{}", ended.output);
    let entries = world.entries("till").await;
    let together = |name: &String| {
        name.matches("till/clerk:tool.look@").count() == 2 && name.contains("till/clerk:tool.pay@")
    };
    assert!(entries.iter().any(together), "{entries:?}");
}

#[tokio::test]
#[ignore = "needs the binary of a Restate server"]
async fn a_run_that_waits_is_cancelled() {
    let world = World::start(|builder| {
        builder
            .workflow(Panel::default())
            .workflow(Asking::default())
    })
    .await;
    for run in [
        paused(world.client.run(&Panel::default(), ()).stream()).await[0].run_id,
        paused(world.client.run(&Asking::default(), "cats").stream()).await[0].run_id,
    ] {
        assert_eq!(
            world.client.cancel(run).await.unwrap(),
            RunStatus::Cancelled
        );
        assert_eq!(status(&world, run).await, RunStatus::Cancelled);
    }
    let open = "SELECT id, target FROM sys_invocation WHERE status <> 'completed'";
    until("no invocation is left", async || {
        world.server.query(open).await.is_empty()
    })
    .await;
    assert!(world.client.waiting().await.unwrap().is_empty());
}

/// Semaphore of the winner, and semaphore of the step after the race.
static RACE: [Semaphore; 2] = [const { Semaphore::const_new(0) }; 2];

/// Wins when its semaphore is released.
#[agent(writes = line)]
async fn wins(cx: &mut Context) -> Result<String> {
    cx.step("door", async {
        RACE[0].acquire().await.map_err(adk::Error::other)?.forget();
        Ok("it has won".to_owned())
    })
    .await
}

/// Returns the answer.
#[agent(writes = line)]
fn report(yes: bool) -> String {
    format!("the answer is {yes}")
}

/// Continues when its semaphore is released.
#[agent(writes = after)]
async fn after_race(cx: &mut Context) -> Result<bool> {
    cx.step("door", async {
        RACE[1].acquire().await.map_err(adk::Error::other)?.forget();
        Ok(true)
    })
    .await
}

workflow! {
    /// A workflow whose question to a person loses a race: another branch of the block ends first.
    Race() -> line: String {
        parallel(first) <
            < /// Continue?
              await yes: bool; report >;
            wins
        >
        after_race;
    }
}

#[tokio::test]
#[ignore = "needs the binary of a Restate server"]
async fn a_losing_question_is_withdrawn_while_the_run_continues() {
    let world = World::start(|builder| builder.workflow(Race::default())).await;
    let begun = tokio::spawn(
        world
            .client
            .run(Arc::new(Race::default()), ())
            .into_future(),
    );
    until("it asks", async || {
        !world.client.waiting().await.unwrap().is_empty()
    })
    .await;
    let lost = world.client.waiting().await.unwrap().remove(0);
    RACE[0].add_permits(1);
    until("it is withdrawn", async || {
        world.client.waiting().await.unwrap().is_empty()
    })
    .await;
    until("it runs", async || {
        status(&world, lost.run_id).await == RunStatus::Running
    })
    .await;
    let late = world.client.answer(&lost.id, true).await.unwrap_err();
    assert_eq!(late.kind(), ErrorKind::UnknownWait, "{late}");
    RACE[1].add_permits(1);
    assert_eq!(begun.await.unwrap().unwrap().output, "it has won");
}

/// Semaphores of two tests.
static DOORS: [Semaphore; 2] = [const { Semaphore::const_new(0) }; 2];

/// Waits for its semaphore.
#[agent(writes = draft)]
async fn enter(cx: &mut Context, topic: String) -> Result<String> {
    cx.step("door", async move {
        DOORS[usize::from(topic == "again")]
            .acquire()
            .await
            .map_err(adk::Error::other)?
            .forget();
        Ok(topic)
    })
    .await
}

workflow! {
    /// A workflow that waits for a semaphore.
    Entering(topic: String) -> draft: String {
        enter;
    }
}

/// Never ends.
#[agent(writes = line)]
async fn forever(cx: &mut Context) -> Result<String> {
    cx.step("look", std::future::pending()).await
}

workflow! {
    /// A branch that never ends.
    Endless() -> line: String {
        parallel < forever >
    }
}

#[tokio::test]
#[ignore = "needs the binary of a Restate server"]
async fn a_run_whose_step_never_ends_is_cancelled() {
    let world = World::start(|builder| builder.workflow(Endless::default())).await;
    let mut stream = world.client.run(Arc::new(Endless::default()), ()).stream();
    let run = stream.next().await.unwrap().unwrap().invocation_id;
    let looks = "SELECT id FROM sys_journal WHERE name = 'endless/parallel_1/forever:step.look@0'";
    until("it looks", async || {
        !world.server.query(looks).await.is_empty()
    })
    .await;
    world.client.cancel(run).await.unwrap();
    assert_eq!(
        stream.finish().await.unwrap_err().kind(),
        ErrorKind::Cancelled
    );
    let open = "SELECT id, target FROM sys_invocation WHERE status <> 'completed'";
    until("no invocation is left", async || {
        world.server.query(open).await.is_empty()
    })
    .await;
}

#[tokio::test]
#[ignore = "needs the binary of a Restate server"]
async fn runs_of_a_session_take_turns() {
    let build = |builder: support::Builder| {
        builder
            .workflow(Entering::default())
            .workflow(Asking::default())
    };
    let world = World::start(build).await;
    let session = world.client.session("ann", "desk");
    // A run that waits for people releases its turn.
    let waiting = paused(session.run(&Asking::default(), "cats").stream()).await;
    let first = tokio::spawn(
        session
            .run(Arc::new(Entering::default()), "first")
            .into_future(),
    );
    let run = async |state: &str| {
        let runs = world
            .client
            .runs(&RunFilter::any().workflows([state]))
            .await
            .unwrap();
        runs.iter()
            .filter(|run| run.status != RunStatus::Queued)
            .count()
    };
    until("the first has begun", async || run("entering").await == 1).await;
    let second = tokio::spawn(
        session
            .run(Arc::new(Entering::default()), "second")
            .into_future(),
    );
    let queued = "SELECT id FROM sys_invocation
        WHERE target_service_name = 'adk-sessions' AND status <> 'completed'";
    until("the second waits", async || {
        world.server.query(queued).await.len() == 2
    })
    .await;
    world.client.answer(&waiting[0].id, true).await.unwrap();
    until("the one with an answer waits", async || {
        world.server.query(queued).await.len() == 3
    })
    .await;
    assert_eq!(run("entering").await, 1);
    DOORS[0].add_permits(2);
    assert_eq!(first.await.unwrap().unwrap().output, "first");
    assert_eq!(second.await.unwrap().unwrap().output, "second");
    let ended = world
        .client
        .resume(&Asking::default(), waiting[0].run_id)
        .await
        .unwrap();
    assert_eq!(ended.output, "about cats: true");
}

#[tokio::test]
#[ignore = "needs the binary of a Restate server"]
async fn a_client_follows_an_existing_run() {
    let world = World::start(|builder| builder.workflow(Entering::default())).await;
    let id = RunId::new();
    let mut stream = world
        .client
        .run(Arc::new(Entering::default()), "again")
        .run_id(id)
        .stream();
    stream.next().await.unwrap().unwrap();
    drop(stream);
    let follower = tokio::spawn(
        world
            .client
            .resume(Arc::new(Entering::default()), id)
            .into_future(),
    );
    DOORS[1].add_permits(1);
    assert_eq!(follower.await.unwrap().unwrap().output, "again");
    let ended = world.client.resume(&Entering::default(), id).await.unwrap();
    assert_eq!(ended.output, "again");
}
