//! [`follow`] and [`stored_events`]: live and stored events of a run. The id of an event serves as
//! a cursor.

use super::runs::{Listener, RunEnding, Runs};
use crate::refuse::Refusal;
use adk_core::engine::{RunFilter, RunInfo};
use adk_core::session::{EventFilter, PAGE, SessionSnapshot};
use adk_core::{Event, EventId, Runner};
use futures_util::stream::{self, Stream};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};
use tokio::sync::broadcast::error::RecvError;

/// The interval for reading events of a run that another process drives.
pub(crate) const EVERY: Duration = Duration::from_millis(250);

/// An event of a followed run, or its end.
#[derive(Debug)]
pub enum RunItem {
    /// An event. Events that are not stored, such as the pieces of replies, are partial.
    Event(Arc<Event>),
    /// The end of the run; `None` if only the store knows how the run ended.
    End(Option<Arc<RunEnding>>),
}

/// Reads the stored events of a run after a cursor, oldest first.
///
/// # Errors
/// If the store cannot be read.
pub async fn stored_events(
    runner: &Runner,
    run: &RunInfo,
    after: Option<EventId>,
) -> Result<Vec<Arc<Event>>, Refusal> {
    stored_events_from(runner, run, after, &mut None).await
}

/// Reads at most `most` stored events of a run after a cursor, oldest first, without the events
/// after them.
///
/// # Errors
/// If the store cannot be read.
pub(crate) async fn stored_page(
    runner: &Runner,
    run: &RunInfo,
    after: Option<EventId>,
    most: usize,
) -> Result<Vec<Arc<Event>>, Refusal> {
    let session = runner.session(&run.session.user, &run.session.id);
    // The first read may also find the event of the cursor.
    let mut filter = since_cursor(run, after).first(most.saturating_add(1));
    let mut page = Vec::new();
    while let Some(read) = session.get(&filter).await? {
        let next = read.first + read.events.len();
        page.extend(
            read.events
                .into_iter()
                .filter(|event| is_of_run(event, run, after)),
        );
        if page.len() >= most || next >= read.len {
            break;
        }
        // Events of other runs lie between.
        filter = EventFilter::new().places(next..next.saturating_add(PAGE));
    }
    page.truncate(most);
    Ok(page)
}

/// Selects the events of a session since a cursor, or since the beginning of a run.
fn since_cursor(run: &RunInfo, after: Option<EventId>) -> EventFilter {
    let since = after.map_or(run.created, |after| micros(after.as_u128()));
    EventFilter::new().since(UNIX_EPOCH + Duration::from_micros(since))
}

fn is_of_run(event: &Event, run: &RunInfo, after: Option<EventId>) -> bool {
    event.invocation_id == run.run_id && after.is_none_or(|after| event.id > after)
}

/// Reads the stored events of a run after a cursor. If `place` is set, reads only the log from
/// there. Sets `place` to the end of the log, so that the events of other runs are read only once.
async fn stored_events_from(
    runner: &Runner,
    run: &RunInfo,
    after: Option<EventId>,
    place: &mut Option<usize>,
) -> Result<Vec<Arc<Event>>, Refusal> {
    let filter = match *place {
        Some(place) => EventFilter::new().places(place..usize::MAX),
        None => since_cursor(run, after),
    };
    let session = runner.session(&run.session.user, &run.session.id);
    let Some(SessionSnapshot {
        mut events, len, ..
    }) = session.get(&filter).await?
    else {
        return Ok(Vec::new());
    };
    *place = Some(len);
    events.retain(|event| is_of_run(event, run, after));
    Ok(events)
}

/// Returns the creation time in the bits of an event id or run id, in microseconds since 1970.
pub(crate) fn micros(bits: u128) -> u64 {
    let millis = u64::try_from(bits >> 80).unwrap_or_default();
    let within = u64::try_from(bits >> 64 & 0xfff).unwrap_or_default();
    millis.saturating_mul(1000).saturating_add(within)
}

/// Follows the events of a run after a cursor until the run ends or waits.
///
/// A listener also receives events that are not stored: the pieces of replies. A listener that is
/// too slow falls back to the store, so that it does not slow down the run. The listener of a run
/// that was started or resumed for it receives all events, and the store is not read first.
pub(crate) fn follow(
    runs: Arc<Runs>,
    runner: Runner,
    run: RunInfo,
    after: Option<EventId>,
    listener: Option<Listener>,
) -> impl Stream<Item = Result<RunItem, Refusal>> + Send + 'static {
    let is_read = listener
        .as_ref()
        .is_some_and(|listener| listener.is_complete);
    let follower = Follower {
        runs,
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
        follower.is_over |= !matches!(item, Ok(RunItem::Event(_)));
        Some((item, follower))
    })
}

struct Follower {
    runs: Arc<Runs>,
    runner: Runner,
    run: RunInfo,
    last: Option<EventId>,
    /// The place in the log after the last event that was read from the store.
    place: Option<usize>,
    listener: Option<Listener>,
    ready: VecDeque<Arc<Event>>,
    /// Whether the stored events have been read since the listener was created.
    is_read: bool,
    /// Whether the listener may return events that are older than those read from the store.
    has_lagged: bool,
    is_over: bool,
}

impl Follower {
    async fn next(&mut self) -> Option<Result<RunItem, Refusal>> {
        if self.is_over {
            return None;
        }
        loop {
            if let Some(event) = self.ready.pop_front() {
                if !event.partial {
                    self.last = Some(event.id);
                }
                return Some(Ok(RunItem::Event(event)));
            }
            if !self.is_read {
                self.is_read = true;
                if let Err(refusal) = self.read().await {
                    return Some(Err(refusal));
                }
                self.ready.extend(
                    self.listener
                        .iter_mut()
                        .flat_map(|listener| listener.open_steps.drain(..)),
                );
                continue;
            }
            let Some(listener) = &mut self.listener else {
                if self.runs.is_closing() {
                    // The client reads the remaining events from another process.
                    return None;
                }
                match self.poll_store().await {
                    Ok(true) => return Some(Ok(RunItem::End(None))),
                    Ok(false) => continue,
                    Err(refusal) => return Some(Err(refusal)),
                }
            };
            match listener.events.recv().await {
                Ok(event)
                    if event.partial && !self.has_lagged
                        || self.last.is_none_or(|last| event.id > last) =>
                {
                    if !event.partial {
                        self.last = Some(event.id);
                    }
                    return Some(Ok(RunItem::Event(event)));
                }
                Ok(_) => {}
                Err(RecvError::Lagged(_)) => (self.is_read, self.has_lagged) = (false, true),
                Err(RecvError::Closed) => match listener.try_end() {
                    Some(end) => return Some(Ok(RunItem::End(Some(end)))),
                    // This process stops, or another process drives the run.
                    None => (self.listener, self.is_read) = (None, false),
                },
            }
        }
    }

    async fn read(&mut self) -> Result<(), Refusal> {
        self.ready = stored_events_from(&self.runner, &self.run, self.last, &mut self.place)
            .await?
            .into();
        Ok(())
    }

    /// Reads the store for a run that another process drives. Returns `true` if the run has ended
    /// or waits, and all its events have been returned.
    async fn poll_store(&mut self) -> Result<bool, Refusal> {
        let now = self
            .runner
            .runs(&RunFilter::of_run(self.run.run_id))
            .await?;
        // A paused run with an answer is about to continue.
        let can_continue = now
            .first()
            .is_some_and(|run| run.status.is_active() || run.is_ready);
        self.read().await?;
        if !self.ready.is_empty() {
            return Ok(false);
        }
        if !can_continue {
            return Ok(true);
        }
        self.listener = self.runs.listen(self.run.run_id);
        self.is_read = self.listener.is_none();
        if self.listener.is_none() {
            tokio::time::sleep(EVERY).await;
        }
        Ok(false)
    }
}
