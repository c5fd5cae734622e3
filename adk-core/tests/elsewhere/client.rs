//! The engine of a process that transfers its runs to another process and follows them in the
//! shared log.

use super::log::Log;
use super::serve::Process;
use crate::support::Tree;
use adk_build::engine::{
    Body, Claim, ClaimCheck, ClaimId, ClaimedRun, Done, DrivenRun, DueWaits, Engine, Journal,
    Reply, Retention, Roles, RunDriver, RunFilter, RunInfo, RunRecord, RunRegistry, RunReport,
    RunStatus, RunTask, Slot, StepKey, Stored, Wait, WaitRegistry, Waiting, refuse,
};

use adk_build::model::UsageByAgent;
use adk_build::session::{Location, SessionStore};
use adk_build::{BoxFuture, Result, RunId, Runner};
use serde_json::Value;
use std::future::{pending, ready};
use std::sync::Arc;

/// The engine of the requesting process, which transfers runs and reads the log.
#[derive(Clone)]
struct Client {
    log: Log,
    /// The workflow as the driving process knows it.
    tree: fn() -> Tree,
}

pub fn client(tree: fn() -> Tree, log: &Log) -> Runner {
    let sessions: Arc<dyn SessionStore> = Arc::new(log.clone());
    let engine = Client {
        log: log.clone(),
        tree,
    };
    Runner::builder()
        .session_store(sessions)
        .engine(engine)
        .build()
        .unwrap()
}

impl RunDriver for Client {
    fn begin(&self, task: RunTask) -> BoxFuture<'static, Result<Option<RunReport>>> {
        let Self { log, tree } = self.clone();
        let driving = tokio::spawn(async move {
            let process = Process::new(log.clone(), tree, usize::MAX);
            let (runner, posted) = process.runner();
            let report = match runner.with_workflow(tree()).begin(task) {
                Ok(request) => adk_build::Outcome::report(
                    process.serve(request, posted, pending()).await.0.unwrap(),
                ),
                Err(error) => RunReport::new(Err(error), Vec::new(), UsageByAgent::default()),
            };
            // The report is JSON, as when it is sent.
            let sent = report.to_value().unwrap();
            log.ended(sent.clone());
            log.is(match &report.end {
                Ok(()) => RunStatus::Finished,
                Err(error) => RunStatus::Failed(error.into()),
            });
            RunReport::from_value(sent).map(Some)
        });
        Box::pin(async { driving.await.unwrap() })
    }
    fn follow(&self, _: RunInfo) -> BoxFuture<'static, Result<Option<RunReport>>> {
        let log = self.log.clone();
        Box::pin(async move {
            loop {
                let changed = log.1.notified();
                if let Some(report) = log.report() {
                    return RunReport::from_value(report).map(Some);
                }
                changed.await;
            }
        })
    }
}

impl RunRegistry for Client {
    fn enqueue(&self, _: ClaimId, _: RunRecord) -> BoxFuture<'_, Result<Claim>> {
        unreachable!("the driving process reports it")
    }
    fn claim(&self, run: RunId, _: ClaimCheck) -> BoxFuture<'_, Result<ClaimedRun>> {
        Box::pin(async move { Err(refuse::run_busy(run)) })
    }
    fn finished(&self, _: ClaimId, _: Vec<Done>) -> BoxFuture<'_, Result<()>> {
        unreachable!("the driving process reports it")
    }
    fn close(&self, _: ClaimId, _: RunStatus, _: UsageByAgent) -> BoxFuture<'_, Result<()>> {
        unreachable!("the driving process reports it")
    }
    fn cancel<'a>(&'a self, _: &'a str, _: RunId) -> BoxFuture<'a, Result<RunStatus>> {
        self.log.is(RunStatus::Cancelled);
        Box::pin(ready(Ok(RunStatus::Cancelled)))
    }
    fn release(&self, _: ClaimId) {}
    fn runs<'a>(&'a self, _: &'a str, _: &'a RunFilter) -> BoxFuture<'a, Result<Vec<RunInfo>>> {
        let run = self.log.driven(u64::MAX);
        let run = run.map(|DrivenRun { record, status, .. }| {
            RunInfo::new(
                record.run_id,
                record.session,
                record.workflow,
                status,
                false,
            )
        });
        Box::pin(ready(Ok(run.into_iter().collect())))
    }
    fn runs_of_tenants<'a>(
        &'a self,
        _: &'a str,
        _: &'a RunFilter,
    ) -> BoxFuture<'a, Result<Vec<RunInfo>>> {
        Box::pin(async { Ok(Vec::new()) })
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
        let open = self
            .log
            .waiting()
            .into_iter()
            .find(|waiting| waiting.id == id);
        Box::pin(ready(open.ok_or_else(|| refuse::unknown_wait(id))))
    }
    fn due<'a>(&'a self, _: &'a str, _: u64, _: usize) -> BoxFuture<'a, Result<DueWaits>> {
        Box::pin(ready(Ok(DueWaits::default())))
    }
    fn due_of_tenants<'a>(
        &'a self,
        _: &'a str,
        _: u64,
        _: usize,
    ) -> BoxFuture<'a, Result<DueWaits>> {
        Box::pin(ready(Ok(DueWaits::default())))
    }
    fn withdraw(&self, _: ClaimId, _: Vec<String>) -> BoxFuture<'_, Result<()>> {
        unreachable!("the driving process does it")
    }
    fn resolve<'a>(&'a self, _: &'a str, id: &'a str, answer: Value) -> BoxFuture<'a, Result<()>> {
        self.log.answer(id, answer);
        Box::pin(ready(Ok(())))
    }
}

impl Journal for Client {
    fn commit<'a>(&'a self, slot: Slot, body: Body) -> Reply<'a, Result<Stored>> {
        drop((slot, body));
        unreachable!("the driving process does it")
    }
    fn step(
        &self,
        _: ClaimId,
        _: StepKey,
        _: BoxFuture<'static, Result<Value>>,
    ) -> BoxFuture<'_, Result<Value>> {
        unreachable!("the driving process does it")
    }
    fn answer(&self, _: ClaimId, _: Wait) -> BoxFuture<'_, Result<Option<Value>>> {
        unreachable!("the driving process does it")
    }
}

impl Engine for Client {
    fn retention(&self) -> Retention {
        Retention::Durable
    }
    fn location(&self) -> Location {
        Location::Memory
    }
    fn roles(&self) -> Roles<'_> {
        Roles {
            registry: Some(self),
            waits: Some(self),
            keys: None,
            driver: Some(self),
            remote: None,
            timers: None,
        }
    }
}
