//! Limits of every wait for the server, all derived from [`Options::patience`](crate::Options::patience).

use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// The shortest patience that limits are derived from: shorter ones would end statements of a server that is merely busy.
const SHORTEST: Duration = Duration::from_secs(1);

/// The longest patience that limits are derived from. Settings of the server hold 24 days.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// How long each kind of wait may take. Several fit into the patience, so that an attempt after a failed one succeeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// A free connection, or a new one: a quarter of the patience, at most two seconds.
    pub(crate) connect: Duration,
    /// A lock, by `lock_timeout`: a tenth of the patience.
    pub(crate) lock: Duration,
    /// The lock of a session whose run is claimed: a hundredth of the patience. Claims of many locked sessions must not
    /// occupy all connections.
    pub(crate) claim: Duration,
    /// The execution of a statement, by `statement_timeout`: half of the patience.
    pub(crate) statement: Duration,
    /// The next statement of an open transaction, by `idle_in_transaction_session_timeout`: half of the patience. After that the
    /// server ends the transaction of a stopped process, and its locks with it.
    pub(crate) idle: Duration,
    /// A sign of life from the server, measured by this process: three quarters of the patience, which is more than a
    /// statement may take.
    pub(crate) answer: Duration,
    /// A client that does not read what the server sends, and a host that has lost power, by `tcp_user_timeout` and TCP
    /// keepalive of the server: the patience.
    pub(crate) network: Duration,
    /// A change of tables, in place of `statement` and `answer`: 60 times the patience.
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

    /// Settings of the server that last for a transaction.
    fn of_transaction(&self) -> [(&'static str, u128); 3] {
        [
            ("lock_timeout", self.lock.as_millis()),
            ("statement_timeout", self.statement.as_millis()),
            ("idle_in_transaction_session_timeout", self.idle.as_millis()),
        ]
    }

    /// Settings of the server that last as long as a connection.
    pub(crate) fn of_connection(&self) -> impl Iterator<Item = (&'static str, u128)> {
        // Three probes without an answer after a first silence end the connection within the limit.
        let probe = u128::from(self.network.as_secs() / 4).max(1);
        let network = [
            ("tcp_keepalives_idle", probe),
            ("tcp_keepalives_interval", probe),
            ("tcp_keepalives_count", 3),
            ("tcp_user_timeout", self.network.as_millis()),
        ];
        self.of_transaction().into_iter().chain(network)
    }

    /// Begins a transaction by a statement, with these limits. A pooler loses settings of a connection, and keeps those of a
    /// transaction.
    pub(crate) fn begin(&self, begin: &str) -> String {
        let settings = self.of_transaction().map(|(name, millis)| format!("; SET LOCAL {name} = {millis}"));
        format!("{begin}{}", settings.concat())
    }
}

/// Whether a future was woken since it was last polled. Whatever moves on its connection wakes it.
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
        self.task.lock().unwrap_or_else(PoisonError::into_inner).wake_by_ref();
    }
}

/// Waits for a future until it has made no progress for `limit`; `None` after that. A long message whose bytes move is
/// progress, and so is a long time in which the runtime was blocked and the answer has come.
pub(crate) async fn answered<F: Future>(limit: Duration, work: F) -> Option<F::Output> {
    let progress =
        Arc::new(Progress { is_awake: AtomicBool::new(true), task: Mutex::new(Waker::noop().clone()) });
    let waker = Waker::from(progress.clone());
    let (mut work, mut silence) = (pin!(work), pin!(sleep(limit)));
    std::future::poll_fn(|cx| {
        progress.task.lock().unwrap_or_else(PoisonError::into_inner).clone_from(cx.waker());
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
            assert!(limits.claim < limits.lock && limits.lock < limits.statement, "{limits:?}");
            assert!(limits.idle < limits.answer && limits.statement < limits.answer, "{limits:?}");
            let mut settings = limits.of_connection();
            assert!(settings.all(|(_, value)| value > 0 && i32::try_from(value).is_ok()), "{limits:?}");
        }
        let begin = Limits::new(Duration::from_secs(10)).begin("BEGIN");
        let sets = "BEGIN; SET LOCAL lock_timeout = 1000; SET LOCAL statement_timeout = 5000; \
            SET LOCAL idle_in_transaction_session_timeout = 5000";
        assert_eq!(begin, sets);
    }

    #[tokio::test(start_paused = true)]
    async fn silence_is_limited_and_progress_is_not() {
        let limit = Duration::from_secs(1);
        assert_eq!(answered(limit, std::future::pending::<()>()).await, None);
        // Much longer than the limit, with shorter pauses.
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
        assert_eq!(answered(limit, all).await, Some(10));
    }

    /// The task of a caller is woken for many reasons.
    #[tokio::test(start_paused = true)]
    async fn what_else_happens_in_its_task_is_no_progress() {
        let limit = Duration::from_secs(1);
        let silent = answered(limit, std::future::pending::<()>());
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
