//! [`Access`]: the identity of callers, the inputs that the server sets for them, and the checks of
//! `Host` and `Origin`.

use crate::refuse::{Refusal, short};
use adk_core::engine::Waiting;
use adk_core::runner::KnownWorkflow;
use adk_core::{Answerer, BoxFuture, Error, ErrorKind, Result, Runner};
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::Value;
use std::future::Future;
use std::sync::Arc;

/// The caller of a request, from [`Authorize`] or from a layer around the router. A caller sees
/// only its own sessions, runs, waits and artifacts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Caller {
    /// The user; `None` for an operator, who may act for all users.
    pub user: Option<String>,
    /// The app, if it is not the app of the runner.
    pub app: Option<String>,
    /// The roles of the user. The caller may answer waits that name one of them in `by`.
    pub roles: Vec<String>,
}

impl Caller {
    /// Creates a caller for a user.
    pub fn user(id: impl Into<String>) -> Self {
        Self {
            user: Some(id.into()),
            ..Self::default()
        }
    }

    /// Creates an operator, who sees all data, may act for all users and may answer all waits.
    pub fn operator() -> Self {
        Self::default()
    }

    /// Sets the app whose sessions and runs the caller sees, if it is not the app of the runner.
    #[must_use]
    pub fn app(mut self, name: impl Into<String>) -> Self {
        self.app = Some(name.into());
        self
    }

    /// Adds a role, such as `staff`. The caller sees and may answer the waits of all users with
    /// `by = "staff"`.
    #[must_use]
    pub fn role(mut self, name: impl Into<String>) -> Self {
        self.roles.push(name.into());
        self
    }

    /// Converts the caller to an answerer of waits.
    pub fn answerer(&self) -> Answerer {
        match &self.user {
            Some(user) => self
                .roles
                .iter()
                .fold(Answerer::user(user), |answerer, role| answerer.role(role)),
            None => Answerer::operator(),
        }
    }

    /// Returns whether a wait belongs to the caller, or its `by` includes the caller.
    pub(crate) fn sees_wait(&self, wait: &Waiting) -> bool {
        self.sees(&wait.user) || wait.by.is_some() && wait.may_answer(&self.answerer())
    }

    /// Returns the user of a request, which may name one. An operator acts for each user, and for
    /// `user` without a name.
    ///
    /// # Errors
    /// `404 Not Found` for the name of another user. The error does not reveal whether that user
    /// exists.
    pub fn acts_for(&self, named: Option<&str>) -> Result<String, Refusal> {
        match (&self.user, named) {
            (Some(own), None) => Ok(own.clone()),
            (Some(own), Some(named)) if own == named => Ok(own.clone()),
            (Some(_), Some(named)) => Err(Refusal::missing("user", named)),
            (None, named) => Ok(named.unwrap_or("user").to_owned()),
        }
    }

    /// Returns whether the caller sees the data of a user.
    pub(crate) fn sees(&self, user: &str) -> bool {
        self.user.as_deref().is_none_or(|own| own == user)
    }
}

/// Identifies the caller of a request. Closures that return a future implement this trait:
///
/// ```
/// use adk_server::{Authorize, Caller, Refusal};
/// use axum::http::request::Parts;
/// async fn by_token(request: Parts) -> Result<Caller, Refusal> {
///     match request.headers.get("authorization").map(|value| value.as_bytes()) {
///         Some(b"Bearer secret") => Ok(Caller::user("ann")),
///         _ => Err(Refusal::unauthorized("the request has no valid token")),
///     }
/// }
/// # fn takes(_: impl Authorize) {}
/// # takes(by_token);
/// ```
pub trait Authorize: Send + Sync + 'static {
    /// Returns the caller of a request.
    ///
    /// # Errors
    /// The response for a caller that is not authenticated or not allowed.
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

/// How a server identifies its callers.
#[derive(Default)]
pub(crate) enum Identity {
    /// Each caller is an operator. The server may listen only on loopback addresses.
    #[default]
    Local,
    /// Each caller is an operator, at any address.
    OpenToAll,
    /// A function identifies the caller of each request.
    Authorized(Arc<dyn Authorize>),
}

/// The access rules of a server.
#[derive(Default)]
pub(crate) struct Access {
    pub(crate) identity: Identity,
    /// The inputs that the server sets.
    pub(crate) inputs: Vec<CallerInput>,
    /// The host names of the server, besides the loopback names.
    pub(crate) hosts: Vec<String>,
    /// The origins whose pages may send requests, besides the origin of the request itself.
    pub(crate) origins: Vec<String>,
}

impl Access {
    /// Checks that each input that the server sets is an input of a workflow.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] if no workflow has the input.
    pub(crate) fn check_inputs(&self, runner: &Runner) -> Result<()> {
        for CallerInput { name, .. } in &self.inputs {
            let has_input = |workflow: KnownWorkflow| {
                workflow
                    .form()
                    .inputs()
                    .iter()
                    .any(|input| *input.key == **name)
            };
            if !runner.workflows().any(has_input) {
                let message = format!("no workflow of the server has an input `{name}`");
                return Err(Error::new(ErrorKind::Config, message)
                    .with_help("pass the name of an input to `.input(...)`"));
            }
        }
        Ok(())
    }

    /// Returns a workflow as a caller sees it: without the inputs that the server sets.
    pub(crate) fn with_inputs(&self, workflow: KnownWorkflow, caller: &Caller) -> KnownWorkflow {
        if self.inputs.is_empty() {
            return workflow;
        }
        workflow.with_inputs(
            self.inputs
                .iter()
                .map(|input| (input.name.clone(), input.value(caller))),
        )
    }

    /// Adds a host name, or an origin with its host name.
    pub(crate) fn add_host(&mut self, name: &str) {
        let host = match name.split_once("://") {
            Some((scheme, host)) => {
                self.origins.push(origin_of(scheme, host));
                host
            }
            None => name,
        };
        self.hosts.push(without_port(host).to_ascii_lowercase());
    }

    /// Returns whether requests may name this host. A server with an [`Authorize`] and no host
    /// names accepts all.
    fn is_host(&self, host: &str) -> bool {
        let name = without_port(host);
        self.hosts.is_empty() && matches!(self.identity, Identity::Authorized(_))
            || ["localhost", "127.0.0.1", "[::1]"].contains(&name)
            || self
                .hosts
                .iter()
                .any(|known| known.eq_ignore_ascii_case(name))
    }

    /// Refuses requests of other sites. A foreign page could act for a user of the browser: such a
    /// request has a foreign `Origin`, or a foreign `Host` if a DNS name of the site points to this
    /// server.
    fn check_site(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let host =
            text(header::HOST).or_else(|| uri.authority().map(|authority| authority.as_str()));
        let Some(host) = host.filter(|host| self.is_host(host)) else {
            return Err(forbidden("host", host.unwrap_or_default())
                .help("register the host names of the server with `.host(...)`"));
        };
        let Some(origin) = headers.get(header::ORIGIN) else {
            return Ok(());
        };
        let origin = String::from_utf8_lossy(origin.as_bytes());
        let known = origin
            .split_once("://")
            .map(|(scheme, host)| origin_of(scheme, host));
        let is_own = |origin: &String| {
            *origin == origin_of(request_scheme(headers), host) || self.origins.contains(origin)
        };
        if known.as_ref().is_some_and(is_own) {
            return Ok(());
        }
        Err(forbidden("origin", &origin).help(
            "send requests of other origins through your own server; for a proxy that ends TLS, \
             let it set `X-Forwarded-Proto`, or register its origin with `.host(\"https://...\")`",
        ))
    }

    /// Returns the caller of a request.
    async fn caller(&self, request: &Parts) -> Result<Caller, Refusal> {
        match &self.identity {
            Identity::Local | Identity::OpenToAll => Ok(Caller::operator()),
            Identity::Authorized(authorize) => authorize.authorize(request.clone()).await,
        }
    }
}

/// Returns the scheme by which the client sees the server. Pages of other sites cannot set the
/// header of proxies.
pub(crate) fn request_scheme(headers: &HeaderMap) -> &'static str {
    let scheme = headers
        .get("x-forwarded-proto")
        .and_then(|value| value.to_str().ok()?.split(',').next());
    match scheme {
        Some(scheme) if scheme.trim().eq_ignore_ascii_case("https") => "https",
        _ => "http",
    }
}

/// Returns an origin in the form in which origins are compared: in lower case and without the
/// default port of its scheme.
fn origin_of(scheme: &str, host: &str) -> String {
    let (scheme, host) = (scheme.to_ascii_lowercase(), host.to_ascii_lowercase());
    let default_port = match &*scheme {
        "http" => ":80",
        "https" => ":443",
        _ => "",
    };
    let host = host.strip_suffix(default_port).unwrap_or(&host);
    format!("{scheme}://{host}")
}

/// Refuses requests from other sites and inserts the [`Caller`] into the request.
pub(crate) async fn check(
    State(access): State<Arc<Access>>,
    request: Request,
    next: Next,
) -> Response {
    if let Err(refusal) = access.check_site(request.uri(), request.headers()) {
        return refusal.into_response();
    }
    let (mut parts, body) = request.into_parts();
    if parts.extensions.get::<Caller>().is_none() {
        match access.caller(&parts).await {
            Ok(caller) => drop(parts.extensions.insert(caller)),
            Err(refusal) => return refusal.into_response(),
        }
    }
    next.run(Request::from_parts(parts, body)).await
}

/// An input that the server sets, see [`Server::input`](crate::Server::input).
pub(crate) struct CallerInput {
    name: String,
    value: Box<ValueOf>,
}

type ValueOf = dyn Fn(&Caller) -> Value + Send + Sync;

impl CallerInput {
    pub(crate) fn new<T: Serialize>(
        name: String,
        value: impl Fn(&Caller) -> T + Send + Sync + 'static,
    ) -> Self {
        Self {
            name,
            value: Box::new(move |caller| serde_json::to_value(value(caller)).unwrap_or_default()),
        }
    }

    /// Returns the value for a caller. A value that cannot be JSON becomes `null`, which required
    /// inputs refuse.
    fn value(&self, caller: &Caller) -> Value {
        (self.value)(caller)
    }
}

fn forbidden(what: &str, name: &str) -> Refusal {
    let message = format!(
        "the server refuses requests of the {what} `{}`",
        short(name)
    );
    Refusal::new(StatusCode::FORBIDDEN, "forbidden", message)
}

/// Returns the name in `name:port`.
fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}
