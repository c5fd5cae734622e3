//! [`Outbox`]: the queue of events between the agents of a run and its consumer, which also polls
//! the run.

use crate::sync::lock;
use crate::{BoxFuture, Event};
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context as Task, Poll, Wake, Waker};

/// Committed events that the consumer has not taken yet, in the order of their commits. A branch
/// has at most one event in the queue: it continues when the consumer has come back for the next
/// one.
#[derive(Debug)]
pub struct Outbox {
    /// The number of events that were taken; it grows under the lock of the queue.
    taken: AtomicU64,
    doorbell: Arc<Doorbell>,
    /// The waker that rings the doorbell. It is created once, because the run is polled for each
    /// event.
    waker: Waker,
    /// The number of branches that could continue.
    pub live: AtomicUsize,
    /// The number of parked waits.
    pub parked: AtomicUsize,
    /// The number of calls in flight.
    pub in_flight: AtomicUsize,
    /// The number of emits that a resumed run holds back until it is their turn in the journal.
    pub held: AtomicUsize,
    /// Commits with an unknown result, including those of cancelled branches.
    commits: AtomicUsize,
}

#[derive(Debug, Default)]
struct EventQueue {
    /// Events, each with the waker of its branch. An event of the run's root has no waker, because
    /// the root is polled whenever the consumer takes an event.
    events: VecDeque<(Option<Arc<Event>>, Option<Waker>)>,
    pushed: u64,
    /// Whether the first event was handed to the consumer, who has not come back for the next one
    /// yet.
    handed: bool,
    /// The task of the consumer.
    task: Option<Waker>,
}

/// A collector of wakes of the run. Wakes during a poll stay inside; only the first wake from idle
/// reaches the executor.
#[derive(Debug, Default)]
struct Doorbell {
    state: AtomicU8,
    queue: Mutex<EventQueue>,
}

const IDLE: u8 = 0;
const POLLING: u8 = 1;
const WOKEN: u8 = 2;

impl Wake for Doorbell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.state.swap(WOKEN, SeqCst) == IDLE {
            let task = lock(&self.queue).task.clone();
            if let Some(task) = task {
                task.wake();
            }
        }
    }
}

/// The number of polls of a run that wakes itself, before other tasks get their turn.
const AT_ONCE: u32 = 32;

/// The result of a poll of the run.
#[derive(Debug)]
pub enum Polled<T> {
    /// An event for the consumer.
    Event(Arc<Event>),
    /// The end of the run.
    Ended(T),
    /// All remaining work of the run waits for values from outside; the run can be dropped.
    Parked,
    /// All remaining work of a resumed run waits for an event of its record that no agent emits.
    Stuck,
}

impl Default for Outbox {
    fn default() -> Self {
        let doorbell = Arc::new(Doorbell::default());
        Self {
            taken: AtomicU64::new(0),
            waker: doorbell.clone().into(),
            doorbell,
            live: AtomicUsize::new(0),
            parked: AtomicUsize::new(0),
            in_flight: AtomicUsize::new(0),
            held: AtomicUsize::new(0),
            commits: AtomicUsize::new(0),
        }
    }
}

/// Breaks a cycle: the waker of a branch may hold the doorbell, which holds the queue with that
/// waker.
impl Drop for Outbox {
    fn drop(&mut self) {
        let events = std::mem::take(&mut self.queue().events);
        drop(events);
    }
}

impl Outbox {
    fn queue(&self) -> MutexGuard<'_, EventQueue> {
        lock(&self.doorbell.queue)
    }

    /// Queues an event for the consumer, and returns its ticket for
    /// [`until_taken`](Self::until_taken).
    pub fn push(&self, event: Arc<Event>) -> u64 {
        let mut queue = self.queue();
        queue.pushed += 1;
        queue.events.push_back((Some(event), None));
        queue.pushed
    }

    /// Returns true if no event was ever queued.
    pub fn is_unused(&self) -> bool {
        self.queue().pushed == 0
    }

    /// Returns a future that is ready once the event with that ticket has been taken.
    pub fn until_taken(&self, ticket: u64) -> TakenFuture<'_> {
        TakenFuture {
            outbox: self,
            ticket,
        }
    }

    /// Polls the run once more, even if no future of the run was woken.
    pub fn wake(&self) {
        self.doorbell.wake_by_ref();
    }

    /// Polls the run until it has a result. `run` is `None` once it has ended.
    pub fn poll<T>(
        &self,
        run: &mut Option<BoxFuture<'_, T>>,
        ended: &mut Option<T>,
        task: &mut Task<'_>,
    ) -> Poll<Polled<T>> {
        self.note_return(task.waker());
        let mut again = AT_ONCE;
        while let Some(future) = run {
            self.doorbell.state.store(POLLING, SeqCst);
            match future.as_mut().poll(&mut Task::from_waker(&self.waker)) {
                Poll::Ready(output) => {
                    *run = None;
                    *ended = Some(output);
                }
                Poll::Pending => {
                    let woken = self
                        .doorbell
                        .state
                        .compare_exchange(POLLING, IDLE, SeqCst, SeqCst)
                        .is_err();
                    if let Some(event) = self.front() {
                        return Poll::Ready(Polled::Event(event));
                    }
                    if woken && again > 0 {
                        again -= 1;
                        continue;
                    }
                    if woken {
                        // The run wakes itself repeatedly. Other tasks get their turn, and the run
                        // may be dropped.
                        task.waker().wake_by_ref();
                        return Poll::Pending;
                    }
                    if self.is_stuck() {
                        return Poll::Ready(Polled::Stuck);
                    }
                    if self.is_parked() {
                        return Poll::Ready(Polled::Parked);
                    }
                    return Poll::Pending;
                }
            }
        }
        // Events of cancelled branches were committed, so they are delivered before the end.
        if let Some(event) = self.front() {
            return Poll::Ready(Polled::Event(event));
        }
        // The run has not ended while a commit of a cancelled branch is in flight.
        self.doorbell.state.store(IDLE, SeqCst);
        if self.commits.load(SeqCst) > 0 {
            return Poll::Pending;
        }
        // The last of these commits may have ended in the meantime.
        if let Some(event) = self.front() {
            return Poll::Ready(Polled::Event(event));
        }
        match ended.take() {
            Some(output) => Poll::Ready(Polled::Ended(output)),
            None => Poll::Pending,
        }
    }

    /// Counts a commit in flight.
    pub fn begin_commit(&self) {
        self.commits.fetch_add(1, SeqCst);
    }

    /// Counts a commit whose result is known. The waiting future is woken by the result itself;
    /// this call wakes a run that has no such future left.
    pub fn end_commit(&self) {
        self.commits.fetch_sub(1, SeqCst);
        if self.doorbell.state.load(SeqCst) == IDLE {
            self.doorbell.wake_by_ref();
        }
    }

    /// Notes that the consumer has come back: the event that it was given counts as taken.
    fn note_return(&self, task: &Waker) {
        let mut queue = self.queue();
        // `Waker::will_wake` also compares the addresses of the vtables, which may differ between a
        // waker of tokio and its clone.
        let is_same = |own: &Waker| own.data() == task.data() && own.vtable() == task.vtable();
        if !queue.task.as_ref().is_some_and(is_same) {
            queue.task = Some(task.clone());
        }
        if !std::mem::take(&mut queue.handed) {
            return;
        }
        let taken = queue.events.pop_front();
        self.taken.store(self.taken.load(Relaxed) + 1, Relaxed);
        drop(queue);
        if let Some((_, Some(waker))) = taken {
            waker.wake();
        }
    }

    fn front(&self) -> Option<Arc<Event>> {
        let mut queue = self.queue();
        let event = queue.events.front_mut().and_then(|(event, _)| event.take());
        queue.handed = event.is_some();
        event
    }

    fn is_stuck(&self) -> bool {
        let (held, parked) = (self.held.load(Relaxed), self.parked.load(Relaxed));
        held > 0
            && held + parked >= self.live.load(Relaxed)
            && self.in_flight.load(Relaxed) == 0
            && self.commits.load(SeqCst) == 0
    }

    fn is_parked(&self) -> bool {
        self.parked.load(Relaxed) > 0
            && self.parked.load(Relaxed) >= self.live.load(Relaxed)
            && self.in_flight.load(Relaxed) == 0
            && self.commits.load(SeqCst) == 0
    }
}

/// A future that waits until the consumer has taken an event.
#[derive(Debug)]
pub struct TakenFuture<'a> {
    outbox: &'a Outbox,
    ticket: u64,
}

impl Future for TakenFuture<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, task: &mut Task<'_>) -> Poll<()> {
        let outbox = self.outbox;
        if outbox.taken.load(Relaxed) >= self.ticket {
            return Poll::Ready(());
        }
        // The root of the run needs no waker here: it is polled whenever the consumer takes an
        // event.
        if std::ptr::eq(task.waker().data(), Arc::as_ptr(&outbox.doorbell).cast()) {
            return Poll::Pending;
        }
        let mut queue = outbox.queue();
        let taken = outbox.taken.load(Relaxed);
        let place = self.ticket.saturating_sub(taken + 1) as usize;
        if let Some((_, waker)) = queue.events.get_mut(place) {
            *waker = Some(task.waker().clone());
        }
        Poll::Pending
    }
}

/// A guard that adds one to a counter while it lives.
#[derive(Debug)]
pub struct CountGuard<'a>(&'a AtomicUsize);

impl<'a> CountGuard<'a> {
    /// Adds one to the counter.
    pub fn new(counter: &'a AtomicUsize) -> Self {
        counter.fetch_add(1, Relaxed);
        Self(counter)
    }
}

impl Drop for CountGuard<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}
