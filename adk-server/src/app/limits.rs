//! [`Limits`] of a server, the limits of each user of an app, and the time limit of bodies.

use crate::refuse::Refusal;
use axum::Error;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::Response;
use futures_util::{StreamExt, stream};
use std::collections::HashMap;
use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The limits of a server.
///
/// [`Server::bind`](crate::Server::bind) and [`Server::serve`](crate::Server::serve) apply all of
/// them. For a [router](crate::Server::router), the program that serves it must limit connections
/// and the time of headers and writes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// The maximum size of a request body in bytes; default 1 MiB.
    pub body: usize,
    /// The maximum number of concurrent runs of one user of an app; default 256.
    pub runs_per_user: usize,
    /// The maximum number of concurrent event streams; default 4,096.
    pub streams: usize,
    /// The maximum number of concurrent event streams of one user of an app; default 256.
    /// Operators have no such limit.
    pub streams_per_user: usize,
    /// The maximum number of open connections; default 8,192. Further clients wait until a
    /// connection ends.
    pub connections: usize,
    /// The time for the headers of a request, from the start of the connection or the end of the
    /// previous response; default 30 seconds. Idle connections are therefore closed after this
    /// time.
    pub header_time: Duration,
    /// The time for the body of a request; default 30 seconds.
    pub body_time: Duration,
    /// The time that a client may stop reading a response; default 30 seconds.
    pub stall_time: Duration,
    /// The time that runs and connections may take after the server was asked to stop; default 10
    /// seconds. Runs that have not ended by then stay in the store for the next process.
    /// Connections have at least one second for their last responses, and are then dropped.
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 1 << 20,
            runs_per_user: 256,
            streams: 4096,
            streams_per_user: 256,
            connections: 8192,
            header_time: Duration::from_secs(30),
            body_time: Duration::from_secs(30),
            stall_time: Duration::from_secs(30),
            grace: Duration::from_secs(10),
        }
    }
}

/// The longest time that timers can add to the current time on all platforms.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

impl Limits {
    pub(crate) fn header_time(&self) -> Duration {
        self.header_time.min(LONGEST)
    }

    pub(crate) fn stall_time(&self) -> Duration {
        self.stall_time.min(LONGEST)
    }
}

/// An app and one of its users, because two tenants may have users of the same name.
type User = (String, String);

/// The number of things that each user has, with a maximum.
pub(crate) struct UserLimit {
    counts: Mutex<HashMap<User, usize>>,
    max: usize,
}

impl UserLimit {
    pub(crate) fn new(max: usize) -> Arc<Self> {
        let counts = Mutex::default();
        Arc::new(Self { counts, max })
    }

    pub(crate) fn max(&self) -> usize {
        self.max
    }

    /// Returns `None` if the user has the maximum already.
    pub(crate) fn acquire(self: &Arc<Self>, user: User) -> Option<UserPermit> {
        let mut counts = lock(&self.counts);
        let count = counts.get(&user).copied().unwrap_or_default();
        if count >= self.max {
            return None;
        }
        counts.insert(user.clone(), count + 1);
        let limit = self.clone();
        Some(UserPermit { limit, user })
    }
}

/// The permit for one thing of a user. Dropping it frees the slot.
pub(crate) struct UserPermit {
    limit: Arc<UserLimit>,
    user: User,
}

impl UserPermit {
    pub(crate) fn app(&self) -> &str {
        &self.user.0
    }
}

impl Drop for UserPermit {
    fn drop(&mut self) {
        let mut counts = lock(&self.limit.counts);
        if let Some(count) = counts.get_mut(&self.user) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.user);
            }
        }
    }
}

/// The open event streams of a server.
pub(crate) struct Streams {
    all: Arc<Semaphore>,
    by_user: Arc<UserLimit>,
    max: usize,
}

/// The permit for one open event stream. Dropping it frees the slot.
#[must_use = "the stream is not counted when the permit is dropped"]
pub struct StreamPermit {
    _one: OwnedSemaphorePermit,
    /// `None` for an operator.
    _user: Option<UserPermit>,
}

impl fmt::Debug for StreamPermit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StreamPermit")
    }
}

impl Streams {
    pub(crate) fn new(limits: &Limits) -> Self {
        let max = limits.streams.min(Semaphore::MAX_PERMITS);
        Self {
            all: Arc::new(Semaphore::new(max)),
            by_user: UserLimit::new(limits.streams_per_user),
            max,
        }
    }

    /// Returns a permit for a stream of a caller of an app.
    ///
    /// # Errors
    /// `429 Too Many Requests` if the user has too many streams; `503 Service Unavailable` if the
    /// server has.
    pub(crate) fn acquire(&self, app: &str, user: Option<&str>) -> Result<StreamPermit, Refusal> {
        let help = "try again later, or request the events as a list";
        let refuse =
            |status, message: String| Refusal::new(status, "too_many_streams", message).help(help);
        let user = user.map(|user| {
            let permit = self.by_user.acquire((app.to_owned(), user.to_owned()));
            permit.ok_or_else(|| {
                let max = self.by_user.max();
                let message = format!("this user has reached the limit of {max} open streams");
                refuse(StatusCode::TOO_MANY_REQUESTS, message)
            })
        });
        let _user = user.transpose()?;
        let _one = self.all.clone().try_acquire_owned().map_err(|_| {
            let message = format!(
                "the server has reached the limit of {} open streams",
                self.max
            );
            refuse(StatusCode::SERVICE_UNAVAILABLE, message)
        })?;
        Ok(StreamPermit { _one, _user })
    }
}

/// Ends the body of a request with an error of kind [`io::ErrorKind::TimedOut`] when its time is
/// over.
pub(crate) async fn read_body_in_time(
    State(time): State<Duration>,
    request: Request,
    next: Next,
) -> Response {
    use axum::body::HttpBody;
    if request.body().is_end_stream() {
        return next.run(request).await;
    }
    let end = Box::pin(tokio::time::sleep(time));
    let request = request.map(|body| {
        let parts = (Some(body.into_data_stream()), end);
        Body::from_stream(stream::unfold(parts, async |(body, mut end)| {
            let mut body = body?;
            tokio::select! {
                part = body.next() => Some((part?, (Some(body), end))),
                () = &mut end => Some((Err(timed_out()), (None, end))),
            }
        }))
    });
    next.run(request).await
}

fn timed_out() -> Error {
    Error::new(io::Error::from(io::ErrorKind::TimedOut))
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
