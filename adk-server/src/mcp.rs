//! The Model Context Protocol: every workflow, and every tool of [`Server::tool`](crate::Server::tool), as a tool of `/mcp`
//! (streamable HTTP), or of standard input and output.
//!
//! A call is a run. It is cancelled when the client cancels the call, and goes on when the client is gone.

mod call;
mod handler;
mod question;

use crate::access::Caller;
use crate::refuse::Refusal;
use crate::runs::lock;
use crate::serve::App;
use adk_core::{Error, ErrorKind, Result};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Extension, Request, State};
use axum::http::{Method, StatusCode, header};
use axum::response::Response;
use axum::routing::any;
use futures_util::{FutureExt, StreamExt};
use handler::Handler;
use rmcp::ServiceExt;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How long a silent session lives.
const IDLE: Duration = Duration::from_secs(3600);

/// How many users have sessions before those without any are forgotten.
const USERS: usize = 64;

pub(crate) fn router() -> Router<Arc<App>> {
    Router::new().route("/mcp", any(serve))
}

/// The sessions of one user, which no other user can name.
#[derive(Clone)]
struct OfUser {
    service: StreamableHttpService<Handler, LocalSessionManager>,
    sessions: Arc<LocalSessionManager>,
}

impl OfUser {
    fn is_idle(&self) -> bool {
        // A request that may begin a session has clones of both.
        Arc::strong_count(&self.sessions) <= 2
            && self.sessions.sessions.try_read().is_ok_and(|all| all.is_empty())
    }
}

/// All sessions. They end with this.
#[derive(Default)]
pub(crate) struct Sessions {
    users: Mutex<HashMap<Caller, OfUser>>,
    end: CancellationToken,
}

impl Sessions {
    fn of(&self, app: &Arc<App>, caller: Caller) -> OfUser {
        let mut users = lock(&self.users);
        if users.len() >= USERS {
            users.retain(|_, user| !user.is_idle());
        }
        let user = users.entry(caller.clone()).or_insert_with(|| {
            let mut sessions = LocalSessionManager::default();
            sessions.session_config.keep_alive = Some(IDLE);
            // `Host` and `Origin` are checked for all routes.
            let config = StreamableHttpServerConfig::default()
                .disable_allowed_hosts()
                .with_max_request_body_bytes(app.limits.body)
                .with_cancellation_token(self.end.clone());
            let (app, sessions) = (Arc::downgrade(app), Arc::new(sessions));
            let make = move || Ok(Handler::new(app.clone(), caller.clone()));
            OfUser { service: StreamableHttpService::new(make, sessions.clone(), config), sessions }
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
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Result<Response, Refusal> {
    let OfUser { service, sessions } = app.mcp.of(&app, caller);
    match request.headers().get("mcp-session-id").map(|id| String::from_utf8_lossy(id.as_bytes())) {
        Some(id) if !sessions.sessions.read().await.contains_key(&*id) => {
            return Err(Refusal::missing("session", &id).help("begin one with `initialize`"));
        }
        None if sessions.sessions.read().await.len() >= app.limits.runs_per_user => {
            let message =
                format!("{} sessions of this user are open, and that is the most", app.limits.runs_per_user);
            return Err(Refusal::new(StatusCode::TOO_MANY_REQUESTS, "too_many_sessions", message)
                .help("end one with `DELETE /mcp`"));
        }
        _ => {}
    }
    let is_stream = request.method() == Method::GET;
    let response = service.handle(request).await.map(Body::new);
    let is_json = response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == "application/json");
    if response.status().is_client_error() && !is_json {
        return Err(refusal(response).await);
    }
    if !is_stream {
        return Ok(response);
    }
    // It has no end of its own, and must not keep the server from stopping.
    let (permit, closing) = (app.stream()?, app.runs.closing().boxed());
    Ok(response.map(|body| {
        let events = body.into_data_stream().take_until(closing);
        Body::from_stream(events.inspect(move |_| {
            let _open = &permit;
        }))
    }))
}

/// An error in the words of the transport as one of ours.
async fn refusal(response: Response) -> Refusal {
    let (status, body) = (response.status(), response.into_body());
    let text = to_bytes(body, 1 << 16).await.unwrap_or_default();
    Refusal::new(status, "mcp", String::from_utf8_lossy(&text))
        .help("speak streamable HTTP of MCP, up to 2025-11-25; a session begins with `initialize`")
}

/// Serves on standard input and output, until the input ends; then runs have a time to end.
pub(crate) async fn stdio(app: Arc<App>) -> Result<()> {
    let handler = Handler::new(Arc::downgrade(&app), Caller::operator());
    let failed =
        |error: String| Error::new(ErrorKind::Config, format!("the MCP client cannot be served: {error}"));
    let service =
        handler.serve(rmcp::transport::stdio_pipes()).await.map_err(|error| failed(error.to_string()))?;
    let ended = service.waiting().await.map_err(|error| failed(error.to_string()));
    app.stop().await;
    ended.map(drop)
}
