//! AG-UI 1.0, the protocol of agents and user interfaces: `POST /ag-ui/NAME` runs a workflow and
//! streams its events to a user interface.
//!
//! ```no_run
//! # async fn run<W>(runner: adk_core::Runner, research: W) -> adk_core::Result<()>
//! # where W: adk_core::Workflow + adk_core::Needs<adk_core::NoResources> + 'static {
//! let server = adk_server::serve(&runner).workflow(research).protocol(adk_ag_ui::AgUi);
//! server.bind("127.0.0.1:8000").await
//! # }
//! ```
//!
//! An invalid request is refused with an HTTP status; later errors become the event `RUN_ERROR`.

mod event;
mod input;
mod request;
mod stream;
mod translate;

use adk_core::Result;
use adk_server::protocol::{
    Answer, App, Body, Protocol, Refusal, RunQueryParam, Shared, Who, parse_body, parse_run_query,
    sse_response,
};
use axum::Router;
use axum::extract::{Extension, Path, State};
use axum::http::StatusCode;
use axum::response::sse;
use axum::routing::post;
use futures_util::StreamExt;
use input::RunAgentInput;
use request::{AgUiRequest, RequestOutcome};
use std::sync::Arc;
use stream::failure;
use translate::Ending;

/// AG-UI 1.0.
#[derive(Clone, Copy, Debug)]
pub struct AgUi;

impl Protocol for AgUi {
    fn routes(&self, _: &Arc<App>) -> Result<Router<Arc<App>>> {
        Ok(Router::new().route("/ag-ui/{workflow}", post(run)))
    }
}

async fn run(
    State(app): Shared,
    Extension(caller): Who,
    Path(name): Path<String>,
    query: RunQueryParam,
    body: Body,
) -> Answer {
    let (query, runner) = (parse_run_query(query)?, app.runner(&caller));
    let workflow = app.workflow(&runner, &caller, &name)?;
    let user = caller.acts_for(query.user.as_deref())?;
    let input = RunAgentInput::read(parse_body(body)?)?;
    let permit = app.acquire_stream(&caller)?;
    let request = AgUiRequest {
        app,
        caller,
        runner,
        workflow,
        user,
        input,
    };
    let outcome = if request.input.resume.is_empty() {
        request.begin().await
    } else {
        request.resume().await
    };
    let events = match outcome {
        Ok(RequestOutcome::Active(active)) => request.events(*active).await,
        Ok(RequestOutcome::Cancelled) => request.single_outcome(Ending::Cancelled),
        Err(refusal) if needs_http_status(&refusal) => return Err(refusal),
        Err(refusal) => request.single_outcome(failure(&refusal)),
    };
    let events = events.map(|event| {
        let data = serde_json::to_string(&event).unwrap_or_default();
        sse::Event::default().data(data)
    });
    Ok(sse_response(events, permit))
}

/// Returns whether a refusal must have an HTTP status: the caller may not do this, or may try again
/// later.
fn needs_http_status(refusal: &Refusal) -> bool {
    use StatusCode as Status;
    matches!(
        refusal.status(),
        Status::FORBIDDEN | Status::TOO_MANY_REQUESTS | Status::SERVICE_UNAVAILABLE
    )
}
