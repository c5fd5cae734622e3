//! [`FollowedRun`]: a run that another process drives. The runner hands it over and reads its
//! events from the store.

use super::RunnerShared;
use super::place::find_session;
use crate::runtime::run::{Run, RunIdentity, RunKind, RunLimits};
use crate::store::engine::{
    ClaimId, DrivenRun, RunDriver, RunFilter, RunReport, RunStatus, RunTask, Waiting, refuse,
};
use crate::store::outbox::CountGuard;
use crate::{BoxFuture, Error, ErrorKind, Result, RunId};
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// Shortest and longest pause between two reads of the store. Each read without news doubles the
/// pause.
const PAUSE: (Duration, Duration) = (Duration::from_millis(16), Duration::from_millis(512));

/// Time that the driver has to report the end of a run after the store contains it.
const REPORT_TIMEOUT: Duration = Duration::from_secs(30);

/// Report of the driver, ready when the run has ended or waits.
type DriverReport = BoxFuture<'static, Result<Option<RunReport>>>;

/// State of a followed run.
pub(super) struct FollowedRun {
    driver_report: Option<DriverReport>,
    report: Option<Box<RunReport>>,
    /// Place in the log that is read next.
    next: u64,
}

/// Hands a run over to its driver and waits until the store contains it, possibly as queued.
pub(super) async fn hand_over(
    shared: &RunnerShared,
    driver: &dyn RunDriver,
    task: RunTask,
) -> Result<(DrivenRun, FollowedRun)> {
    let id = task.run_id;
    let mut followed = FollowedRun {
        driver_report: Some(driver.begin(task)),
        report: None,
        next: 0,
    };
    let mut pause = PAUSE.0;
    loop {
        if let Some(driven) = driven_run(shared, id, u64::MAX).await? {
            return Ok((driven, followed));
        }
        followed.wait_for_begin(id, &mut pause).await?;
    }
}

/// Follows a run that was just handed over, from its first event.
pub(super) async fn from_first(
    shared: &RunnerShared,
    mut run: DrivenRun,
    mut followed: FollowedRun,
) -> Result<(Arc<Run>, FollowedRun)> {
    let (id, mut pause) = (run.record.run_id, PAUSE.0);
    while run.status == RunStatus::Queued {
        followed.wait_for_begin(id, &mut pause).await?;
        run = driven_run(shared, id, u64::MAX)
            .await?
            .ok_or_else(|| refuse::unknown_run(id))?;
    }
    let run = run_at_start(shared, run).await?;
    followed.next = run.identity.began;
    Ok((run, followed))
}

/// Follows a run that was handed over earlier, from its current event.
pub(super) async fn resume(
    shared: &RunnerShared,
    id: RunId,
    check: impl Fn(&DrivenRun) -> Result<()>,
) -> Result<(Arc<Run>, FollowedRun)> {
    let mut pause = PAUSE.0;
    let driven = loop {
        let Some(driven) = driven_run(shared, id, 0).await? else {
            return Err(refuse::unknown_run(id));
        };
        check(&driven)?;
        if driven.status != RunStatus::Queued {
            break driven;
        }
        sleep(pause).await;
        pause = (pause * 2).min(PAUSE.1);
    };
    let events = driven.events.clone();
    let run = run_at_start(shared, driven).await?;
    let mut next = run.identity.began;
    for (_, stored) in events {
        next = stored.place + 1;
        run.apply_committed(stored);
    }
    Ok((
        run,
        FollowedRun {
            driver_report: None,
            report: None,
            next,
        },
    ))
}

async fn driven_run(shared: &RunnerShared, id: RunId, from: u64) -> Result<Option<DrivenRun>> {
    let registry = shared
        .engine
        .registry_for(|| format!("follow run `{id}`"))?;
    registry.driven(id, from).await
}

/// Returns the run with the session as it was when the run began.
async fn run_at_start(shared: &RunnerShared, driven: DrivenRun) -> Result<Arc<Run>> {
    let record = driven.record;
    let config =
        serde_json::from_value(record.config.clone()).unwrap_or_else(|_| shared.config.clone());
    let session = find_session(shared, &record.session, record.run_id).await?;
    let begins = usize::try_from(record.begins).unwrap_or(usize::MAX);
    let session = Arc::new(session.restored_at(&record.state, begins));
    let claim = ClaimId::driven_above(record.run_id);
    Ok(shared.create_run(
        RunKind::Followed,
        RunIdentity::of_record(claim, &record),
        session,
        RunLimits::new(config),
    ))
}

fn lost_run(run: RunId) -> Error {
    let message = format!("run `{run}` has ended, but the store does not contain it");
    Error::new(ErrorKind::Config, message)
        .with_help("let this process and its workers share one store")
}

impl FollowedRun {
    /// Waits for a pause, or until the driver reports.
    async fn wait_for_news(&mut self, pause: &mut Duration) -> Result<()> {
        let report = async {
            match &mut self.driver_report {
                Some(report) => report.await,
                None => pending().await,
            }
        };
        match timeout(*pause, report).await {
            Ok(report) => (self.driver_report, self.report) = (None, report?.map(Box::new)),
            Err(_) => *pause = (*pause * 2).min(PAUSE.1),
        }
        Ok(())
    }

    /// Waits for news of a run that has not begun. A report at this point means that the run ended
    /// without beginning.
    async fn wait_for_begin(&mut self, run: RunId, pause: &mut Duration) -> Result<()> {
        if let Some(report) = self.report.take() {
            report.end?;
            return Err(lost_run(run));
        }
        self.wait_for_news(pause).await
    }

    /// Returns the report of the driver, which follows soon after the end is stored. If the driver
    /// cannot be reached, the stored end remains valid.
    async fn report(&mut self) -> Option<Box<RunReport>> {
        if let Some(report) = self.driver_report.take()
            && let Ok(Ok(report)) = timeout(REPORT_TIMEOUT, report).await
        {
            self.report = report.map(Box::new);
        }
        self.report.take()
    }
}

/// Follows a run to its end.
// Not an `async fn`: the crates that run workflows would compile its body again.
pub(super) fn to_end(run: &Run, followed: FollowedRun) -> BoxFuture<'_, Result<()>> {
    Box::pin(follow_events(run, followed))
}

async fn follow_events(run: &Run, mut followed: FollowedRun) -> Result<()> {
    let registry = run
        .engine
        .registry_for(|| format!("follow run `{}`", run.id()))?;
    let mut pause = PAUSE.0;
    let (status, usage, workflow) = loop {
        let driven = registry.driven(run.id(), followed.next).await?;
        let driven = driven.ok_or_else(|| refuse::unknown_run(run.id()))?;
        for (_, stored) in driven.events {
            (followed.next, pause) = (stored.place + 1, PAUSE.0);
            let ticket = run.join_event(stored, None);
            run.outbox().until_taken(ticket).await;
        }
        match driven.status {
            RunStatus::Queued | RunStatus::Running => {}
            RunStatus::Paused => park(run).await?,
            ended => break (ended, driven.usage, driven.record.workflow),
        }
        if followed.driver_report.is_none() {
            followed.driver_report = ask_driver(run).await?;
        }
        followed.wait_for_news(&mut pause).await?;
    };
    if status == RunStatus::Cancelled {
        return Err(refuse::cancelled(run.id()));
    }
    if followed.driver_report.is_none() && followed.report.is_none() {
        followed.driver_report = ask_driver(run).await?;
    }
    let report = followed.report().await.map(|report| *report);
    let (end, loops, used) = report.map_or(
        (None, Vec::new(), None),
        |RunReport {
             end, loops, usage, ..
         }| (Some(end), loops, Some(usage)),
    );
    loops.into_iter().for_each(|end| run.progress.end_loop(end));
    // Usage without a name is that of a workflow whose driver knows only the sum.
    let usage = used.or(usage).unwrap_or_default();
    run.add_usages(&usage.named(&workflow.into()));
    match (end, status) {
        (Some(end), _) => end,
        (None, RunStatus::Failed(error)) => Err(error.into()),
        _ => Ok(()),
    }
}

/// Asks the driver for a report again.
async fn ask_driver(run: &Run) -> Result<Option<DriverReport>> {
    let Some(driver) = run.engine.driver() else {
        return Ok(None);
    };
    let filter = RunFilter::of_run(run.id());
    let found = run.engine.runs(&run.session().key().app, &filter).await?;
    Ok(found.into_iter().next().map(|info| driver.follow(info)))
}

/// Ends the stream as paused, unless the run has continued in the meantime.
async fn park(run: &Run) -> Result<()> {
    let filter = RunFilter::of_run(run.id());
    let open: Vec<Waiting> = run
        .engine
        .waiting(&run.session().key().app, &filter)
        .await?;
    if open.is_empty() {
        return Ok(());
    }
    let _waits: Vec<_> = open
        .into_iter()
        .map(|waiting| run.progress.add_waiting(waiting))
        .collect();
    let _parked = CountGuard::new(&run.outbox().parked);
    pending().await
}
