//! [`Commit`]: the job that writes an event, its state changes, its slot and the finished agents in
//! one transaction.

use crate::append::{Entry, Row, append, session_rows, value};
use crate::error::corrupt_error;
use crate::journal;
use crate::reader;
use crate::sessions::catch_up;
use crate::writer::{Db, Job};
use adk_journal::engine::{Done, Draft, Slot, Stored, Update, refuse, to_text};
use adk_journal::session::OpenSessions;
use adk_journal::{Event, StateDelta, Unstamped};
use adk_model::{Error, Path, Result};
use std::sync::Arc;
use tokio::sync::oneshot;

/// A commit with everything that can be serialized before the writer thread receives it. The writer
/// thread sends it back to the caller with its result, because memory that one thread allocates and
/// another frees costs both threads a lock, which matters for each event.
pub(crate) struct Commit {
    /// The slot to fill. `None` after [`Job::done`]. Until then, the claim inside the slot keeps
    /// the run driven by this process.
    slot: Option<Slot>,
    done: Vec<Done>,
    /// A second reference to the slot's path, so that the writer thread does not free the path.
    _path: Path,
    draft: Draft,
    /// Makes the draft from the stored value of a state key, in the transaction.
    update: Option<Box<Update>>,
    entry: Entry,
    data: Data,
    /// Open sessions of this store. Set for a run whose own session is in another store, because an
    /// engine above drives it.
    live: Option<OpenSessions>,
    written: Option<Written>,
    stored: Option<Result<Stored>>,
    reply: Option<oneshot::Sender<Box<Self>>>,
}

/// The stored form of the event.
enum Data {
    Unstamped(Unstamped),
    /// Not serialized yet: the event is serialized as a whole when its id and time are known.
    Later,
}

/// Effect of the transaction.
enum Written {
    /// The event was appended at this place of the log.
    New { number: i64, place: u64 },
    /// An earlier attempt has already filled the slot.
    Earlier {
        place: u64,
        event: Arc<Event>,
        temp: StateDelta,
    },
}

impl Commit {
    /// Makes a commit and the receiver of the finished commit, whose [`stored`](Self::stored) is
    /// the result.
    pub(crate) fn new(
        mut slot: Slot,
        draft: Draft,
        update: Option<Box<Update>>,
        live: &OpenSessions,
    ) -> Result<(Box<Self>, oneshot::Receiver<Box<Self>>)> {
        let (reply, answer) = oneshot::channel();
        let temp = (!draft.temp.is_empty())
            .then(|| to_text(&draft.temp))
            .transpose()?;
        let done = std::mem::take(&mut slot.done);
        let marks = (!done.is_empty()).then(|| to_text(&done)).transpose()?;
        let entry = Entry {
            slot: slot.to_string(),
            temp,
            done: marks,
        };
        let data = match update {
            Some(_) => Data::Later,
            None => draft
                .event
                .to_unstamped()?
                .map_or(Data::Later, Data::Unstamped),
        };
        let path = slot.path.clone();
        let live = slot.claim().is_driven_above().then(|| live.clone());
        let commit = Self {
            slot: Some(slot),
            done,
            _path: path,
            draft,
            update,
            entry,
            data,
            live,
            written: None,
            stored: None,
            reply: Some(reply),
        };
        Ok((Box::new(commit), answer))
    }

    /// Returns the result of a finished commit.
    pub(crate) fn stored(self: Box<Self>) -> Result<Stored> {
        self.stored.unwrap_or_else(|| Err(not_executed_error()))
    }

    /// Returns the stored form of the event, which has its id and time by now.
    fn data(&self) -> Result<String> {
        match &self.data {
            Data::Unstamped(unstamped) => Ok(unstamped.stamped(&self.draft.event)),
            Data::Later => self.draft.event.to_stored(),
        }
    }

    fn deliver(&mut self, slot: Slot, written: Written, db: &Db) -> Result<Stored> {
        let (event, temp) = (
            self.draft.event.clone(),
            std::mem::take(&mut self.draft.temp),
        );
        match (written, &self.live) {
            (Written::New { number, place }, None) => {
                // Other writers may have appended events before this one. The open session gets
                // them first.
                catch_up(slot.session(), db, number, place)?;
                Ok(slot.deliver(place, event, temp))
            }
            (Written::New { number, place }, Some(live)) => {
                if let Some(session) = live.find(slot.session_key(), number) {
                    // If an event cannot be read now, the session gets it when it is opened next.
                    let _ = catch_up(&session, db, number, place + 1);
                }
                Ok(slot.deliver(place, event, temp))
            }
            (Written::Earlier { place, event, temp }, None) => {
                Ok(Stored::earlier(place, event, temp))
            }
            (Written::Earlier { place, event, temp }, Some(_)) => {
                Ok(slot.deliver(place, event, temp))
            }
        }
    }
}

impl Job for Commit {
    fn run(&mut self, db: &mut Db) -> Result<()> {
        let Some(slot) = &self.slot else {
            return Err(not_executed_error());
        };
        let key = slot.session_key();
        let Some(found) = session_rows(db, key)? else {
            return Err(key.missing());
        };
        let (number, latest) = (found.number, found.latest);
        if self.live.is_none() && slot.session().len() as u64 > found.len {
            // The session was deleted and created again.
            return Err(key.missing());
        }
        let run = journal::drives(db, slot.claim(), number, slot.begins.as_deref())?;
        let run = run.ok_or_else(|| refuse::unknown_run(slot.run_id))?;
        if let Some(update) = &mut self.update
            && journal::slot(&db.connection, run, &self.entry)?.is_none()
        {
            let current = value(db, key, update.key())?;
            self.draft = update.apply(current.as_ref())?;
            let temp = &self.draft.temp;
            self.entry.temp = (!temp.is_empty()).then(|| to_text(temp)).transpose()?;
        }
        slot.stamp(Arc::make_mut(&mut self.draft.event), latest);
        let (data, entry) = (self.data()?, &self.entry);
        let row = Row {
            event: &self.draft.event,
            data: &data,
            entry: Some((run, entry)),
        };
        self.written = Some(match append(db, key, &row)? {
            Some(place) => Written::New { number, place },
            None => {
                let is_gone = || corrupt_error(format!("the event of {} is gone", entry.slot));
                let (place, temp) =
                    journal::slot(&db.connection, run, entry)?.ok_or_else(is_gone)?;
                let mut events = reader::events(&db.connection, key, number, place..place + 1)?;
                let event = events.pop().ok_or_else(is_gone)?;
                journal::finished(&db.connection, &slot.run_id.to_string(), &self.done)?;
                Written::Earlier { place, event, temp }
            }
        });
        Ok(())
    }

    /// Delivers events in the order of the log, because jobs finish in the order of their writes.
    fn done(mut self: Box<Self>, result: Result<()>, db: &mut Db) {
        self.stored = Some(match (result, self.slot.take(), self.written.take()) {
            (Ok(()), Some(slot), Some(written)) => self.deliver(slot, written, db),
            (Ok(()), ..) => Err(not_executed_error()),
            (Err(error), ..) => Err(error),
        });
        // The receiver may be dropped; its session has got the event above.
        if let Some(reply) = self.reply.take() {
            let _ = reply.send(self);
        }
    }
}

fn not_executed_error() -> Error {
    corrupt_error("the commit was not executed".to_owned())
}
