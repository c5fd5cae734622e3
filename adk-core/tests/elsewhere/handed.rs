//! Runs that are handed over to another process, and followed in the store that both share.

use super::log::Log;
use super::runs::{all, comparable, in_process, shape};
use super::serve::Process;
use crate::support::*;
use adk_core::engine::{
    Body, ClaimCheck, ClaimId, ClaimedRun, Done, DrivenRun, DueWaits, Engine, Journal, MemoryJournal,
    RemoteBranches, Reply, Retention, RunDriver, RunFilter, RunInfo, RunRegistry, RunReport, RunStatus,
    RunTask, Slot, StepKey, Stored, Timers, Wait, WaitRegistry, Waiting, refuse,
};

use adk_core::model::Usage;
use adk_core::session::SessionStore;
use adk_core::{BoxFuture, Error, ErrorKind, Event, Flow, LiveQueue, Result, RunEnd, RunId, Runner};
use serde_json::Value;
use std::future::{pending, ready};
use std::sync::Arc;

/// The engine of the process that asks: it hands over, and looks into the log.
#[derive(Clone)]
struct Client {
    log: Log,
    /// The workflow as the process knows it that drives.
    tree: fn() -> Tree,
}

fn client(tree: fn() -> Tree, log: &Log) -> Runner {
    let sessions: Arc<dyn SessionStore> = Arc::new(log.clone());
    let engine = Client { log: log.clone(), tree };
    Runner::builder().session_store(sessions).engine(engine).build().unwrap()
}

impl RunDriver for Client {
    fn begin(&self, task: RunTask) -> BoxFuture<'static, Result<Option<RunReport>>> {
        let Self { log, tree } = self.clone();
        let driving = tokio::spawn(async move {
            let process = Process::new(log.clone(), tree, usize::MAX);
            let (runner, posted) = process.runner();
            let report = match runner.with_workflow(tree()).begin(task) {
                Ok(request) => RunReport::of(process.serve(request, posted, pending()).await.0.unwrap()),
                Err(error) => RunReport::new(Err(error), Vec::new(), Usage::default()),
            };
            log.is(match &report.end {
                Ok(()) => RunStatus::Finished,
                Err(error) => RunStatus::Failed(error.to_string()),
            });
            // As it is sent.
            RunReport::from_value(report.to_value().unwrap()).map(Some)
        });
        Box::pin(async { driving.await.unwrap() })
    }
    fn follow(&self, _: RunInfo) -> BoxFuture<'static, Result<Option<RunReport>>> {
        Box::pin(pending())
    }
}

impl RunRegistry for Client {
    fn claim(&self, run: RunId, _: ClaimCheck) -> BoxFuture<'_, Result<ClaimedRun>> {
        Box::pin(async move { Err(refuse::run_busy(run)) })
    }
    fn finished(&self, _: ClaimId, _: Vec<Done>) -> BoxFuture<'_, Result<()>> {
        unreachable!("who drives says so")
    }
    fn close(&self, _: ClaimId, _: RunStatus, _: Usage) -> BoxFuture<'_, Result<()>> {
        unreachable!("who drives says so")
    }
    fn cancel<'a>(&'a self, _: &'a str, _: RunId) -> BoxFuture<'a, Result<RunStatus>> {
        self.log.is(RunStatus::Cancelled);
        Box::pin(ready(Ok(RunStatus::Cancelled)))
    }
    fn release(&self, _: ClaimId) {}
    fn runs<'a>(&'a self, _: &'a str, _: &'a RunFilter) -> BoxFuture<'a, Result<Vec<RunInfo>>> {
        let run = self.log.driven(u64::MAX);
        let run = run.map(|DrivenRun { record, status, .. }| {
            RunInfo::new(record.run_id, record.session, record.workflow, status, false)
        });
        Box::pin(ready(Ok(run.into_iter().collect())))
    }
    fn driven(&self, _: RunId, from: u64) -> BoxFuture<'_, Result<Option<DrivenRun>>> {
        Box::pin(ready(Ok(self.log.driven(from))))
    }
}

impl WaitRegistry for Client {
    fn waiting<'a>(&'a self, _: &'a str, _: &'a RunFilter) -> BoxFuture<'a, Result<Vec<Waiting>>> {
        Box::pin(ready(Ok(self.log.waiting())))
    }
    fn open_wait<'a>(&'a self, _: &'a str, id: &'a str) -> BoxFuture<'a, Result<Waiting>> {
        let open = self.log.waiting().into_iter().find(|waiting| waiting.id == id);
        Box::pin(ready(open.ok_or_else(|| refuse::unknown_wait(id))))
    }
    fn due<'a>(&'a self, _: &'a str, _: u64, _: usize) -> BoxFuture<'a, Result<DueWaits>> {
        Box::pin(ready(Ok(DueWaits::default())))
    }
    fn withdraw(&self, _: ClaimId, _: Vec<String>) -> BoxFuture<'_, Result<()>> {
        unreachable!("who drives does so")
    }
    fn resolve<'a>(&'a self, _: &'a str, id: &'a str, answer: Value) -> BoxFuture<'a, Result<()>> {
        self.log.answer(id, answer);
        Box::pin(ready(Ok(())))
    }
}

impl Journal for Client {
    fn commit<'a>(&'a self, slot: Slot, body: Body) -> Reply<'a, Result<Stored>> {
        drop((slot, body));
        unreachable!("who drives does so")
    }
    fn step(
        &self,
        _: ClaimId,
        _: StepKey,
        _: BoxFuture<'static, Result<Value>>,
    ) -> BoxFuture<'_, Result<Value>> {
        unreachable!("who drives does so")
    }
    fn answer(&self, _: ClaimId, _: Wait) -> BoxFuture<'_, Result<Option<Value>>> {
        unreachable!("who drives does so")
    }
}

impl Engine for Client {
    fn retention(&self) -> Retention {
        Retention::Durable
    }
    fn registry(&self) -> Option<&dyn RunRegistry> {
        Some(self)
    }
    fn waits(&self) -> Option<&dyn WaitRegistry> {
        Some(self)
    }
    fn driver(&self) -> Option<&dyn RunDriver> {
        Some(self)
    }
    fn remote(&self) -> Option<&dyn RemoteBranches> {
        None
    }
    fn timers(&self) -> Option<&dyn Timers> {
        None
    }
}

#[test]
fn who_follows_a_run_sees_what_who_drives_it_does() {
    for (name, tree, _) in all() {
        let (expected, loops) = in_process(async move {
            let runner: Runner = Runner::builder().engine(MemoryJournal::new()).build().unwrap();
            let outcome = runner.run(&tree(), "go").await.unwrap();
            (shape(outcome.session().events()), outcome.loops)
        });
        in_process(async move {
            let (log, workflow) = (Log::default(), tree());
            let mut stream = client(tree, &log).run(&workflow, "go").stream();
            let mut events: Vec<Arc<Event>> = Vec::new();
            while let Some(event) = stream.next().await {
                events.push(event.unwrap());
            }
            let outcome = stream.finish().await.unwrap();
            assert_eq!(comparable(shape(&events), name), comparable(expected, name), "{name}: the stream");
            assert_eq!(outcome.loops, loops, "{name}");
            assert!(outcome.session().events().eq(&log.events()), "{name}: the session is as the log");
            assert!(events.iter().eq(&log.events()), "{name}: in the order of the log");
        });
    }
}

#[test]
fn a_run_that_another_process_has_handed_over_is_followed_from_where_it_is() {
    fn tree() -> Tree {
        Tree::new("w", vec![run(say("a")), run(say("b"))])
    }
    in_process(async {
        let (log, workflow) = (Log::default(), tree());
        let mut stream = client(tree, &log).run(&workflow, "go").stream();
        let first = stream.next().await.unwrap().unwrap();
        drop(stream);
        let outcome = client(tree, &log).resume(&workflow, first.invocation_id).await.unwrap();
        assert!(outcome.session().events().eq(&log.events()));
        assert_eq!(log.events().len(), 3);
    });
}

#[test]
fn a_run_that_waits_pauses_for_who_follows_it_and_goes_on_with_the_answer() {
    fn tree() -> Tree {
        let asks = by("a", |cx| {
            Box::pin(async move {
                let yes: bool = cx.wait("decision").await?;
                cx.emit(Event::new().with_text(format!("a {yes}"))).await?;
                Ok(Flow::Continue)
            })
        });
        Tree::new("w", vec![run(asks), run(say("z"))])
    }
    in_process(async {
        let (log, workflow) = (Log::default(), tree());
        let runner = client(tree, &log);
        let mut stream = runner.run(&workflow, "go").stream();
        while let Some(event) = stream.next().await {
            event.unwrap();
        }
        let RunEnd::Paused(waiting) = stream.end() else { panic!("it waits") };
        assert_eq!(runner.waiting().await.unwrap(), waiting);
        runner.answer(&waiting[0].id, true).await.unwrap();
        let outcome = runner.resume(&workflow, waiting[0].run_id).await.unwrap();
        let said: Vec<_> = outcome.session().events().map(|event| event.text()).collect();
        assert_eq!(said, ["go", "a true", "z"]);
    });
}

#[test]
fn what_ends_badly_elsewhere_ends_so_for_who_follows_it() {
    fn fails() -> Tree {
        let agent = by("a", |_| Box::pin(async { Err(Error::new(ErrorKind::Timeout, "too slow")) }));
        Tree::new("w", vec![run(say("b")), run(agent)])
    }
    fn other() -> Tree {
        Tree::new("w", vec![run(say("c"))])
    }
    fn unknown() -> Tree {
        Tree::new("v", vec![run(say("b"))])
    }
    fn hangs() -> Tree {
        Tree::new("w", vec![run(say("b")), run(by("a", |cx| Box::pin(cx.step("hangs", pending()))))])
    }
    for (asked, drives, wanted, said) in [
        (fails as fn() -> Tree, fails as fn() -> Tree, ErrorKind::Timeout, "too slow"),
        (fails, other, ErrorKind::TopologyChanged, "is not of the shape any more"),
        (fails, unknown, ErrorKind::Config, "no workflow `w` is known to this runner; known: `v`"),
        (hangs, hangs, ErrorKind::Cancelled, "was cancelled"),
    ] {
        in_process(async move {
            let (log, workflow) = (Log::default(), asked());
            let runner = client(drives, &log);
            let mut stream = runner.run(&workflow, "go").stream();
            let error = loop {
                match stream.next().await.expect("an error") {
                    Ok(event) if event.author == "b" && wanted == ErrorKind::Cancelled => {
                        runner.cancel(event.invocation_id).await.unwrap();
                    }
                    Ok(_) => {}
                    Err(error) => break error,
                }
            };
            assert_eq!(error.kind(), wanted, "{error}");
            assert!(error.to_string().contains(said), "{error}");
        });
    }
}

#[test]
fn a_live_run_is_not_handed_over() {
    fn tree() -> Tree {
        Tree::new("w", vec![run(say("a"))])
    }
    in_process(async {
        let (log, queue) = (Log::default(), LiveQueue::new());
        let workflow = tree();
        let error = client(tree, &log).run_live(&workflow, "hi", &queue).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Config);
        assert!(error.message().contains("live run"), "{error}");
    });
}
