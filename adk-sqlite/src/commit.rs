//! A commit: the event, what it changes, its slot, and what else the run has to say, in one transaction.

use crate::append::{Entry, append, known};
use crate::error::corrupt;
use crate::journal;
use crate::reader;
use crate::sessions::catch_up;
use crate::writer::{Db, Job};
use adk_core::engine::{Draft, Slot, Stored, to_text};
use adk_core::{Event, Result, StateDelta};
use std::sync::Arc;
use tokio::sync::oneshot;

pub(crate) struct Commit {
    slot: Slot,
    draft: Draft,
    written: Option<Written>,
    reply: oneshot::Sender<Result<Stored>>,
}

/// What the transaction has come to.
enum Written {
    /// It is in the log, at this place.
    New { number: i64, place: u64 },
    /// An earlier attempt was first.
    Earlier { place: u64, event: Arc<Event>, temp: StateDelta },
}

impl Commit {
    pub(crate) fn new(slot: Slot, draft: Draft, reply: oneshot::Sender<Result<Stored>>) -> Box<Self> {
        Box::new(Self { slot, draft, written: None, reply })
    }

    fn temp(&self) -> Result<Option<String>> {
        match self.draft.temp.is_empty() {
            true => Ok(None),
            false => to_text(&self.draft.temp).map(Some),
        }
    }

    fn deliver(slot: Slot, draft: Draft, written: Written, db: &Db) -> Result<Stored> {
        match written {
            Written::New { number, place } => {
                // Others may have written to the session in between.
                catch_up(slot.session(), db, number, place)?;
                Ok(slot.deliver(place, Arc::new(draft.event), draft.temp))
            }
            Written::Earlier { place, event, temp } => Ok(Stored::earlier(place, event, temp)),
        }
    }
}

impl Job for Commit {
    fn run(&mut self, db: &mut Db) -> Result<()> {
        let slot = &self.slot;
        let key = slot.session_key();
        let Some(found) = known(db, key)? else { return Err(key.missing()) };
        let (number, latest) = (found.number, found.latest);
        if slot.session().len() as u64 > found.len {
            // It was deleted, and made again.
            return Err(key.missing());
        }
        journal::drives(db, slot.run_id, number, slot.begins.as_deref())?;
        slot.stamp(&mut self.draft.event, latest);
        let entry = Entry { run: slot.run_id.to_string(), slot: slot.to_string(), temp: self.temp()? };
        self.written = Some(match append(db, key, &self.draft.event, Some(&entry))? {
            Some(place) => Written::New { number, place },
            None => {
                let (place, temp) = journal::slot(&db.connection, &entry)?;
                let mut events = reader::events(&db.connection, key, number, place..place + 1)?;
                let event =
                    events.pop().ok_or_else(|| corrupt(format!("the event of {} is gone", entry.slot)))?;
                Written::Earlier { place, event, temp }
            }
        });
        journal::finished(&db.connection, &entry.run, &slot.done)
    }

    /// In the order in which they were written: that of the log.
    fn done(self: Box<Self>, result: Result<()>, db: &mut Db) {
        let Self { slot, draft, written, reply } = *self;
        let stored = match (result, written) {
            (Ok(()), Some(written)) => Self::deliver(slot, draft, written, db),
            (Ok(()), None) => Err(corrupt("a commit that was not made".to_owned())),
            (Err(error), _) => Err(error),
        };
        // Whoever asked may be gone: it is delivered all the same.
        let _ = reply.send(stored);
    }
}
