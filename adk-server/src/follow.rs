//! The events of a run, as they happen or as they are stored: a cursor is the id of an event.

use crate::refuse::Refusal;
use crate::runs::{End, Listener};
use crate::serve::App;
use adk_core::engine::{RunFilter, RunInfo};
use adk_core::session::{EventFilter, SessionSnapshot};
use adk_core::{Event, EventId, Runner};
use futures_util::stream::{self, Stream};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};
use tokio::sync::broadcast::error::RecvError;

/// How often the store is looked at for events of a run that another process drives.
pub(crate) const EVERY: Duration = Duration::from_millis(250);

pub(crate) enum Item {
    Event(Arc<Event>),
    /// The end, as this process knows it; `None` when the store does.
    End(Option<Arc<End>>),
}

/// The stored events of a run after a cursor, oldest first.
pub(crate) async fn stored(
    runner: &Runner,
    run: &RunInfo,
    after: Option<EventId>,
) -> Result<Vec<Arc<Event>>, Refusal> {
    stored_from(runner, run, after, &mut None).await
}

/// Reads from a place of the log on, where that is known, and moves the place to the end of the log: the events of other runs
/// are read once.
async fn stored_from(
    runner: &Runner,
    run: &RunInfo,
    after: Option<EventId>,
    place: &mut Option<usize>,
) -> Result<Vec<Arc<Event>>, Refusal> {
    let since =
        UNIX_EPOCH + Duration::from_micros(after.map_or(run.created, |after| micros(after.as_u128())));
    let filter = match *place {
        Some(place) => EventFilter::new().places(place..usize::MAX),
        None => EventFilter::new().since(since),
    };
    let session = runner.session(&run.session.user, &run.session.id);
    let Some(SessionSnapshot { mut events, len, .. }) = session.get(&filter).await? else {
        return Ok(Vec::new());
    };
    *place = Some(len);
    events.retain(|event| event.invocation_id == run.run_id && after.is_none_or(|after| event.id > after));
    Ok(events)
}

/// The time in the bits of an id, in microseconds since 1970: when an event happened, or a run was given its id.
pub(crate) fn micros(bits: u128) -> u64 {
    let millis = u64::try_from(bits >> 80).unwrap_or_default();
    let within = u64::try_from(bits >> 64 & 0xfff).unwrap_or_default();
    millis.saturating_mul(1000).saturating_add(within)
}

/// The events of a run after a cursor, and those that are to come, until it ends or waits. A listener hears what is not stored
/// as well: the parts of answers. One that is too slow reads in the store, so it slows nobody. Of a run that was begun or taken up
/// for its listener nothing is read at first: what is not stored comes between what is stored.
pub(crate) fn follow(
    app: Arc<App>,
    runner: Runner,
    run: RunInfo,
    after: Option<EventId>,
    listener: Option<Listener>,
    is_read: bool,
) -> impl Stream<Item = Result<Item, Refusal>> {
    let follower = Follower {
        app,
        runner,
        run,
        last: after,
        place: None,
        listener,
        ready: VecDeque::new(),
        is_read,
        has_lagged: false,
        is_over: false,
    };
    stream::unfold(follower, |mut follower| async move {
        let item = follower.next().await?;
        follower.is_over |= !matches!(item, Ok(Item::Event(_)));
        Some((item, follower))
    })
}

struct Follower {
    app: Arc<App>,
    runner: Runner,
    run: RunInfo,
    last: Option<EventId>,
    /// The place in the log after all that was read in the store.
    place: Option<usize>,
    listener: Option<Listener>,
    ready: VecDeque<Arc<Event>>,
    /// Whether all that was stored has been read since the listener began.
    is_read: bool,
    /// Whether events of the listener may be older than what was read.
    has_lagged: bool,
    is_over: bool,
}

impl Follower {
    async fn next(&mut self) -> Option<Result<Item, Refusal>> {
        if self.is_over {
            return None;
        }
        loop {
            if let Some(event) = self.ready.pop_front() {
                if !event.partial {
                    self.last = Some(event.id);
                }
                return Some(Ok(Item::Event(event)));
            }
            if !self.is_read {
                self.is_read = true;
                if let Err(refusal) = self.read().await {
                    return Some(Err(refusal));
                }
                self.ready.extend(self.listener.iter_mut().flat_map(|listener| listener.begun.drain(..)));
                continue;
            }
            let Some(listener) = &mut self.listener else {
                if self.app.runs.is_closing() {
                    // The client asks another process for the rest.
                    return None;
                }
                match self.elsewhere().await {
                    Ok(true) => return Some(Ok(Item::End(None))),
                    Ok(false) => continue,
                    Err(refusal) => return Some(Err(refusal)),
                }
            };
            match listener.events.recv().await {
                Ok(event)
                    if event.partial && !self.has_lagged || self.last.is_none_or(|last| event.id > last) =>
                {
                    if !event.partial {
                        self.last = Some(event.id);
                    }
                    return Some(Ok(Item::Event(event)));
                }
                Ok(_) => {}
                Err(RecvError::Lagged(_)) => (self.is_read, self.has_lagged) = (false, true),
                Err(RecvError::Closed) => match listener.ended() {
                    Some(end) => return Some(Ok(Item::End(Some(end)))),
                    // The process stops and another one goes on, or was faster to take it up.
                    None => (self.listener, self.is_read) = (None, false),
                },
            }
        }
    }

    async fn read(&mut self) -> Result<(), Refusal> {
        self.ready = stored_from(&self.runner, &self.run, self.last, &mut self.place).await?.into();
        Ok(())
    }

    /// Looks at a run that is not driven here; whether it has ended or waits, and all of its events are read.
    async fn elsewhere(&mut self) -> Result<bool, Refusal> {
        let now = self.runner.runs(&RunFilter::of_run(self.run.run_id)).await?;
        // One that has an answer is about to go on.
        let goes_on = now.first().is_some_and(|run| run.status.is_active() || run.is_ready);
        self.read().await?;
        if !self.ready.is_empty() {
            return Ok(false);
        }
        if !goes_on {
            return Ok(true);
        }
        self.listener = self.app.runs.listen(self.run.run_id);
        self.is_read = self.listener.is_none();
        if self.listener.is_none() {
            tokio::time::sleep(EVERY).await;
        }
        Ok(false)
    }
}
