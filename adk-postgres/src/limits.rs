//! [`Limits`]: limits of all waits for the server, derived from
//! [`Options::patience`](crate::Options::patience).

use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Minimum patience for limits. A shorter patience would end statements of a server that is merely
/// busy.
const SHORTEST: Duration = Duration::from_secs(1);

/// Maximum patience for limits. Settings of the server hold up to 24 days.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// Limits for each kind of wait. Several waits fit into the patience, so that an attempt after a
/// failure may succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Wait for a free or new connection: a quarter of the patience, at most two seconds.
    pub(crate) connect: Duration,
    /// Wait for a lock, by `lock_timeout`: a tenth of the patience.
    pub(crate) lock: Duration,
    /// Wait for the lock of a session whose run is claimed: a hundredth of the patience. Claims on
    /// many locked sessions must not occupy all connections.
    pub(crate) claim: Duration,
    /// Execution of a statement, by `statement_timeout`: half of the patience.
    pub(crate) statement: Duration,
    /// Wait of the server for the next statement of a transaction, by
    /// `idle_in_transaction_session_timeout`: half of the patience. After that the server ends the
    /// transaction of a stopped process, and releases its locks.
    pub(crate) idle: Duration,
    /// Wait for a sign of life from the server, measured by this process: three quarters of the
    /// patience, which exceeds the limit of a statement.
    pub(crate) answer: Duration,
    /// Wait of the server for a client that does not read or whose host has lost power, by
    /// `tcp_user_timeout` and TCP keepalive: the whole patience.
    pub(crate) network: Duration,
    /// Limit that replaces `statement` and `answer` for a change of tables: 60 times the patience.
    pub(crate) upgrade: Duration,
}

impl Limits {
    pub(crate) fn new(patience: Duration) -> Self {
        let patience = patience.clamp(SHORTEST, LONGEST);
        Self {
            connect: (patience / 4).min(Duration::from_secs(2)),
            lock: patience / 10,
            claim: patience / 100,
            statement: patience / 2,
            idle: patience / 2,
            answer: patience * 3 / 4,
            network: patience,
            upgrade: (patience * 60).min(LONGEST),
        }
    }

    /// Returns server settings that last for a transaction.
    fn of_transaction(&self) -> [(&'static str, u128); 3] {
        [
            ("lock_timeout", self.lock.as_millis()),
            ("statement_timeout", self.statement.as_millis()),
            ("idle_in_transaction_session_timeout", self.idle.as_millis()),
        ]
    }

    /// Returns server settings that last for a connection.
    pub(crate) fn of_connection(&self) -> impl Iterator<Item = (&'static str, u128)> {
        // The connection ends within the limit: after one quarter of silence, three probes get no
        // answer.
        let probe = u128::from(self.network.as_secs() / 4).max(1);
        let network = [
            ("tcp_keepalives_idle", probe),
            ("tcp_keepalives_interval", probe),
            ("tcp_keepalives_count", 3),
            ("tcp_user_timeout", self.network.as_millis()),
        ];
        self.of_transaction().into_iter().chain(network)
    }

    /// Returns a statement that begins a transaction with these limits. A pooler loses settings of
    /// a connection, and keeps settings of a transaction.
    pub(crate) fn begin(&self, begin: &str) -> String {
        let settings = self
            .of_transaction()
            .map(|(name, millis)| format!("; SET LOCAL {name} = {millis}"));
        format!("{begin}{}", settings.concat())
    }
}

/// Waker that records whether the future was woken since the last poll. Any activity of the
/// connection wakes the future.
struct Progress {
    is_awake: AtomicBool,
    task: Mutex<Waker>,
}

impl Wake for Progress {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.is_awake.store(true, SeqCst);
        self.task
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .wake_by_ref();
    }
}

/// Polls a future until it makes no progress for `limit`, then returns `None`. The bytes of a long
/// message count as progress, and so does an answer that arrived while the runtime was blocked.
pub(crate) async fn until_silent<F: Future>(limit: Duration, work: F) -> Option<F::Output> {
    let progress = Arc::new(Progress {
        is_awake: AtomicBool::new(true),
        task: Mutex::new(Waker::noop().clone()),
    });
    let waker = Waker::from(progress.clone());
    let (mut work, mut silence) = (pin!(work), pin!(sleep(limit)));
    std::future::poll_fn(|cx| {
        progress
            .task
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone_from(cx.waker());
        if progress.is_awake.swap(false, SeqCst) {
            if let Poll::Ready(done) = work.as_mut().poll(&mut Context::from_waker(&waker)) {
                return Poll::Ready(Some(done));
            }
            silence.as_mut().reset(Instant::now() + limit);
        }
        silence.as_mut().poll(cx).map(|()| None)
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::mpsc;

    #[test]
    fn limits_fit_into_the_patience_and_into_settings() {
        for patience in [0, 1, 999, 1_000, 3_000, 10_000, 3_600_000, u64::MAX] {
            let patience = Duration::from_millis(patience);
            let limits = Limits::new(patience);
            let whole = patience.clamp(SHORTEST, LONGEST);
            assert!(limits.connect + limits.answer <= whole, "{limits:?}");
            assert!(
                limits.claim < limits.lock && limits.lock < limits.statement,
                "{limits:?}"
            );
            assert!(
                limits.idle < limits.answer && limits.statement < limits.answer,
                "{limits:?}"
            );
            let mut settings = limits.of_connection();
            assert!(
                settings.all(|(_, value)| value > 0 && i32::try_from(value).is_ok()),
                "{limits:?}"
            );
        }
        let begin = Limits::new(Duration::from_secs(10)).begin("BEGIN");
        let sets = "BEGIN; SET LOCAL lock_timeout = 1000; SET LOCAL statement_timeout = 5000; \
            SET LOCAL idle_in_transaction_session_timeout = 5000";
        assert_eq!(begin, sets);
    }

    #[tokio::test(start_paused = true)]
    async fn silence_is_limited_and_progress_is_not() {
        let limit = Duration::from_secs(1);
        assert_eq!(
            until_silent(limit, std::future::pending::<()>()).await,
            None
        );
        // The work takes much longer than the limit, but each of its pauses is shorter.
        let (sender, mut pieces) = mpsc::channel(1);
        tokio::spawn(async move {
            for piece in 0..10 {
                sleep(limit * 9 / 10).await;
                sender.send(piece).await.expect("it is read");
            }
        });
        let all = async {
            let mut count = 0;
            while pieces.recv().await.is_some() {
                count += 1;
            }
            count
        };
        assert_eq!(until_silent(limit, all).await, Some(10));
    }

    /// An event that wakes the task of the caller for another reason does not count as progress.
    #[tokio::test(start_paused = true)]
    async fn other_events_of_the_task_are_not_progress() {
        let limit = Duration::from_secs(1);
        let silent = until_silent(limit, std::future::pending::<()>());
        let busy = async {
            loop {
                sleep(limit / 10).await;
            }
        };
        let begun = Instant::now();
        tokio::select! {
            biased;
            () = busy => {}
            ended = silent => assert_eq!(ended, None),
        }
        assert!(begun.elapsed() <= limit * 11 / 10, "{:?}", begun.elapsed());
    }
}
