//! [`kill_everywhere`]: kills the process of a run at one point after another; another process
//! resumes the run.

#[path = "../../adk-core/tests/durable/engine.rs"]
#[allow(clippy::unwrap_used, reason = "it is a part of tests")]
#[allow(dead_code, reason = "the crash tests of the runtime use the rest")]
mod engine;

use adk::engine::MemoryJournal;
use adk::model::{Model, ModelRequest, ModelStream};
use adk::session::{MemoryStore, SessionStore};
use adk::testing::ScriptedModel;
use adk::{IntoInput, Needs, NoResources, Outcome, Runner, Workflow};
pub(crate) use engine::Crashing;
use std::sync::Arc;

/// A model that replies by the number of the turn, also in a process that resumes the run.
#[derive(Clone, Copy)]
pub(crate) struct ByTurn(pub(crate) fn(u32) -> ScriptedModel);

impl Model for ByTurn {
    fn name(&self) -> &'static str {
        "by turn"
    }

    fn generate(&self, request: Arc<ModelRequest>) -> ModelStream {
        (self.0)(request.info.turn).generate(request)
    }
}

/// Kills the process of a run at each point, until a run ends before the next point. `check`
/// asserts each outcome. The engine asserts that no call is made twice. Returns the number of
/// kills.
pub(crate) async fn kill_everywhere<W: Workflow + Needs<NoResources>>(
    workflow: &W,
    input: &str,
    model: ByTurn,
    check: impl Fn(Outcome<W::Output>),
) -> usize
where
    for<'a> &'a str: IntoInput<W::Input>,
{
    for at in 0.. {
        let (sessions, journal): (Arc<dyn SessionStore>, _) =
            (Arc::new(MemoryStore::new()), MemoryJournal::new());
        let recorded = Arc::default();
        let process = |at| {
            let engine = Crashing::new(journal.clone(), Arc::clone(&recorded), at);
            let builder = Runner::builder()
                .model(model)
                .session_store(sessions.clone());
            (builder.engine(engine.clone()).build().unwrap(), engine)
        };
        let (runner, engine): (Runner, _) = process(at);
        let ended = tokio::select! {
            biased;
            () = engine.crashed.notified() => None,
            done = runner.run(workflow, input) => Some(done.unwrap()),
        };
        if let Some(outcome) = ended {
            check(outcome);
            return at;
        }
        let (runner, _) = process(usize::MAX);
        let [key] = &sessions.list("app", None, "").await.unwrap()[..] else {
            continue;
        };
        let session = sessions.get(&key.key).await.unwrap().unwrap();
        let Some(first) = session.event(0) else {
            continue;
        };
        check(runner.resume(workflow, first.invocation_id).await.unwrap());
    }
    unreachable!("a run ends")
}
