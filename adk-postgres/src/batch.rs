//! [`batch`]: executes jobs of one session in one transaction, and reports each result.

use crate::Shared;
use crate::deliver::{Outcome, Written, deliver, refuse_job};
use crate::error::{copy, is_slot_taken, is_transient, outcome_unknown_error};
use crate::lane::Job;
use crate::log::Head;
use crate::perform::{Batch, Stop, execute_jobs};
use crate::rows::{Rows, SessionWrite};
use crate::transact::{Lost, Patience};
use adk_journal::session::SessionKey;
use adk_model::Result;
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::time::Instant;

impl Shared {
    /// Appends a job to the queue of its session. The job is executed even if the receiver of its
    /// result is dropped.
    pub(crate) fn post(self: &Arc<Self>, key: SessionKey, job: Job) {
        if !self.lanes.add(&key, job) {
            return;
        }
        let this = self.clone();
        self.runtime.spawn(async move {
            while let Some((asked, jobs)) = this.lanes.next(&key) {
                batch(&this, &key, asked, jobs).await;
            }
        });
    }
}

/// Executes jobs in one transaction, and reports each result to its sender. The patience of the
/// jobs counts from `asked`. If one job aborts the transaction, each job gets a transaction of its
/// own.
async fn batch(shared: &Arc<Shared>, key: &SessionKey, asked: Instant, mut jobs: Vec<Job>) {
    let mut patience = Patience::since(asked, shared.options.patience);
    // Whether an event may already fill a slot, because the connection was lost during an earlier
    // commit.
    let mut is_careful = false;
    // Whether an earlier commit was sent and got no answer.
    let mut is_unknown = false;
    loop {
        let Lost { error, is_sent } = match attempt(shared, key, &mut jobs, is_careful).await {
            Ok(written) => return deliver(shared, key, jobs, written),
            Err(lost) => lost,
        };
        if is_transient(&error) {
            is_careful |= is_sent;
            is_unknown |= is_sent;
            if (!is_sent || jobs.iter().all(Job::is_repeatable)) && patience.wait().await {
                continue;
            }
        } else if is_slot_taken(&error) && !is_careful {
            is_careful = true;
            continue;
        } else if jobs.len() > 1 {
            // One job aborted the batch. Execute each job in a transaction of its own.
            for job in jobs {
                Box::pin(batch(shared, key, asked, vec![job])).await;
            }
            return;
        }
        for job in jobs {
            let error = if is_unknown && job.writes() {
                outcome_unknown_error(&error)
            } else {
                copy(&error)
            };
            refuse_job(shared, job, error);
        }
        return;
    }
}

async fn attempt(
    shared: &Arc<Shared>,
    key: &SessionKey,
    jobs: &mut [Job],
    is_careful: bool,
) -> Result<Written, Lost> {
    if !is_careful && let Some(written) = write_directly(shared, key, jobs).await? {
        return Ok(written);
    }
    // In a box of its own, because most jobs need no transaction, and each task of a queue would
    // have the size of one.
    let written =
        Box::pin(shared.attempt(async |connection| {
            execute_jobs(shared, connection, key, jobs, is_careful).await
        }));
    let written = written.await?;
    if let Some(head) = &written.head {
        shared.drives.leave(jobs, head);
    }
    Ok(written)
}

/// Writes new events of runs that this process drives, or one step, without a transaction of their
/// own: the rows go to the server in one statement with rows of other sessions. The statement
/// writes only if the session is as the last transaction of this process has left it. Returns
/// `None` if nothing was written and a transaction is needed.
async fn write_directly(
    shared: &Arc<Shared>,
    key: &SessionKey,
    jobs: &mut [Job],
) -> Result<Option<Written>, Lost> {
    let Some(before) = shared.drives.head(jobs) else {
        return Ok(None);
    };
    match jobs {
        [
            Job::Step {
                claim,
                key: step,
                value,
                ..
            },
        ] => {
            let rows = Rows::of_step(claim.run_id, step, value);
            let write = SessionWrite::new(key.clone(), before, rows);
            let is_first = shared.write_in_group(write).await?.is_some();
            Ok(is_first.then(|| Written {
                session: None,
                missing: VecDeque::new(),
                outcomes: vec![Ok(Outcome::Value(None))],
                head: None,
            }))
        }
        _ => write_commits(shared, key, jobs, before).await,
    }
}

/// Writes new events, if the rows of the session are still as `before`.
async fn write_commits(
    shared: &Arc<Shared>,
    key: &SessionKey,
    jobs: &mut [Job],
    before: Head,
) -> Result<Option<Written>, Lost> {
    let session = shared.live.find(key, before.number);
    if session
        .as_ref()
        .is_none_or(|session| session.len() as u64 != before.len)
    {
        return Ok(None);
    }
    let mut batch = Batch::new(shared, key, before, session);
    let mut outcomes = Vec::with_capacity(jobs.len());
    for job in jobs.iter_mut() {
        let Job::Commit {
            slot, draft, tried, ..
        } = job
        else {
            return Ok(None);
        };
        outcomes.push(match batch.commit(slot, draft, None, tried) {
            Ok(outcome) => Ok(outcome),
            Err(Stop::Job(error)) => Err(error),
            Err(Stop::Transaction(_)) => return Ok(None),
        });
    }
    let Batch { write, session, .. } = batch;
    if !write.rows.is_one_statement() {
        return Ok(None);
    }
    let Some(head) = shared.write_in_group(write).await? else {
        return Ok(None);
    };
    shared.drives.leave(jobs, &head);
    Ok(Some(Written {
        session,
        missing: VecDeque::new(),
        outcomes,
        head: Some(head),
    }))
}
