//! [`Mcp`]: the Model Context Protocol, with all workflows, and all tools of
//! [`Server::tool`](crate::Server::tool), as MCP tools at `/mcp` (streamable HTTP) or over standard
//! input and output.
//!
//! A call is a run. Cancelling the call cancels the run; a client that disconnects does not.

mod call;
mod handler;
mod question;

use crate::app::{App, Caller, Shared, Who, lock};
use crate::protocol::Protocol;
use crate::refuse::Refusal;
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

/// The lifetime of an idle session.
const IDLE: Duration = Duration::from_secs(3600);

/// The number of users at which users without sessions are removed.
const USERS: usize = 64;

/// The Model Context Protocol over streamable HTTP.
#[derive(Debug)]
pub(crate) struct Mcp;

impl Protocol for Mcp {
    fn routes(&self, _: &Arc<App>) -> Result<Router<Arc<App>>> {
        let sessions = Arc::new(Sessions::default());
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
}

impl UserSessions {
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
#[derive(Default)]
struct Sessions {
    users: Mutex<HashMap<Caller, UserSessions>>,
    end: CancellationToken,
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
                .with_max_request_body_bytes(app.limits().body)
                .with_cancellation_token(self.end.clone());
            let (app, sessions) = (Arc::downgrade(app), Arc::new(sessions));
            let make = move || Ok(Handler::new(app.clone(), caller.clone()));
            UserSessions {
                service: StreamableHttpService::new(make, sessions.clone(), config),
                sessions,
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
    let UserSessions { service, sessions } = sessions.for_caller(&app, caller);
    match request
        .headers()
        .get("mcp-session-id")
        .map(|id| String::from_utf8_lossy(id.as_bytes()))
    {
        Some(id) if !sessions.sessions.read().await.contains_key(&*id) => {
            return Err(Refusal::missing("session", &id).help("start a session with `initialize`"));
        }
        None if sessions.sessions.read().await.len() >= app.limits().runs_per_user => {
            let message = format!(
                "this user has reached the limit of {} sessions",
                app.limits().runs_per_user
            );
            return Err(
                Refusal::new(StatusCode::TOO_MANY_REQUESTS, "too_many_sessions", message)
                    .help("end a session with `DELETE /mcp`"),
            );
        }
        _ => {}
    }
    let is_stream = request.method() == Method::GET;
    let response = service.handle(request).await.map(Body::new);
    let is_json = response
        .headers()
        .get(header::CONTENT_TYPE)
        .is_some_and(|kind| kind == "application/json");
    if response.status().is_client_error() && !is_json {
        return Err(refusal(response).await);
    }
    if !is_stream {
        return Ok(response);
    }
    // The stream has no end, so it must end when the server stops.
    let (permit, closing) = (app.acquire_stream()?, app.wait_closing().boxed());
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
