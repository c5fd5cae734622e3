//! Serves workflows over HTTP: [`serve`].
//!
//! | path | purpose |
//! |---|---|
//! | `GET /` | a web page with running, waiting and failed runs |
//! | `GET /health` | whether the server accepts runs |
//! | `GET /openapi.json` | the API as OpenAPI 3.1, with the types of inputs, outputs and events |
//! | `GET /v1/workflows` | the workflows, with the schemas of their inputs and outputs |
//! | `POST /v1/NAME/runs` | starts a run; the body is its input |
//! | `GET /v1/runs`, `GET /v1/runs/ID` | runs with their status and output |
//! | `GET /v1/runs/ID/events` | the events of a run |
//! | `DELETE /v1/runs/ID` | cancels a run |
//! | `GET /v1/waiting`, `POST /v1/waiting/ID` | lists and answers waits |
//! | `POST /a2a/NAME` | the workflow as an A2A 1.0 agent, over JSON-RPC |
//! | `GET /a2a/NAME/.well-known/agent-card.json` | the card of the agent |
//! | `/mcp` | all workflows as tools of the Model Context Protocol, with the feature `mcp` |
//!
//! Other crates add protocols: `adk-workflow-ag-ui` adds AG-UI, and `adk-workflow-web` the JSON API
//! of ADK's `api_server` and Google's dev UI. [`protocol`] has what your own protocol needs.
//!
//! A run continues when the connection that started it is lost. A request for events returns a
//! list, or with `Accept: text/event-stream` a live stream. A client that has lost its connection
//! continues after its `Last-Event-ID`.
//!
//! # MCP
//!
//! `/mcp` implements streamable HTTP with sessions, up to version 2025-11-25 of the protocol;
//! `Server::stdio` implements the same over standard input and output. The tools are the workflows
//! and the tools of [`Server::tool`].
//!
//! A call is a run of the [`Caller`], which the other routes list too; `_meta` of the result
//! contains its id under `adk/run`. An output that is an object is also structured content. Invalid
//! arguments and a failed run yield a result with `isError`. Cancelling the call cancels the run; a
//! client that disconnects does not.
//!
//! A client that sends a progress token receives a notification for each event, with the path of
//! its agent and the round. A client that supports forms (elicitation) asks its user the question
//! of an `await` or a `confirm` if a form can hold the answer: a string, a number, a boolean, a
//! choice, an object of these, or an enum whose variants are such objects. Otherwise, or if the
//! user declines or cancels, the result is an error that names the wait and the request that
//! answers it.

mod a2a;
mod api;
mod app;
mod connections;
#[cfg(feature = "mcp")]
mod mcp;
mod page;
pub mod protocol;
mod refuse;
mod serve;
mod server;

pub use app::{Authorize, Caller, Limits};
pub use refuse::Refusal;
pub use serve::serve;
pub use server::{Server, stopped};
