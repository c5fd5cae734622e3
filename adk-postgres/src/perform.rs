//! [`execute_jobs`]: executes jobs of one session in an open transaction.

use crate::Shared;
use crate::connection::PgConnection;
use crate::deliver::{Outcome, Written};
use crate::journal::{self, FilledSlot};
use crate::lane::Job;
use crate::log::{self, Head};
use crate::rows::{Entry, Rows, SessionWrite};
use crate::{reader, waits};
use adk_journal::StateDelta;
use adk_journal::engine::{Draft, Slot, Update, refuse, to_text};
use adk_journal::session::{Scope, Session, SessionKey, SessionRow, split};
use adk_model::{Error, EventId, Result};
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::Arc;

/// Executes jobs in an open transaction. Returns their results, which hold when the transaction is
/// committed.
pub(crate) async fn execute_jobs(
    shared: &Shared,
    connection: &mut PgConnection,
    key: &SessionKey,
    jobs: &mut [Job],
    is_careful: bool,
) -> Result<Written> {
    let Some(head) = log::lock(connection, key).await? else {
        let outcomes = jobs
            .iter()
            .map(|job| missing_session_outcome(key, job))
            .collect();
        return Ok(Written {
            session: None,
            missing: VecDeque::new(),
            outcomes,
            head: None,
        });
    };
    let session = shared.live.find(key, head.number);
    let here = session
        .as_ref()
        .map_or(head.len, |session| session.len() as u64);
    let missing = if here < head.len {
        (here..)
            .zip(reader::events(connection, key, head.number, here..head.len).await?)
            .collect()
    } else {
        VecDeque::new()
    };
    journal::begin(shared, connection, head.number, jobs).await?;
    let fenced = journal::outdated_claims(shared, connection, &head, jobs).await?;
    let current = Current::lock(connection, key, jobs).await?;
    let mut batch = Batch {
        current,
        is_careful,
        ..Batch::new(shared, key, head, session)
    };
    let mut outcomes = Vec::with_capacity(jobs.len());
    for job in jobs.iter_mut() {
        let claim = job.claim();
        let outcome = match claim.and_then(|claim| Some((claim.run_id, fenced.get(&claim)?))) {
            Some((run, refuse)) => Err(refuse(run)),
            None => match batch.perform(connection, job).await {
                Ok(outcome) => Ok(outcome),
                Err(Stop::Job(error)) => Err(error),
                Err(Stop::Transaction(error)) => return Err(error),
            },
        };
        outcomes.push(outcome);
    }
    let Batch { write, session, .. } = batch;
    if !write.execute_in_transaction(connection).await? {
        return Err(key.missing());
    }
    Ok(Written {
        session,
        missing,
        outcomes,
        head: Some(write.after),
    })
}

/// State of a transaction while its jobs are executed.
pub(crate) struct Batch<'a> {
    shared: &'a Shared,
    pub(crate) session: Option<Arc<Session>>,
    current: Option<Current>,
    /// Rows to write at the end of the transaction.
    pub(crate) write: SessionWrite,
    is_careful: bool,
}

/// The reason why a job has no outcome.
pub(crate) enum Stop {
    /// Only this job is refused.
    Job(Error),
    /// The transaction is aborted.
    Transaction(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Transaction(error)
    }
}

impl<'a> Batch<'a> {
    /// Begins with the rows of a session as `head` says.
    pub(crate) fn new(
        shared: &'a Shared,
        key: &SessionKey,
        head: Head,
        session: Option<Arc<Session>>,
    ) -> Self {
        Self {
            shared,
            session,
            current: None,
            write: SessionWrite::new(key.clone(), head, Rows::default()),
            is_careful: false,
        }
    }

    /// Executes one job.
    async fn perform(
        &mut self,
        connection: &mut PgConnection,
        job: &mut Job,
    ) -> Result<Outcome, Stop> {
        let number = self.write.before.number;
        Ok(match job {
            Job::Commit {
                slot,
                draft,
                update,
                tried,
                ..
            } => {
                let there = self
                    .find_earlier(connection, slot, draft, update.is_some())
                    .await?;
                match there {
                    Some(there) => Outcome::FilledSlot(there),
                    None => self.commit(slot, draft, update.as_deref_mut(), tried)?,
                }
            }
            Job::Append { events, .. } => {
                for event in events {
                    self.write.append(event, None)?;
                }
                Outcome::Done(true)
            }
            Job::Enqueue { claim, record, .. } => {
                let owner = self.shared.drives.owner_of(*claim);
                if !journal::enqueue(connection, number, *claim, owner, record).await? {
                    return Err(Stop::Job(refuse::run_exists(claim.run_id)));
                }
                Outcome::Done(true)
            }
            Job::Step {
                claim, key, value, ..
            } => Outcome::Value(journal::step(connection, claim.run_id, key, value).await?),
            Job::Wait { claim, wait, .. } => {
                Outcome::Value(waits::wait(connection, *claim, wait).await?)
            }
            Job::Withdraw { waits, .. } => {
                waits::withdraw(connection, waits).await?;
                Outcome::Done(true)
            }
            Job::Finished { claim, done, .. } => {
                journal::finished(connection, claim.run_id, done).await?;
                Outcome::Done(true)
            }
            Job::Close { claim, end, .. } => {
                let owner = self.shared.drives.owner_of(*claim);
                Outcome::Done(journal::close(connection, *claim, owner, end.as_ref()).await?)
            }
            Job::Look { .. } => Outcome::Done(true),
            Job::Open { .. } => Outcome::Row(reader::row(connection, &self.write.key).await?),
        })
    }

    /// Finds the event that already fills a slot. Searches only if an earlier commit may have
    /// filled it.
    async fn find_earlier(
        &self,
        connection: &mut PgConnection,
        slot: &Slot,
        draft: &Draft,
        is_update: bool,
    ) -> Result<Option<FilledSlot>> {
        if !self.is_careful && !is_update {
            return Ok(None);
        }
        let SessionWrite { key, before, .. } = &self.write;
        journal::filled_slot(connection, key, before.number, &entry(slot, draft)?).await
    }

    /// Adds the event of a free slot to the log.
    pub(crate) fn commit(
        &mut self,
        slot: &Slot,
        draft: &mut Draft,
        update: Option<&mut Update>,
        tried: &mut Vec<EventId>,
    ) -> Result<Outcome, Stop> {
        let is_above = slot.claim().is_driven_above();
        if !is_above
            && !self
                .session
                .as_ref()
                .is_some_and(|session| Arc::ptr_eq(session, slot.session()))
        {
            // The session was deleted, and possibly created again.
            return Err(Stop::Job(self.write.key.missing()));
        }
        if let Some(current) = &mut self.current {
            if let Some(update) = update {
                *draft = update.apply(current.get(update.key())).map_err(Stop::Job)?;
            }
            current.apply(&draft.event.actions.state_delta);
        }
        slot.stamp(Arc::make_mut(&mut draft.event), self.write.after.latest);
        tried.push(draft.event.id);
        let entry = entry(slot, draft)?;
        let place = self.write.append(&draft.event, Some(entry));
        place.map(Outcome::New).map_err(Stop::Job)
    }
}

/// Returns the journal entry for the event that fills a slot.
fn entry(slot: &Slot, draft: &Draft) -> Result<Entry> {
    Ok(Entry {
        run: slot.run_id.to_string(),
        slot: slot.to_string(),
        temp: (!draft.temp.is_empty())
            .then(|| to_text(&draft.temp))
            .transpose()?,
        done: (!slot.done.is_empty())
            .then(|| to_text(&slot.done))
            .transpose()?,
    })
}

/// The state that state updates (`update(key, f)`) read. Row locks keep other transactions from
/// changing it, and earlier jobs of the transaction have already been applied.
struct Current(SessionRow);

impl Current {
    /// Locks and reads the state. Returns `None` if no job is a state update, so that rows are not
    /// locked earlier than necessary.
    async fn lock(
        connection: &mut PgConnection,
        key: &SessionKey,
        jobs: &[Job],
    ) -> Result<Option<Self>> {
        let commits = jobs.iter().filter_map(|job| match job {
            Job::Commit { draft, update, .. } => Some((draft, update.as_ref())),
            _ => None,
        });
        let updates = commits.clone().filter_map(|(_, update)| update);
        let updated: Vec<Scope> = updates.map(|update| Scope::of(update.key())).collect();
        if updated.is_empty() {
            return Ok(None);
        }
        // Lock rows in the order in which `log::share` writes them, otherwise two transactions may
        // deadlock.
        let writes = |delta: &StateDelta| delta.iter().any(|(key, _)| Scope::of(key) == Scope::App);
        let mut commits = commits.map(|(draft, update)| match update {
            Some(update) => update.also_writes(),
            None => &draft.event.actions.state_delta,
        });
        if updated.contains(&Scope::App) || commits.any(writes) {
            log::hold(connection, key, Scope::App).await?;
        }
        if updated.contains(&Scope::User) {
            log::hold(connection, key, Scope::User).await?;
        }
        Ok(reader::row(connection, key).await?.map(Self))
    }

    fn get(&self, key: &str) -> Option<&Value> {
        let (state, prefix) = match Scope::of(key) {
            Scope::User => (&self.0.user, "user:"),
            Scope::App => (&self.0.app, "app:"),
            Scope::Session | Scope::Temp => (&self.0.own, ""),
        };
        state.get(key.strip_prefix(prefix).unwrap_or(key))
    }

    fn apply(&mut self, delta: &StateDelta) {
        let parts = [&mut self.0.own, &mut self.0.user, &mut self.0.app];
        for (state, part) in parts.into_iter().zip(split(delta)) {
            state.extend(
                part.into_iter()
                    .map(|(key, value)| (key.to_owned(), Value::clone(value))),
            );
        }
    }
}

/// Returns the result of a job whose session does not exist.
fn missing_session_outcome(key: &SessionKey, job: &Job) -> Result<Outcome> {
    match job {
        Job::Look { .. } => Ok(Outcome::Done(false)),
        Job::Open { .. } => Ok(Outcome::Row(None)),
        // The run was deleted with its session.
        Job::Close { .. } | Job::Finished { .. } | Job::Withdraw { .. } => Ok(Outcome::Done(true)),
        _ => Err(key.missing()),
    }
}
