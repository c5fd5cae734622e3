//! [`Api`]: the server's own API over HTTP and JSON.

mod begin;
mod events;
mod json;
mod message;
mod openapi;
mod runs;
mod waits;

use crate::app::{App, Caller, Shared, Who};
use crate::protocol::Protocol;
use crate::refuse::json_response;
use adk_core::runner::KnownWorkflow;
use adk_core::{Error, ErrorKind, Result};
use axum::Router;
use axum::extract::{Extension, OriginalUri, Request, State};
use axum::http::header::LOCATION;
use axum::http::{StatusCode, Uri};
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use axum::routing::{get, post};
use serde_json::{Value, json};
use std::sync::Arc;

/// Names that a workflow may not have, because paths begin with them.
const RESERVED_NAMES: [&str; 3] = ["runs", "waiting", "workflows"];

/// The server's own API.
#[derive(Debug)]
pub(crate) struct Api;

impl Protocol for Api {
    /// # Errors
    /// [`ErrorKind::Config`] if a workflow has the name of a route.
    fn routes(&self, app: &Arc<App>) -> Result<Router<Arc<App>>> {
        let mut names = app.main_runner().workflows();
        if let Some(workflow) = names.find(|workflow| RESERVED_NAMES.contains(&workflow.name())) {
            let message = format!("the workflow `{}` has the name of a route", workflow.name());
            return Err(Error::new(ErrorKind::Config, message).with_help("rename the workflow"));
        }
        Ok(Router::new()
            .route("/openapi.json", get(openapi_document))
            .route("/v1/workflows", get(workflows))
            .route("/v1/{workflow}/runs", post(begin::begin))
            .route("/v1/runs", get(runs::runs))
            .route("/v1/runs/{run}", get(runs::run).delete(runs::cancel))
            .route("/v1/runs/{run}/events", get(events::events))
            .route("/v1/waiting", get(waits::waiting))
            .route("/v1/waiting/{*wait}", post(waits::answer))
            .layer(from_fn(prefix_location)))
    }
}

/// The health check for load balancers, which have no token and may name any host.
#[derive(Debug)]
pub(crate) struct Health;

impl Protocol for Health {
    fn routes(&self, _: &Arc<App>) -> Result<Router<Arc<App>>> {
        Ok(Router::new().route("/health", get(health)))
    }

    /// The response contains only whether the server accepts runs.
    fn is_public(&self) -> bool {
        true
    }
}

async fn health(State(app): Shared) -> Response {
    if app.is_stopping() {
        return json_response(
            StatusCode::SERVICE_UNAVAILABLE,
            &json!({"status": "closing"}),
        );
    }
    json_response(StatusCode::OK, &json!({"status": "ok"}))
}

/// Returns the path under which another router nests this one; empty for a router that is not
/// nested.
fn prefix<'u>(original: &'u Uri, nested: &Uri) -> &'u str {
    let path = original.path();
    path.strip_suffix(nested.path()).unwrap_or_default()
}

/// Completes the path in `Location` of a response.
async fn prefix_location(
    OriginalUri(original): OriginalUri,
    request: Request,
    next: Next,
) -> Response {
    let prefix = prefix(&original, request.uri()).to_owned();
    let mut response = next.run(request).await;
    if !prefix.is_empty()
        && let Some(location) = response.headers_mut().get_mut(LOCATION)
        && let Ok(path) = location.to_str()
        && let Ok(whole) = format!("{prefix}{path}").parse()
    {
        *location = whole;
    }
    response
}

async fn openapi_document(
    State(app): Shared,
    Extension(caller): Who,
    OriginalUri(original): OriginalUri,
    uri: Uri,
) -> Response {
    let document = openapi::document(&app, &caller, prefix(&original, &uri));
    json_response(StatusCode::OK, &document)
}

/// Returns the tree of a workflow. Only operators see the prompts of models; the prompt of an
/// `await` is a question to users.
fn tree(workflow: &KnownWorkflow, caller: &Caller) -> Value {
    let mut tree = json!(workflow.spec());
    let nodes = tree.get_mut("nodes").and_then(Value::as_array_mut);
    for node in nodes.into_iter().flatten() {
        if caller.user.is_some() && node["kind"] != "await" {
            node.as_object_mut()
                .map(|node| node.shift_remove("prompts"));
        }
    }
    tree
}

async fn workflows(State(app): Shared, Extension(caller): Who) -> Response {
    let runner = app.runner(&caller);
    let all: Vec<_> = app
        .workflows(&runner, &caller)
        .map(|workflow| {
            let form = workflow.form();
            let mut json = json!({
                "name": workflow.name(),
                "description": workflow.description(),
                "input": form.input_schema(),
                "body": message::body_schema(&workflow),
                "output": form.output_schema(),
                "tree": tree(&workflow, &caller),
            });
            let audit = workflow.audit();
            // Users need not know which tool they would have to reach.
            if caller.user.is_none() && audit.has_labels() {
                json["audit"] = json!(audit);
            }
            json
        })
        .collect();
    json_response(
        StatusCode::OK,
        &json!({"app": runner.app_name(), "workflows": all}),
    )
}
