//! [`Protocol`]: one way to reach the workflows of a server over HTTP. The items of this module
//! are what a crate with a protocol of its own needs.
//!
//! A handler receives the [`App`] and the [`Caller`]. Access rules apply before it: the caller is
//! authenticated, and the request is for this server. The handler starts a run with [`App::begin`]
//! and follows it with [`App::follow`]; the run continues if its client disconnects.
//!
//! ```
//! use adk_server::protocol::{Answer, App, Protocol, Shared, Who, json_response};
//! use axum::Router;
//! use axum::extract::{Extension, State};
//! use axum::http::StatusCode;
//! use axum::routing::get;
//! use serde_json::json;
//! use std::sync::Arc;
//!
//! /// Lists the names of the workflows.
//! #[derive(Debug)]
//! struct Names;
//!
//! impl Protocol for Names {
//!     fn routes(&self, _: &Arc<App>) -> adk_core::Result<Router<Arc<App>>> {
//!         Ok(Router::new().route("/names", get(names)))
//!     }
//! }
//!
//! async fn names(State(app): Shared, Extension(caller): Who) -> Answer {
//!     let runner = app.runner(&caller);
//!     let workflows = app.workflows(&runner, &caller);
//!     let names: Vec<_> = workflows.map(|workflow| workflow.name().to_owned()).collect();
//!     Ok(json_response(StatusCode::OK, &json!(names)))
//! }
//!
//! # fn run(runner: &adk_core::Runner) -> adk_core::Result<()> {
//! let router = adk_server::serve(runner).protocol(Names).open_to_all().router()?;
//! # Ok(()) }
//! ```

pub use crate::app::{
    Answer, App, Body, Caller, Listener, Reservation, RunEnding, RunItem, RunQuery, RunQueryParam,
    RunStart, Shared, StartOutcome, StreamPermit, Who, find_run, output, parse_body,
    parse_run_query, run_id, sse_response, stored_events,
};
pub use crate::refuse::{Refusal, json_response, short};

use adk_core::Result;
use axum::Router;
use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

/// A protocol that a server speaks. [`Server::protocol`](crate::Server::protocol) adds it.
pub trait Protocol: Any + Debug + Send + Sync {
    /// Returns the routes of the protocol. The server calls it once, when it starts.
    ///
    /// # Errors
    /// [`ErrorKind::Config`](adk_core::ErrorKind::Config) if the protocol cannot serve the app with
    /// its settings.
    fn routes(&self, app: &Arc<App>) -> Result<Router<Arc<App>>>;

    /// Returns whether the routes show no data of users. The server does not authenticate the
    /// callers of such routes. Default: `false`.
    fn is_public(&self) -> bool {
        false
    }
}
