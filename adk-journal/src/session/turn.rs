//! [`SessionTurn`]: the right of a run to work on a session. Runs of one session take turns, in the
//! order of their arrival.

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
    /// The sessions of the runs that are polled on this thread, outermost first.
    static POLLED: RefCell<Vec<*const Session>> = const { RefCell::new(Vec::new()) };
}

/// The queue of a session, and the run that has the turn.
pub(super) struct Turns {
    free: Semaphore,
    holder: Mutex<Option<RunId>>,
}

impl Default for Turns {
    fn default() -> Self {
        Self {
            free: Semaphore::new(1),
            holder: Mutex::default(),
        }
    }
}

impl fmt::Debug for Turns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Turns(of {:?})", lock(&self.holder))
    }
}

/// The turn of a run, which ends when this value is dropped.
#[derive(Debug)]
pub struct SessionTurn(Arc<Session>);

/// A place in the queue of a session.
#[allow(missing_debug_implementations)]
pub enum TurnPlace {
    /// The turn was free.
    Now(SessionTurn),
    /// The turn comes when the earlier runs have ended or wait. Dropping the future leaves the
    /// queue.
    Later(BoxFuture<'static, SessionTurn>),
}

#[doc(hidden)]
impl Session {
    /// Returns the queue. It is created for the first run that asks, because a session of a single
    /// run needs none.
    fn turns(&self) -> &Turns {
        self.turns.get_or_init(Box::default)
    }

    /// Returns the turn if it is free; otherwise the run that has it, if that run has begun.
    pub fn try_turn(self: &Arc<Self>) -> Result<SessionTurn, Option<RunId>> {
        match self.turns().free.try_acquire() {
            Ok(permit) => {
                permit.forget();
                Ok(SessionTurn(self.clone()))
            }
            Err(_) => Err(*lock(&self.turns().holder)),
        }
    }

    /// Joins the queue of the session. Returns `None` for a run inside the run that has the turn,
    /// which would wait for ever.
    pub fn join_queue(self: &Arc<Self>) -> Option<TurnPlace> {
        if self.is_polled() {
            return None;
        }
        let session = self.clone();
        let turn = async move {
            // An error means that the semaphore is closed, which never happens.
            if let Ok(permit) = session.turns().free.acquire().await {
                permit.forget();
            }
            SessionTurn(session)
        };
        let mut turn: BoxFuture<'static, SessionTurn> = Box::pin(unconstrained(turn));
        // The first poll joins the queue of the semaphore.
        match turn.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(turn) => Some(TurnPlace::Now(turn)),
            Poll::Pending => Some(TurnPlace::Later(turn)),
        }
    }

    /// Returns true if the run that has the turn is polled on this thread.
    fn is_polled(self: &Arc<Self>) -> bool {
        POLLED.with_borrow(|all| all.contains(&Arc::as_ptr(self)))
    }
}

impl SessionTurn {
    /// Sets the run that has the turn.
    pub fn set_holder(&self, run: RunId) {
        *lock(&self.0.turns().holder) = Some(run);
    }

    /// Returns a guard. While it lives, the run that has the turn counts as polled on this thread.
    pub fn poll_guard(&self) -> impl Drop + use<> {
        POLLED.with_borrow_mut(|all| all.push(Arc::as_ptr(&self.0)));
        PollGuard
    }
}

impl Drop for SessionTurn {
    fn drop(&mut self) {
        *lock(&self.0.turns().holder) = None;
        self.0.turns().free.add_permits(1);
    }
}

struct PollGuard;

impl Drop for PollGuard {
    fn drop(&mut self) {
        POLLED.with_borrow_mut(Vec::pop);
    }
}
