//! The list of apps, and the other routes without a user.

use crate::answer::{Answer, invalid_body, ok};
use adk_core::runner::KnownWorkflow;
use adk_server::protocol::{App, Shared, Who};
use axum::Router;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Extension, Path, Query, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

pub(crate) fn router() -> Router<Arc<App>> {
    let mut router = Router::new()
        .route("/list-apps", get(list))
        .route("/version", get(version))
        .route("/config/telemetry", get(telemetry))
        .route("/apps/{app}/app-info", get(info))
        .route("/dev/apps/{app}/builder", get(builder));
    // Empty results for features that exist only in Python: evaluations and tests of agents.
    for (path, body) in [
        ("eval_sets", json!([])),
        ("eval_results", json!([])),
        ("tests", json!([])),
        ("eval-sets", json!({"evalSetIds": []})),
        ("eval-results", json!({"evalResultIds": []})),
        ("metrics-info", json!({"metricsInfo": []})),
    ] {
        let empty = async move |State(app): Shared, Extension(caller): Who, Path(name): Name| {
            app.workflow(&app.runner(&caller), &caller, &name)?;
            Answer::Ok(ok(&body))
        };
        router = router.route(&format!("/dev/apps/{{app}}/{path}"), get(empty));
    }
    router
}

/// The name of an app.
type Name = Path<String>;

#[derive(Deserialize)]
struct ListQuery {
    #[serde(default)]
    detailed: bool,
}

async fn list(
    State(app): Shared,
    Extension(caller): Who,
    query: Result<Query<ListQuery>, QueryRejection>,
) -> Answer {
    let Query(query) = query.map_err(|error| invalid_body(error.body_text()))?;
    let mut all: Vec<_> = app.runner(&caller).workflows().collect();
    all.sort_by(|left, right| left.name().cmp(right.name()));
    if query.detailed {
        return Ok(ok(
            &json!({"apps": all.iter().map(app_info).collect::<Vec<_>>()}),
        ));
    }
    Ok(ok(&json!(
        all.iter().map(KnownWorkflow::name).collect::<Vec<_>>()
    )))
}

fn app_info(workflow: &KnownWorkflow) -> Value {
    json!({
        "name": workflow.name(),
        "rootAgentName": workflow.name(),
        "description": workflow.description(),
        "language": "rust",
        "isComputerUse": false,
        "agents": null,
    })
}

async fn info(State(app): Shared, Extension(caller): Who, Path(name): Path<String>) -> Answer {
    Ok(ok(&app_info(&app.workflow(
        &app.runner(&caller),
        &caller,
        &name,
    )?)))
}

async fn version() -> Response {
    ok(&json!({
        "version": env!("CARGO_PKG_VERSION"),
        "language": "rust",
        "language_version": env!("CARGO_PKG_RUST_VERSION"),
    }))
}

/// Disables telemetry, so that the page does not ask for consent.
async fn telemetry() -> Response {
    ok(&json!({"telemetry": false}))
}

/// Returns no agent definition, because the page cannot edit agents.
async fn builder(State(app): Shared, Extension(caller): Who, Path(name): Path<String>) -> Answer {
    app.workflow(&app.runner(&caller), &caller, &name)?;
    Ok(([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], "").into_response())
}
