//! Serves workflows over HTTP: [`serve`].
//!
//! | path | what |
//! |---|---|
//! | `GET /` | a page for people: what runs, what waits for them, what failed and where |
//! | `GET /health` | whether the server takes runs |
//! | `GET /openapi.json` | all of this as OpenAPI 3.1, with the types of inputs, outputs and events |
//! | `GET /v1/workflows` | the workflows, with the schemas of their inputs and outputs |
//! | `POST /v1/NAME/runs` | begins a run; the body is its input |
//! | `GET /v1/runs`, `GET /v1/runs/ID` | runs, with how they ended |
//! | `GET /v1/runs/ID/events` | the events of a run |
//! | `DELETE /v1/runs/ID` | cancels a run |
//! | `GET /v1/waiting`, `POST /v1/waiting/ID` | what waits for people, and their answers |
//! | `POST /ag-ui/NAME` | a run for a user interface that speaks AG-UI |
//! | `GET /a2a/NAME/.well-known/agent-card.json`, `POST /a2a/NAME` | the workflow as an agent of A2A 1.0, over JSON-RPC |
//!
//! Beside it there is the JSON of ADK's `api_server`, with an app for each workflow: `/list-apps`, `/run`, `/run_sse`,
//! `/apps/NAME/users/USER/sessions` with artifacts, and with [`Server::dev_ui`] Google's dev UI at `/dev-ui/`.
//! | `/mcp` | all workflows as tools of the Model Context Protocol, with the feature `mcp` |
//!
//! A run goes on when the connection that began it is gone. Events come as a list, or with `Accept: text/event-stream` as they
//! happen; a client that has lost its connection goes on after its `Last-Event-ID`.
//!
//! # MCP
//!
//! `/mcp` speaks streamable HTTP with sessions, up to the version 2025-11-25 of the protocol; `Server::stdio` speaks the same
//! on standard input and output. The tools are the workflows, and those of [`Server::tool`].
//!
//! A call is a run of the [`Caller`], which the other routes list too; `_meta` of the result has its id under `adk/run`. An output
//! that is an object is structured content as well. What is wrong with arguments, and a run that fails, is a result with
//! `isError`. The run is cancelled when the client cancels the call; it goes on when the client is gone.
//!
//! A client that sends a progress token hears of each event: the path of its agent, and the round. One that takes forms
//! (elicitation) asks its user what an `await` or a `confirm` asks, where a form can hold the answer: a text, a number, a truth, a
//! choice, an object of these, or an enum whose variants are such objects. Otherwise, and when the user declines or cancels, the
//! result is an error that says that the run waits and how it is answered.

mod a2a;
mod access;
mod adk_web;
mod ag_ui;
mod follow;
mod keys;
#[cfg(feature = "mcp")]
mod mcp;
mod message;
mod openapi;
mod page;
mod refuse;
mod routes;
mod runs;
mod serve;

pub use access::{Authorize, Caller};
pub use refuse::Refusal;
pub use serve::{Limits, Server, serve, stopped};
