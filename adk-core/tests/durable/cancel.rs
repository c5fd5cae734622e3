//! Cancelled runs, including runs whose process dies before it notices.

use super::trees;
use adk_build::engine::{MemoryJournal, RunFilter, RunStatus};
use adk_build::session::{MemoryStore, SessionStore};
use adk_build::{ErrorKind, Runner};
use std::sync::Arc;

/// Sessions and runs in memory, shared by any number of runners.
#[derive(Default)]
struct Memory(Arc<MemoryStore>, MemoryJournal);

impl Memory {
    fn runner(&self) -> Runner {
        let sessions: Arc<dyn SessionStore> = self.0.clone();
        let runner = Runner::builder().app_name("app").session_store(sessions);
        runner.engine(self.1.clone()).build().unwrap()
    }
}

/// Cancels a run from another program after any number of events of any tree. The run commits no
/// further event, whether it continues or is killed before it notices, and it is not resumed.
#[tokio::test(start_paused = true)]
async fn a_cancelled_run_stays_cancelled_wherever_it_was_killed() {
    let mut cancelled = 0;
    for (name, tree, _) in trees::all() {
        for (after, is_killed) in (1..).flat_map(|after| [(after, false), (after, true)]) {
            let place = Memory::default();
            let here = place.runner();
            let there = place.runner();
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
