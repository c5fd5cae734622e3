//! [`batch`]: executes jobs of one session in one transaction, and reports each result.

use crate::Shared;
use crate::connection::PgConnection;
use crate::error::{closed_error, is_slot_taken, is_transient, outcome_unknown_error};
use crate::lane::Job;
use crate::log::{self, Entry, Head, Rows};
use crate::reader::{self, Shelf};
use crate::transact::{Lost, Patience};
use crate::{journal, waits};
use adk_journal::engine::{Draft, Slot, Stored, Update, refuse, to_text};
use adk_journal::session::{Scope, Session, SessionKey, SessionRow, split};
use adk_journal::{Event, StateDelta};
use adk_model::{Error, ErrorKind, EventId, Result, RunId, StoreErrorKind};
use serde_json::Value;
use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;
use tokio::time::Instant;

/// The operation that errors name.
const REACH: &str = "reach the server";

/// Result of a transaction for one job.
enum Outcome {
    /// The event was appended at this place of the log.
    New(u64),
    /// The slot was already filled with this event.
    FilledSlot(FilledSlot),
    /// The recorded value of a step, or the answer to a wait.
    Value(Option<Value>),
    /// The work is done. For [`Job::Look`], whether the session exists; for [`Job::Close`], whether
    /// the claim was current.
    Done(bool),
    /// The rows of the session.
    Row(Option<SessionRow>),
}

/// An event that already fills its slot.
pub(crate) struct FilledSlot {
    pub(crate) place: u64,
    pub(crate) event: Arc<Event>,
    pub(crate) temp: StateDelta,
}

/// A committed transaction.
struct Written {
    /// The session object of this process, if the session is open.
    session: Option<Arc<Session>>,
    /// Events of the log that the open session does not contain yet, with their places in the log.
    missing: VecDeque<(u64, Arc<Event>)>,
    outcomes: Vec<Result<Outcome>>,
    /// The rows of the session after the transaction. `None` if the session does not exist.
    head: Option<Head>,
}

/// Executes jobs in one transaction, and reports each result to its sender. The patience of the
/// jobs counts from `asked`. If one job aborts the transaction, each job gets a transaction of its
/// own.
pub(crate) async fn batch(
    shared: &Arc<Shared>,
    key: &SessionKey,
    asked: Instant,
    mut jobs: Vec<Job>,
) {
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

fn copy(error: &Error) -> Error {
    let copy = Error::new(error.kind(), error.message());
    match error.help() {
        Some(help) => copy.with_help(help),
        None => copy,
    }
}

async fn attempt(
    shared: &Shared,
    key: &SessionKey,
    jobs: &mut [Job],
    is_careful: bool,
) -> Result<Written, Lost> {
    if !is_careful && let Some(written) = write_directly(shared, key, jobs).await? {
        return Ok(written);
    }
    let written = shared
        .attempt(async |connection| execute_jobs(shared, connection, key, jobs, is_careful).await);
    let written = written.await?;
    if let Some(head) = &written.head {
        shared.drives.leave(jobs, head);
    }
    Ok(written)
}

/// Writes new events of runs that this process drives, or one step, by a single statement without
/// an explicit transaction. The statement writes only if the session is as the last transaction of
/// this process has left it. Returns `None` if nothing was written and a transaction is needed.
async fn write_directly(
    shared: &Shared,
    key: &SessionKey,
    jobs: &mut [Job],
) -> Result<Option<Written>, Lost> {
    let Some(before) = shared.drives.head(jobs) else {
        return Ok(None);
    };
    if let [
        Job::Step {
            claim,
            key: step,
            value,
            ..
        },
    ] = jobs
    {
        return write_first_step(shared, key, &before, claim.run_id, (step, value)).await;
    }
    write_commits(shared, key, jobs, &before).await
}

/// Writes one step by a single statement, if it is the first record of its key.
async fn write_first_step(
    shared: &Shared,
    key: &SessionKey,
    before: &Head,
    run: RunId,
    (step, value): (&str, &Value),
) -> Result<Option<Written>, Lost> {
    let mut connection = shared.connections.get(REACH).await?;
    let done = journal::first_step(&mut connection, key, before, run, step, value).await;
    shared.connections.put_back(connection).await;
    let is_first = done.map_err(Lost::sent)?;
    Ok(is_first.then(|| Written {
        session: None,
        missing: VecDeque::new(),
        outcomes: vec![Ok(Outcome::Value(None))],
        head: None,
    }))
}

/// Writes new events by a single statement, if the rows of the session are still as `before`.
async fn write_commits(
    shared: &Shared,
    key: &SessionKey,
    jobs: &mut [Job],
    before: &Head,
) -> Result<Option<Written>, Lost> {
    let session = shared.live.find(key, before.number);
    if session
        .as_ref()
        .is_none_or(|session| session.len() as u64 != before.len)
    {
        return Ok(None);
    }
    let (head, rows) = (before.clone(), Rows::default());
    let mut batch = Batch {
        shared,
        key,
        head,
        session,
        current: None,
        rows,
        is_careful: false,
    };
    let mut outcomes = Vec::with_capacity(jobs.len());
    for job in jobs.iter_mut() {
        let Job::Commit {
            slot, draft, tried, ..
        } = job
        else {
            return Ok(None);
        };
        let Ok(outcome) = batch.commit(slot, draft, None, tried) else {
            return Ok(None);
        };
        outcomes.push(outcome);
    }
    let Batch {
        rows,
        head,
        session,
        ..
    } = batch;
    if !rows.is_one_statement() {
        return Ok(None);
    }
    let mut connection = shared.connections.get(REACH).await?;
    let written = rows.write(&mut connection, key, before, &head).await;
    shared.connections.put_back(connection).await;
    if !written.map_err(Lost::sent)? {
        return Ok(None);
    }
    shared.drives.leave(jobs, &head);
    Ok(Some(Written {
        session,
        missing: VecDeque::new(),
        outcomes,
        head: Some(head),
    }))
}

async fn execute_jobs(
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
    let before = head.clone();
    let mut batch = Batch {
        shared,
        key,
        head,
        session,
        current,
        rows: Rows::default(),
        is_careful,
    };
    let mut outcomes = Vec::with_capacity(jobs.len());
    for job in jobs.iter_mut() {
        outcomes.push(
            match job
                .claim()
                .and_then(|claim| Some((claim.run_id, fenced.get(&claim)?)))
            {
                Some((run, refuse)) => Err(refuse(run)),
                None => batch.perform(connection, job).await?,
            },
        );
    }
    let Batch {
        rows,
        head,
        session,
        ..
    } = batch;
    if !rows.write(connection, key, &before, &head).await? {
        return Err(key.missing());
    }
    Ok(Written {
        session,
        missing,
        outcomes,
        head: Some(head),
    })
}

/// State of a transaction while its jobs are executed.
struct Batch<'a> {
    shared: &'a Shared,
    key: &'a SessionKey,
    /// The rows of the session as the transaction will leave them.
    head: Head,
    session: Option<Arc<Session>>,
    current: Option<Current>,
    /// Rows to write at the end of the transaction.
    rows: Rows,
    is_careful: bool,
}

impl Batch<'_> {
    /// Executes one job. The outer error aborts the transaction, the inner error refuses only this
    /// job.
    async fn perform(
        &mut self,
        connection: &mut PgConnection,
        job: &mut Job,
    ) -> Result<Result<Outcome>> {
        Ok(Ok(match job {
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
                return Ok(match there {
                    Some(there) => Ok(Outcome::FilledSlot(there)),
                    None => self.commit(slot, draft, update.as_deref_mut(), tried)?,
                });
            }
            Job::Append { events, .. } => {
                for event in events {
                    self.rows.append(&mut self.head, event, None)?;
                }
                Outcome::Done(true)
            }
            Job::Enqueue { claim, record, .. } => {
                let owner = self.shared.drives.owner_of(*claim);
                if !journal::enqueue(connection, self.head.number, *claim, owner, record).await? {
                    return Ok(Err(refuse::run_exists(claim.run_id)));
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
            Job::Open { .. } => Outcome::Row(reader::row(connection, self.key).await?),
        }))
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
        journal::filled_slot(connection, self.key, self.head.number, &entry(slot, draft)?).await
    }

    /// Adds the event of a free slot to the log. Fails like [`Self::perform`].
    fn commit(
        &mut self,
        slot: &Slot,
        draft: &mut Draft,
        update: Option<&mut Update>,
        tried: &mut Vec<EventId>,
    ) -> Result<Result<Outcome>> {
        let is_above = slot.claim().is_driven_above();
        if !is_above
            && !self
                .session
                .as_ref()
                .is_some_and(|session| Arc::ptr_eq(session, slot.session()))
        {
            // The session was deleted, and possibly created again.
            return Ok(Err(self.key.missing()));
        }
        if let Some(current) = &mut self.current {
            if let Some(update) = update {
                match update.apply(current.get(update.key())) {
                    Ok(made) => *draft = made,
                    Err(error) => return Ok(Err(error)),
                }
            }
            current.apply(&draft.event.actions.state_delta);
        }
        slot.stamp(Arc::make_mut(&mut draft.event), self.head.latest);
        tried.push(draft.event.id);
        let entry = entry(slot, draft)?;
        Ok(self
            .rows
            .append(&mut self.head, &draft.event, Some(entry))
            .map(Outcome::New))
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

/// Reports the results of a committed transaction, in the order of the log. An event is delivered
/// to its session even if its receiver is gone.
fn deliver(shared: &Arc<Shared>, key: &SessionKey, jobs: Vec<Job>, mut written: Written) {
    let outcomes = mem::take(&mut written.outcomes);
    for (job, outcome) in jobs.into_iter().zip(outcomes) {
        match (job, outcome) {
            (
                Job::Commit {
                    slot, draft, reply, ..
                },
                Ok(Outcome::New(place)),
            ) => {
                let _ = reply.send(Ok(written.deliver_new(place, slot, draft)));
            }
            (
                Job::Commit {
                    slot, tried, reply, ..
                },
                Ok(Outcome::FilledSlot(filled)),
            ) => {
                let _ = reply.send(Ok(written.deliver_filled(filled, slot, &tried)));
            }
            (Job::Step { value, reply, .. }, Ok(Outcome::Value(earlier))) => {
                let _ = reply.send(Ok(earlier.unwrap_or(value)));
            }
            (Job::Wait { reply, .. }, Ok(Outcome::Value(answer))) => drop(reply.send(Ok(answer))),
            (Job::Close { claim, reply, .. }, Ok(Outcome::Done(is_ours))) => {
                shared.drives.finish_release(claim, true);
                let closed = || {
                    if is_ours {
                        Ok(())
                    } else {
                        Err(refuse::fenced(claim.run_id))
                    }
                };
                let _ = reply.map(|reply| reply.send(closed()));
            }
            (Job::Finished { reply, .. } | Job::Withdraw { reply, .. }, Ok(Outcome::Done(_))) => {
                let _ = reply.send(Ok(()));
            }
            (Job::Append { reply, .. } | Job::Enqueue { reply, .. }, Ok(Outcome::Done(_))) => {
                let _ = reply.send(Ok(()));
            }
            (Job::Look { reply }, Ok(Outcome::Done(is_there))) => drop(reply.send(Ok(is_there))),
            (Job::Open { reply }, Ok(Outcome::Row(row))) => {
                let opened = row.map(|row| written.open(shared, key, row));
                let _ = reply.send(Ok(opened));
            }
            (job, Err(error)) => refuse_job(shared, job, error),
            (job, Ok(_)) => refuse_job(shared, job, closed_error()),
        }
    }
    written.catch_up(u64::MAX);
}

impl Written {
    /// Appends missing events before a place to the open session.
    fn catch_up(&mut self, before: u64) {
        let Some(session) = &self.session else { return };
        while let Some((place, event)) = self.missing.pop_front_if(|(place, _)| *place < before) {
            // An event whose first commit lost its answer is missing here, and its own job delivers
            // it.
            if place >= session.len() as u64 {
                session.append_stored(event);
            }
        }
    }

    /// Delivers an event that the transaction has appended.
    fn deliver_new(&mut self, place: u64, slot: Slot, draft: Draft) -> Stored {
        self.catch_up(place);
        let event = draft.event;
        // The session of the slot belongs to another store than the session that is open here.
        let is_above = slot.claim().is_driven_above();
        if let Some(session) = self.session.as_ref().filter(|_| is_above) {
            session.append_stored(event.clone());
        }
        slot.deliver(place, event, draft.temp)
    }

    /// Delivers the event that already fills a slot. `tried` are the ids of the events that this
    /// process has tried to append.
    fn deliver_filled(&mut self, filled: FilledSlot, slot: Slot, tried: &[EventId]) -> Stored {
        let FilledSlot { place, event, temp } = filled;
        self.catch_up(place);
        let is_ours = tried.contains(&event.id) && slot.session().len() as u64 == place;
        if is_ours || slot.claim().is_driven_above() {
            slot.deliver(place, event, temp)
        } else {
            drop(slot);
            Stored::earlier(place, event, temp)
        }
    }

    /// Opens the session in memory.
    fn open(&mut self, shared: &Arc<Shared>, key: &SessionKey, row: SessionRow) -> Arc<Session> {
        self.catch_up(row.len as u64);
        let shelf = Shelf {
            shared: Arc::downgrade(shared),
            key: key.clone(),
            number: row.number,
        };
        shared.live.open(key, row, Arc::new(shelf))
    }
}

fn refuse_job(shared: &Shared, job: Job, error: Error) {
    let is_ended = matches!(
        error.kind(),
        ErrorKind::RunExists | ErrorKind::Store(StoreErrorKind::Fenced)
    );
    if let Some(claim) = job.claim().filter(|_| is_ended) {
        shared.drives.end(claim);
    }
    match job {
        Job::Commit { slot, reply, .. } => {
            drop(slot);
            let _ = reply.send(Err(error));
        }
        Job::Step { reply, .. } => drop(reply.send(Err(error))),
        Job::Wait { reply, .. } => drop(reply.send(Err(error))),
        Job::Withdraw { reply, .. }
        | Job::Finished { reply, .. }
        | Job::Append { reply, .. }
        | Job::Enqueue { reply, .. } => {
            let _ = reply.send(Err(error));
        }
        Job::Close { claim, reply, .. } => {
            // Other processes must learn that the run is free, so the lease thread writes the
            // release later.
            if !claim.is_driven_above() {
                shared.drives.finish_release(claim, false);
            }
            let _ = reply.map(|reply| reply.send(Err(error)));
        }
        Job::Look { reply } => drop(reply.send(Err(error))),
        Job::Open { reply } => drop(reply.send(Err(error))),
    }
}
