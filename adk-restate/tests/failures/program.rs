//! Programs that the tests kill: a worker, and a client that begins runs or follows runs of an
//! earlier client.

use super::shapes::with_shapes;
use super::versions;
use adk::engine::RunFilter;
use adk::postgres::PostgresStore;
use adk::sqlite::SqliteStore;
use adk::{Error, ErrorKind, RunEnd, RunId, Runner, Store};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::time::Duration;

/// Interval of a client's polls.
const POLL: Duration = Duration::from_millis(20);

/// End of a run as a client saw it.
#[derive(Debug, Serialize, Deserialize)]
pub struct Ending {
    pub shape: String,
    pub output: Value,
    pub loops: Vec<String>,
    /// Ids of all events, if the client saw them in one stream.
    pub seen: Option<Vec<String>>,
    /// Errors after which the client resumed the run.
    pub stops: Vec<String>,
}

/// Runs the role in `ADK_ROLE` on the store in `ADK_STORE`.
pub async fn main() {
    let store = var("ADK_STORE");
    if store.starts_with("postgres:") {
        act(PostgresStore::connect(&store).await.unwrap()).await;
    } else {
        act(SqliteStore::open(store).await.unwrap()).await;
    }
}

async fn act(store: impl Store) {
    match &*var("ADK_ROLE") {
        "worker" => {
            let runner = runner(store);
            let address = var("ADK_LISTEN");
            adk::restate::endpoint(&runner)
                .serve(address.as_str())
                .await
                .unwrap();
        }
        _ => match std::env::var("ADK_RESTATE") {
            Ok(url) => client(runner(adk::restate::Restate::new(&url, store).unwrap())).await,
            Err(_) => client(runner(store)).await,
        },
    }
}

fn var(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is set"))
}

/// Returns a runner with all workflows in the versions of this build.
pub fn runner(store: impl Store) -> Runner {
    versions::with_desk(with_shapes(Runner::builder().store(store)))
        .build()
        .unwrap()
}

/// Completes all runs of `ADK_RUNS`, and answers their questions.
async fn client(runner: Runner) {
    let runs: Vec<(String, RunId)> = serde_json::from_str(&var("ADK_RUNS")).unwrap();
    let ids: Vec<RunId> = runs.iter().map(|(_, run)| *run).collect();
    let answers = {
        let runner = runner.clone();
        tokio::spawn(async move {
            while var("ADK_ANSWERS") == "yes" {
                answer(&runner, &ids).await;
                tokio::time::sleep(POLL).await;
            }
        })
    };
    let runs = runs.into_iter().map(|(shape, run)| {
        let runner = runner.clone();
        tokio::spawn(async move {
            let ending = bring_to_end(&runner, shape, run).await;
            println!("\nended {}", json!(ending));
        })
    });
    for run in runs.collect::<Vec<_>>() {
        run.await.unwrap();
    }
    answers.abort();
    println!("\nall ended");
}

/// Answers the open questions of these runs. Another client may have answered first.
async fn answer(runner: &Runner, runs: &[RunId]) {
    let Ok(open) = runner.waiting().await else {
        return;
    };
    for wait in open.iter().filter(|wait| runs.contains(&wait.run_id)) {
        let given = if wait.schema["type"] == "string" {
            runner.answer(&wait.id, wait.question.clone()).await
        } else {
            runner.answer(&wait.id, true).await
        };
        match given {
            Err(error) if !is_passing(&error) => {
                assert!(
                    matches!(error.kind(), ErrorKind::Answered | ErrorKind::UnknownWait),
                    "{error}"
                );
            }
            _ => {}
        }
    }
}

fn is_passing(error: &Error) -> bool {
    error.is_retryable() || error.kind() == ErrorKind::RunBusy
}

async fn bring_to_end(runner: &Runner, shape: String, run: RunId) -> Ending {
    let (mut stops, mut streams) = (Vec::new(), 0);
    loop {
        streams += 1;
        match one_stream(runner, &shape, run).await {
            Ok(Some((output, loops, seen))) => {
                let seen = (streams == 1).then_some(seen).flatten();
                return Ending {
                    shape,
                    output,
                    loops,
                    seen,
                    stops,
                };
            }
            Ok(None) => {}
            // An earlier client was killed, but its request has begun the run.
            Err(error) if is_passing(&error) || error.kind() == ErrorKind::RunExists => {
                stops.push(error.to_string());
            }
            Err(error) => panic!("{shape} {run}: {error}"),
        }
        tokio::time::sleep(POLL).await;
    }
}

/// Output, loops, and the events that the client has seen, of a run that has ended.
type Ended = (Value, Vec<String>, Option<Vec<String>>);

async fn one_stream(runner: &Runner, shape: &str, run: RunId) -> Result<Option<Ended>, Error> {
    let known = runner.runs(&RunFilter::of_run(run)).await?;
    let request = match known.first() {
        Some(info) => runner.resume_by_name(info)?,
        None => {
            let input = json!({"topic": format!("cats {run}")});
            runner
                .session("u", run.to_string())
                .run_by_name(shape, input)?
                .run_id(run)
        }
    };
    let mut stream = request.stream();
    let mut seen = Vec::new();
    while let Some(event) = stream.next().await {
        let event = event?;
        if !event.partial {
            seen.push(event.id.to_string());
        }
    }
    match stream.end() {
        RunEnd::Finished(outcome) => {
            let loops = outcome.loops.iter().map(ToString::to_string).collect();
            Ok(Some((
                outcome.output,
                loops,
                known.is_empty().then_some(seen),
            )))
        }
        _ => Ok(None),
    }
}
