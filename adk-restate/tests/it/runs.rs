//! Runs on a Restate server: all kinds of blocks, and their entries in the journal.
use crate::support::{self, World};
use adk::engine::RunFilter;
use adk::prelude::*;
use adk::restate::Retries;
use adk::session::{EventFilter, SessionStore};
use adk::{ErrorKind, Event, RunConfig, RunId, StoreErrorKind};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// Returns its topic from a recorded call.
#[agent(writes = draft)]
async fn write(cx: &mut Context, topic: String) -> Result<String> {
    cx.step("pen", async move { Ok(format!("about {topic}")) })
        .await
}

/// Makes the draft longer, and ends the loop when it is long enough.
#[agent(writes = draft)]
async fn lengthen(cx: &mut Context, draft: String) -> Result<(String, Flow)> {
    let longer = cx
        .step("pen", async move { Ok(format!("{draft}!")) })
        .await?;
    let flow = if longer.ends_with("!!!") {
        Flow::Exit
    } else {
        Flow::Continue
    };
    Ok((longer, flow))
}

/// Ends the workflow.
#[agent(writes = line)]
fn print(draft: &str) -> String {
    format!("{draft}.")
}

workflow! {
    /// A sequence and a loop.
    Writing(topic: String) -> line: String {
        write;
        refinement: loop(max = 5) < lengthen >
        print;
    }
}

#[tokio::test]
#[ignore = "needs the binary of a Restate server"]
async fn a_sequence_and_a_loop() {
    let world = World::start(|builder| builder.workflow(Writing::default())).await;
    let ended = world.client.run(&Writing::default(), "cats").await.unwrap();
    assert_eq!(ended.output, "about cats!!!.");
    assert_eq!(ended.loops.len(), 1);
    assert_eq!(
        world.entries("writing").await,
        [
            "writing/write:step.pen@0",
            "writing/refinement#1/lengthen:step.pen@0",
            "writing/refinement#2/lengthen:step.pen@0",
            "writing/refinement#3/lengthen:step.pen@0",
            "writing/print:function@0",
        ]
    );
    assert_eq!(
        paths(ended.session().events()),
        paths(&stored(&world, ended.run_id).await)
    );
}

fn paths<'a>(events: impl IntoIterator<Item = &'a std::sync::Arc<Event>>) -> Vec<String> {
    events
        .into_iter()
        .map(|event| event.path.to_string())
        .collect()
}

/// Reads the events of a run's session from the store.
async fn stored(world: &World, run: RunId) -> Vec<std::sync::Arc<Event>> {
    let runs = world.client.runs(&RunFilter::of_run(run)).await.unwrap();
    let key = &runs[0].session;
    world
        .store
        .read(key, &EventFilter::new())
        .await
        .unwrap()
        .unwrap()
        .events
}

/// The mood of a session.
#[adk::data]
pub enum Mood {
    /// Good.
    Good,
    /// Bad.
    Bad,
}

/// Chooses a mood.
#[agent(writes = mood)]
fn sort(names: &[String]) -> Mood {
    if names.len() > 2 {
        Mood::Good
    } else {
        Mood::Bad
    }
}

/// Returns a name in capital letters.
#[agent(writes = shout)]
async fn loud(cx: &mut Context, name: String) -> Result<String> {
    cx.step("voice", async move { Ok(name.to_uppercase()) })
        .await
}

/// Counts the names.
#[agent(writes = count)]
fn count(names: &[String]) -> usize {
    names.len()
}

/// Joins the results.
#[agent(writes = all)]
fn join(shout: &[String], count: usize) -> String {
    format!("{count}: {}", shout.join(" "))
}

/// Returns only the count.
#[agent(writes = all)]
fn sigh(count: usize) -> String {
    format!("{count}")
}

workflow! {
    /// Branches and elements, which are invocations of their own.
    Choir(names: Vec<String>) -> all: String {
        sort;
        both: parallel <
            count;
            singers: each(max = 8, max_concurrency = 2) name in names < loud >
        >
        match mood < Mood::Good => join, Mood::Bad => sigh >
    }
}

#[tokio::test]
#[ignore = "needs the binary of a Restate server"]
async fn branches_are_invocations() {
    let world = World::start(|builder| builder.workflow(Choir::default())).await;
    let names: Vec<String> = ["ann", "bob", "cy"].map(str::to_owned).into();
    let ended = world.client.run(&Choir::default(), names).await.unwrap();
    assert_eq!(ended.output, "3: ANN BOB CY");
    let rows = "SELECT target_service_name AS name, count(*) AS n FROM sys_invocation
        GROUP BY target_service_name";
    let counts: BTreeMap<_, _> = world
        .server
        .query(rows)
        .await
        .iter()
        .map(|row| {
            (
                row["name"].as_str().unwrap().to_owned(),
                row["n"].as_u64().unwrap(),
            )
        })
        .collect();
    let branches = counts
        .iter()
        .find(|(name, _)| name.starts_with("choir.branch-"))
        .unwrap();
    assert_eq!(*branches.1, 2 + 3, "{counts:?}");
    let mut entries = world.entries("choir").await;
    entries.sort();
    assert_eq!(
        entries,
        [
            "choir/both/count:function@0",
            "choir/both/singers[0]/loud:step.voice@0",
            "choir/both/singers[1]/loud:step.voice@0",
            "choir/both/singers[2]/loud:step.voice@0",
            "choir/match_1/join:function@0",
            "choir/sort:function@0",
        ]
    );
    let seen: Vec<_> = ended.session().events().map(|event| event.id).collect();
    let stored: Vec<_> = stored(&world, ended.run_id)
        .await
        .iter()
        .map(|event| event.id)
        .collect();
    assert_eq!(seen, stored);
}

/// Sleeps in the first attempt only.
#[agent(writes = facts)]
async fn slow_at_first(cx: &mut Context) -> Result<String> {
    let is_first = cx.iteration() == Some(0);
    cx.step("look", async move {
        if is_first {
            std::future::pending::<()>().await;
        }
        Ok("three".to_owned())
    })
    .await
}

/// Never ends.
#[agent(writes = facts)]
async fn forever(cx: &mut Context) -> Result<String> {
    cx.step("look", std::future::pending()).await
}

/// Returns the error as text.
#[agent(writes = facts)]
fn without(error: &str) -> String {
    format!("none: {error}")
}

/// Returns a constant text.
#[agent(writes = other)]
fn also() -> String {
    "also".to_owned()
}

workflow! {
    /// Steps and branches that exceed their time limit.
    Patience() -> facts: String {
        try(attempts = 2, timeout = "300ms", delay = "10ms") < slow_at_first > else < without >
        second: try(attempts = 1, timeout = "300ms") <
            pair: parallel < forever as never; also >
        > else < without as finally >
    }
}

#[tokio::test]
#[ignore = "needs the binary of a Restate server"]
async fn steps_and_branches_end_when_their_time_is_over() {
    let world = World::start(|builder| builder.workflow(Patience::default())).await;
    let ended = world.client.run(&Patience::default(), ()).await.unwrap();
    assert!(ended.output.starts_with("none: "), "{}", ended.output);
    let seen = paths(ended.session().events());
    assert!(
        seen.contains(&"patience/try_1#2/slow_at_first".to_owned()),
        "{seen:?}"
    );
    assert!(
        seen.contains(&"patience/second#1/pair/also".to_owned()),
        "{seen:?}"
    );
}

/// Fails.
#[agent(writes = line)]
async fn fail(cx: &mut Context) -> Result<String> {
    cx.step("fall", async {
        Err(adk::Error::new(ErrorKind::Agent, "it broke").with_help("mend it"))
    })
    .await
}

workflow! {
    /// A failure in a branch.
    Failing() -> line: String {
        both: parallel < fail; also >
    }
}

#[tokio::test]
#[ignore = "needs the binary of a Restate server"]
async fn an_error_is_delivered_unchanged() {
    let world = World::start(|builder| builder.workflow(Failing::default())).await;
    let error = world.client.run(&Failing::default(), ()).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.message()),
        (ErrorKind::Agent, "it broke")
    );
    assert_eq!(error.help(), Some("mend it"));
    assert_eq!(error.path().unwrap().to_string(), "failing/both/fail");
    let runs = world.client.runs(&RunFilter::any()).await.unwrap();
    assert!(matches!(
        &runs[0].status,
        adk::engine::RunStatus::Failed(told) if told.message.contains("it broke")
    ));
}

#[tokio::test]
#[ignore = "needs the binary of a Restate server"]
async fn a_run_of_an_unknown_workflow_is_refused() {
    let world = World::start(|builder| builder.workflow(Failing::default())).await;
    let error = world
        .client
        .run(&Writing::default(), "cats")
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Config, "{error}");
    assert!(
        error.message().contains(&world.server.ingress()) && error.message().contains("`writing`"),
        "{error}"
    );
}

#[tokio::test]
#[ignore = "needs the binary of a Restate server"]
async fn the_settings_of_a_run_reach_the_worker() {
    let world = World::start(|builder| builder.workflow(Patience::default())).await;
    let config = RunConfig::new().deadline(Duration::from_millis(50));
    let error = world
        .client
        .run(&Patience::default(), ())
        .config(config)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DeadlineExceeded, "{error}");
}

#[tokio::test]
#[ignore = "needs the binary of a Restate server"]
async fn failed_attempts_are_repeated_by_the_policy_of_the_endpoint() {
    let world = World::start(|builder| builder.workflow(Failing::default())).await;
    let retries = Retries::new()
        .attempts(7)
        .between(Duration::from_millis(50), Duration::from_secs(3));
    let endpoint = adk::restate::endpoint(&world.client)
        .workflow(Writing::default())
        .retry(retries);
    let worker = support::Worker::start(endpoint).await;
    world.server.register(worker.address).await;
    let service = world.server.call("GET", "/services/writing", None).await;
    let policy = &service["retry_policy"];
    assert_eq!(
        (&policy["max_attempts"], &policy["on_max_attempts"]),
        (&json!(7), &json!("Pause")),
        "{service}"
    );
    assert_eq!(
        world
            .client
            .run(&Writing::default(), "cats")
            .await
            .unwrap()
            .output,
        "about cats!!!."
    );
}

/// Number of executions of [`look_up`].
static LOOKS: AtomicU32 = AtomicU32::new(0);

/// Fails twelve times because of an unreachable store. The call is not recorded, so each attempt
/// executes it again.
#[agent(writes = looks)]
async fn look_up(_: &mut Context) -> Result<u32> {
    match LOOKS.fetch_add(1, Relaxed) {
        ..12 => Err(Error::new(
            ErrorKind::Store(StoreErrorKind::Unavailable),
            "away",
        )),
        looks => Ok(looks),
    }
}

workflow! {
    /// A workflow whose agent fails twelve times.
    Looking() -> looks: u32 {
        look_up
    }
}

/// The server is configured to pause an invocation after three attempts.
#[tokio::test]
#[ignore = "needs the binary of a Restate server"]
async fn attempts_without_a_limit_exceed_the_limit_of_the_server() {
    let three = [("RESTATE_DEFAULT_RETRY_POLICY__MAX_ATTEMPTS", "3")];
    let world = World::start_with(&three, |builder| builder.workflow(Failing::default())).await;
    let millisecond = Duration::from_millis(1);
    let endpoint = adk::restate::endpoint(&world.client)
        .workflow(Looking::default())
        .retry(Retries::new().between(millisecond, millisecond));
    let worker = support::Worker::start(endpoint).await;
    world.server.register(worker.address).await;
    let paused = support::until("the invocation is paused", async || {
        !world
            .server
            .query("SELECT id FROM sys_invocation WHERE status = 'paused'")
            .await
            .is_empty()
    });
    let looking = Looking::default();
    tokio::select! {
        ended = world.client.run(&looking, ()) => assert!(ended.unwrap().output >= 12),
        () = paused => {
            panic!("Restate has paused the invocation after {} attempts", LOOKS.load(Relaxed))
        }
    }
}
