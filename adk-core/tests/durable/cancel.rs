//! Cancelled runs, including runs whose process dies before it notices.

use super::trees;
use crate::support::*;
use adk_build::engine::{MemoryJournal, RunFilter, RunStatus};
use adk_build::session::{MemoryStore, SessionStore};
use adk_build::testing::ScriptedModel;
use adk_build::{ErrorKind, Runner};
use std::sync::Arc;

/// Sessions and runs in memory, shared by any number of runners.
#[derive(Default)]
pub struct Memory(Arc<MemoryStore>, MemoryJournal);

impl limits::Opens for Memory {
    async fn runner(&self, model: ScriptedModel) -> Runner {
        let sessions: Arc<dyn SessionStore> = self.0.clone();
        let runner = Runner::builder()
            .app_name("app")
            .model(model)
            .session_store(sessions);
        runner.engine(self.1.clone()).build().unwrap()
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_is_cancelled_by_any_program() {
    cancelled::ends_waiting_runs(&Memory::default()).await;
    cancelled::ends_at_the_next_commit(&Memory::default()).await;
    cancelled::ends_at_once_here(&Memory::default()).await;
    cancelled::reports_status(&Memory::default()).await;
}

#[tokio::test]
async fn a_request_key_has_one_binding_and_its_run_starts_once() {
    keys::binds(&Memory::default()).await;
    keys::rebinds(&Memory::default()).await;
    keys::binds_once(&Memory::default()).await;
    keys::begins_once(&Memory::default()).await;
    keys::begins_once_of_many(&Memory::default()).await;
}

#[tokio::test]
async fn runs_are_listed_with_status_times_and_usage() {
    listed::reports_times_and_usage(&Memory::default()).await;
    listed::turns_pages(&Memory::default()).await;
    listed::reports_usage_of_cancelled_runs(&Memory::default()).await;
}

/// Cancels a run from another program after any number of events of any tree. The run commits no
/// further event, whether it continues or is killed before it notices, and it is not resumed.
#[tokio::test(start_paused = true)]
async fn a_cancelled_run_stays_cancelled_wherever_it_was_killed() {
    let mut cancelled = 0;
    for (name, tree, _) in trees::all() {
        for (after, is_killed) in (1..).flat_map(|after| [(after, false), (after, true)]) {
            let place = Memory::default();
            let here = limits::Opens::runner(&place, ScriptedModel::new()).await;
            let there = limits::Opens::runner(&place, ScriptedModel::new()).await;
            let (tree, session) = (tree(), here.session("u", "s"));
            let mut stream = session.run(&tree, "go").stream();
            let mut id = None;
            for _ in 0..after {
                let Some(event) = stream.next().await else {
                    break;
                };
                id = Some(event.unwrap().invocation_id);
            }
            let id = id.unwrap();
            if there.cancel(id).await.unwrap() == RunStatus::Finished {
                break;
            }
            cancelled += 1;
            let committed = session.open().await.unwrap().len();
            if is_killed {
                drop(stream);
            } else {
                let error = loop {
                    match stream.next().await {
                        // The event was committed before the cancellation.
                        Some(Ok(_)) => {}
                        Some(Err(error)) => break error,
                        None => panic!("{name} after {after}: the run has succeeded"),
                    }
                };
                assert_eq!(
                    error.kind(),
                    ErrorKind::Cancelled,
                    "{name} after {after}: {error}"
                );
            }
            let error = there.resume(&tree, id).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Cancelled, "{name} after {after}");
            assert_eq!(
                session.open().await.unwrap().len(),
                committed,
                "{name} after {after}"
            );
            assert_eq!(there.runs(&RunFilter::ready()).await.unwrap(), []);
            let run = there.runs(&RunFilter::of_run(id)).await.unwrap().remove(0);
            assert_eq!(run.status, RunStatus::Cancelled, "{name} after {after}");
        }
    }
    assert!(cancelled > 100, "only {cancelled} runs were cancelled");
}
