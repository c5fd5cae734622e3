//! Who asks, and from where.

use crate::refuse::{Refusal, short};
use crate::serve::App;
use adk_core::engine::Waiting;
use adk_core::{Answerer, BoxFuture};
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::Value;
use std::future::Future;
use std::sync::Arc;

/// Who asks, as [`Authorize`] or a layer around the router says it: to all others the sessions, runs, waits and artifacts of a
/// user are not there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Caller {
    /// The user; `None` for an operator, who acts for any user.
    pub user: Option<String>,
    /// The app, where it is another than that of the runner.
    pub app: Option<String>,
    /// The roles of the user: which waits that name a role in `by` it may answer.
    pub roles: Vec<String>,
}

impl Caller {
    /// A user.
    pub fn user(id: impl Into<String>) -> Self {
        Self { user: Some(id.into()), ..Self::default() }
    }

    /// One who sees everything, acts for any user, and may answer every wait.
    pub fn operator() -> Self {
        Self::default()
    }

    /// The app whose sessions and runs it sees, where it is another than that of the runner.
    #[must_use]
    pub fn app(mut self, name: impl Into<String>) -> Self {
        self.app = Some(name.into());
        self
    }

    /// Adds a role, such as `staff`: the caller sees and answers the waits of all users that say `by = "staff"`.
    #[must_use]
    pub fn role(mut self, name: impl Into<String>) -> Self {
        self.roles.push(name.into());
        self
    }

    /// The caller as one who answers waits.
    pub(crate) fn answerer(&self) -> Answerer {
        match &self.user {
            Some(user) => self.roles.iter().fold(Answerer::user(user), |answerer, role| answerer.role(role)),
            None => Answerer::operator(),
        }
    }

    /// Whether a wait is one of the caller, or names the caller in its `by`.
    pub(crate) fn sees_wait(&self, wait: &Waiting) -> bool {
        self.sees(&wait.user) || wait.by.is_some() && wait.may_answer(&self.answerer())
    }

    /// The user that a request is for. To name another user than oneself is refused in the words of what is not there.
    pub(crate) fn acts_for(&self, named: Option<&str>) -> Result<String, Refusal> {
        match (&self.user, named) {
            (Some(own), None) => Ok(own.clone()),
            (Some(own), Some(named)) if own == named => Ok(own.clone()),
            (Some(_), Some(named)) => Err(Refusal::missing("user", named)),
            (None, named) => Ok(named.unwrap_or("user").to_owned()),
        }
    }

    pub(crate) fn sees(&self, user: &str) -> bool {
        self.user.as_deref().is_none_or(|own| own == user)
    }
}

/// Says who asks. A closure that returns a future is one:
///
/// ```
/// use adk_server::{Authorize, Caller, Refusal};
/// use axum::http::request::Parts;
/// async fn by_token(request: Parts) -> Result<Caller, Refusal> {
///     match request.headers.get("authorization").map(|value| value.as_bytes()) {
///         Some(b"Bearer secret") => Ok(Caller::user("ann")),
///         _ => Err(Refusal::unauthorized("the request has no token that is known")),
///     }
/// }
/// # fn takes(_: impl Authorize) {}
/// # takes(by_token);
/// ```
pub trait Authorize: Send + Sync + 'static {
    /// Who asks.
    ///
    /// # Errors
    /// What is answered to one who may not.
    fn authorize(&self, request: Parts) -> BoxFuture<'static, Result<Caller, Refusal>>;
}

impl<F, R> Authorize for F
where
    F: Fn(Parts) -> R + Send + Sync + 'static,
    R: Future<Output = Result<Caller, Refusal>> + Send + 'static,
{
    fn authorize(&self, request: Parts) -> BoxFuture<'static, Result<Caller, Refusal>> {
        Box::pin(self(request))
    }
}

/// An input that the server gives, see [`Server::input`](crate::Server::input).
pub(crate) struct CallerInput {
    pub(crate) name: String,
    value: Box<ValueOf>,
}

type ValueOf = dyn Fn(&Caller) -> Value + Send + Sync;

impl CallerInput {
    pub(crate) fn new<T: Serialize>(
        name: String,
        value: impl Fn(&Caller) -> T + Send + Sync + 'static,
    ) -> Self {
        Self { name, value: Box::new(move |caller| serde_json::to_value(value(caller)).unwrap_or_default()) }
    }

    /// The value for a caller. One without a form in JSON is null, which no input takes that has to be given.
    pub(crate) fn value(&self, caller: &Caller) -> Value {
        (self.value)(caller)
    }
}

/// Refuses requests that come by way of another site, and says who asks.
pub(crate) async fn check(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    if let Err(refusal) = from_here(&app, request.uri(), request.headers()) {
        return refusal.into_response();
    }
    let (mut parts, body) = request.into_parts();
    if parts.extensions.get::<Caller>().is_none() {
        let caller = match &app.authorize {
            None => Ok(Caller::operator()),
            Some(authorize) => authorize.authorize(parts.clone()).await,
        };
        match caller {
            Ok(caller) => drop(parts.extensions.insert(caller)),
            Err(refusal) => return refusal.into_response(),
        }
    }
    next.run(Request::from_parts(parts, body)).await
}

/// A page of another site may send a request here in the name of a user: by its `Origin`, or by a name of its own that leads to
/// this address, which is in the `Host`.
fn from_here(app: &App, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let host = text(header::HOST).or_else(|| uri.authority().map(|authority| authority.as_str()));
    if !host.is_some_and(|host| app.is_host(host)) {
        let name = host.unwrap_or_default();
        return Err(
            forbidden("host", name).help("a name that leads here is given to the server by `.host(...)`")
        );
    }
    let Some(origin) = text(header::ORIGIN) else { return Ok(()) };
    let of = origin.split_once("://").map_or(origin, |(_, host)| host);
    if host == Some(of) || app.is_host(of) && !app.hosts.is_empty() {
        return Ok(());
    }
    Err(forbidden("origin", origin).help("a page of another origin asks by a server of its own"))
}

fn forbidden(what: &str, name: &str) -> Refusal {
    let message = format!("requests of the {what} `{}` are not answered", short(name));
    Refusal::new(StatusCode::FORBIDDEN, "forbidden", message)
}

/// The name in `name:port`.
pub(crate) fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}
