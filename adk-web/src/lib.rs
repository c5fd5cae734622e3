//! [`AdkWeb`]: Google's dev UI and the JSON API of ADK's `api_server`, for adk-web and other
//! clients of an ADK server.
//!
//! An ADK app is a workflow of the runner. Its sessions are sessions of the runner's app whose ids
//! begin with the name of the workflow and a slash; ADK clients do not see this prefix. The session
//! `s` of the app `research` is the session `research/s` in all other routes. Thus the session
//! lists of two workflows do not mix, and the other routes list, answer and cancel runs that were
//! started here. State keys with the prefixes `user:` and `app:`, and files with `user:`, belong to
//! the user and to the app of the runner, and therefore to all its workflows. These routes do not
//! list sessions that were created through other routes.
//!
//! ```no_run
//! use adk_web::AdkWeb;
//! # async fn run<W>(runner: adk_core::Runner, research: W) -> adk_core::Result<()>
//! # where W: adk_core::Workflow + adk_core::Needs<adk_core::NoResources> + 'static {
//! let adk = AdkWeb::new().dev_ui("venv/lib/python3.11/site-packages/google/adk/cli/browser");
//! adk_server::serve(&runner).workflow(research).protocol(adk).bind("127.0.0.1:8000").await
//! # }
//! ```
//!
//! As in ADK, a client that disconnects during a run cancels the run: adk-web's stop button works
//! this way.
//!
//! A wait is a function call in ADK. The events of a session show a wait as such a call:
//! `adk_request_confirmation` for a tool that needs a confirmation, and `adk_request_input` for an
//! `await`. The response to such a call, or to the call of a long-running tool, answers the wait,
//! and the run continues.

mod answer;
mod apps;
mod artifacts;
mod dev_ui;
mod files;
mod graph;
mod owner;
mod run;
mod sessions;
mod traces;
mod view;

pub use dev_ui::{AdkWeb, DevUi};
