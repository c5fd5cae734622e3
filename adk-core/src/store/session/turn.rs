//! [`Turn`]: the right of a run to work on a session. Runs of one session take turns, in the order in which they came.

use super::Session;
use crate::sync::lock;
use crate::{BoxFuture, RunId};
use std::cell::RefCell;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use tokio::sync::Semaphore;
use tokio::task::unconstrained;

thread_local! {
    /// The sessions of the runs that are polled on this thread, one inside of the other.
    static POLLED: RefCell<Vec<*const Session>> = const { RefCell::new(Vec::new()) };
}

/// Whose turn it is.
pub(super) struct Turns {
    free: Semaphore,
    holder: Mutex<Option<RunId>>,
}

impl Default for Turns {
    fn default() -> Self {
        Self { free: Semaphore::new(1), holder: Mutex::default() }
    }
}

impl fmt::Debug for Turns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Turns(of {:?})", lock(&self.holder))
    }
}

/// The turn of a run, which ends when this is dropped.
pub(crate) struct Turn(Arc<Session>);

/// A place in the queue of a session.
pub(crate) enum TurnPlace {
    /// The turn was free.
    Now(Turn),
    /// The turn comes when the runs that came before have ended or wait. Dropping the future leaves the queue.
    Later(BoxFuture<'static, Turn>),
}

impl Session {
    /// Made when the first run asks: a session that one run has for itself needs none.
    fn turns(&self) -> &Turns {
        self.turns.get_or_init(Box::default)
    }

    /// The turn, when nobody has it. Otherwise the run that has it, if it has begun.
    pub(crate) fn try_turn(self: &Arc<Self>) -> Result<Turn, Option<RunId>> {
        match self.turns().free.try_acquire() {
            Ok(permit) => {
                permit.forget();
                Ok(Turn(self.clone()))
            }
            Err(_) => Err(*lock(&self.turns().holder)),
        }
    }

    /// Joins the queue of the session. `None` for a run inside of the run that has the turn: it would wait for ever.
    pub(crate) fn queue(self: &Arc<Self>) -> Option<TurnPlace> {
        if self.is_polled() {
            return None;
        }
        let session = self.clone();
        let turn = async move {
            // An error says that the semaphore is closed, which it never is.
            if let Ok(permit) = session.turns().free.acquire().await {
                permit.forget();
            }
            Turn(session)
        };
        let mut turn: BoxFuture<'static, Turn> = Box::pin(unconstrained(turn));
        // The first poll joins the queue of the semaphore.
        match turn.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(turn) => Some(TurnPlace::Now(turn)),
            Poll::Pending => Some(TurnPlace::Later(turn)),
        }
    }

    /// Whether the run that has the turn is polled on this thread.
    fn is_polled(self: &Arc<Self>) -> bool {
        POLLED.with_borrow(|all| all.contains(&Arc::as_ptr(self)))
    }
}

impl Turn {
    /// It is the turn of this run.
    pub(crate) fn of(&self, run: RunId) {
        *lock(&self.0.turns().holder) = Some(run);
    }

    /// For as long as this lives, the run that has the turn is polled on this thread.
    pub(crate) fn polls(&self) -> impl Drop + use<> {
        POLLED.with_borrow_mut(|all| all.push(Arc::as_ptr(&self.0)));
        Polls
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        *lock(&self.0.turns().holder) = None;
        self.0.turns().free.add_permits(1);
    }
}

struct Polls;

impl Drop for Polls {
    fn drop(&mut self) {
        POLLED.with_borrow_mut(Vec::pop);
    }
}
