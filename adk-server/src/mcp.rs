//! [`Mcp`]: the Model Context Protocol, with all workflows, and all tools of
//! [`Server::tool`](crate::Server::tool), as MCP tools at `/mcp` (streamable HTTP) or over standard
//! input and output.
//!
//! A call is a run. Cancelling the call cancels the run; a client that disconnects does not.

mod call;
mod handler;
mod question;

use crate::app::{App, Caller, Shared, Who, body_refusal, lock};
use crate::protocol::Protocol;
use crate::refuse::Refusal;
use adk_core::{Error, ErrorKind, Result};
use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Extension, FromRequest as _, Request, State};
use axum::http::{Method, header};
use axum::response::Response;
use axum::routing::any;
use futures_util::{FutureExt, StreamExt};
use handler::Handler;
use rmcp::ServiceExt;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::session::{SessionId, SessionManager as _};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// The header with the id of a session.
const SESSION: &str = "mcp-session-id";

/// The lifetime of an idle session.
const IDLE: Duration = Duration::from_secs(3600);

/// The number of users at which users without sessions are removed.
const USERS: usize = 64;

/// The Model Context Protocol over streamable HTTP.
#[derive(Debug, Default)]
pub(crate) struct Mcp {
    /// Whether each request stands alone, without a session.
    pub(crate) is_stateless: bool,
}

impl Protocol for Mcp {
    fn routes(&self, _: &Arc<App>) -> Result<Router<Arc<App>>> {
        let sessions = Arc::new(Sessions {
            is_stateless: self.is_stateless,
            users: Mutex::default(),
            end: CancellationToken::new(),
        });
        Ok(Router::new()
            .route("/mcp", any(serve))
            .layer(Extension(sessions)))
    }
}

/// The sessions of one user. No other user can use them.
#[derive(Clone)]
struct UserSessions {
    service: StreamableHttpService<Handler, LocalSessionManager>,
    sessions: Arc<LocalSessionManager>,
    /// The times of the last request of each session.
    last_requests: Arc<Mutex<HashMap<SessionId, Instant>>>,
}

impl UserSessions {
    fn note_request(&self, session: &str) {
        lock(&self.last_requests).insert(session.into(), Instant::now());
    }

    /// Ends the sessions without requests for the longest time, until there are at most `max`.
    /// Clients often disappear without ending their session.
    async fn end_silent_sessions(&self, max: usize) {
        loop {
            let all: Vec<_> = self
                .sessions
                .sessions
                .read()
                .await
                .keys()
                .cloned()
                .collect();
            let silent = {
                let mut times = lock(&self.last_requests);
                times.retain(|id, _| all.contains(id));
                // A session whose first response is under way has no time yet.
                let times = all.iter().filter_map(|id| Some((times.get(id)?, id)));
                times.min().map(|(_, id)| id.clone())
            };
            let Some(silent) = silent.filter(|_| all.len() > max) else {
                return;
            };
            // A session whose worker has ended is removed too.
            let _ = self.sessions.close_session(&silent).await;
        }
    }

    fn is_idle(&self) -> bool {
        // A request that may start a session holds a clone.
        Arc::strong_count(&self.sessions) <= 2
            && self
                .sessions
                .sessions
                .try_read()
                .is_ok_and(|all| all.is_empty())
    }
}

/// The sessions of all users. Dropping this value ends them.
struct Sessions {
    users: Mutex<HashMap<Caller, UserSessions>>,
    end: CancellationToken,
    is_stateless: bool,
}

impl Sessions {
    fn for_caller(&self, app: &Arc<App>, caller: Caller) -> UserSessions {
        let mut users = lock(&self.users);
        if users.len() >= USERS {
            users.retain(|_, user| !user.is_idle());
        }
        let user = users.entry(caller.clone()).or_insert_with(|| {
            let mut sessions = LocalSessionManager::default();
            sessions.session_config.keep_alive = Some(IDLE);
            // The server checks `Host` and `Origin` for all routes.
            let config = StreamableHttpServerConfig::default()
                .disable_allowed_hosts()
                .with_legacy_session_mode(!self.is_stateless)
                .with_max_request_body_bytes(app.limits().body)
                .with_cancellation_token(self.end.clone());
            let (app, sessions) = (Arc::downgrade(app), Arc::new(sessions));
            let make = move || Ok(Handler::new(app.clone(), caller.clone()));
            UserSessions {
                service: StreamableHttpService::new(make, sessions.clone(), config),
                sessions,
                last_requests: Arc::default(),
            }
        });
        user.clone()
    }
}

impl Drop for Sessions {
    fn drop(&mut self) {
        self.end.cancel();
    }
}

async fn serve(
    State(app): Shared,
    Extension(caller): Who,
    Extension(sessions): Extension<Arc<Sessions>>,
    request: Request,
) -> Result<Response, Refusal> {
    let user = sessions.for_caller(&app, caller.clone());
    let session = request.headers().get(SESSION).cloned();
    match session.map(|id| String::from_utf8_lossy(id.as_bytes()).into_owned()) {
        None => {}
        Some(_) if sessions.is_stateless => {}
        Some(id) if !user.sessions.sessions.read().await.contains_key(&*id) => {
            return Err(Refusal::missing("session", &id).help("start a session with `initialize`"));
        }
        Some(id) => user.note_request(&id),
    }
    // The stream has no end, so it must end when the server stops.
    let stream = (request.method() == Method::GET)
        .then(|| app.acquire_stream(&caller))
        .transpose()?
        .map(|permit| (permit, app.wait_closing().boxed()));
    let (parts, body) = request.into_parts();
    let body = Bytes::from_request(Request::from_parts(parts.clone(), body), &()).await;
    let body = body.map_err(|error| body_refusal(&error))?;
    let request = Request::from_parts(parts, Body::from(body));
    let response = user.service.handle(request).await.map(Body::new);
    let started = response.headers().get(SESSION);
    if let Some(id) = started.and_then(|id| id.to_str().ok()) {
        user.note_request(id);
        let max = app.limits().runs_per_user;
        user.end_silent_sessions(max.max(1)).await;
    }
    let is_json = response
        .headers()
        .get(header::CONTENT_TYPE)
        .is_some_and(|kind| kind == "application/json");
    if response.status().is_client_error() && !is_json {
        return Err(refusal(response).await);
    }
    let Some((permit, closing)) = stream else {
        return Ok(response);
    };
    Ok(response.map(|body| {
        let events = body.into_data_stream().take_until(closing);
        Body::from_stream(events.inspect(move |_| {
            let _permit = &permit;
        }))
    }))
}

/// Converts an error of the transport to a refusal.
async fn refusal(response: Response) -> Refusal {
    let (status, body) = (response.status(), response.into_body());
    let text = to_bytes(body, 1 << 16).await.unwrap_or_default();
    Refusal::new(status, "mcp", String::from_utf8_lossy(&text))
        .help("use MCP streamable HTTP up to version 2025-11-25; start a session with `initialize`")
}

/// Serves on standard input and output until the input ends. Runs then have a grace period to end.
pub(crate) async fn stdio(app: Arc<App>) -> Result<()> {
    let handler = Handler::new(Arc::downgrade(&app), Caller::operator());
    let failed = |error: String| {
        Error::new(
            ErrorKind::Config,
            format!("cannot serve the MCP client: {error}"),
        )
    };
    let service = handler
        .serve(rmcp::transport::stdio_pipes())
        .await
        .map_err(|error| failed(error.to_string()))?;
    let ended = service
        .waiting()
        .await
        .map_err(|error| failed(error.to_string()));
    app.stop().await;
    ended.map(drop)
}
