//! Serves workflows over HTTP: [`serve`].
//!
//! | path | what |
//! |---|---|
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
//! A run goes on when the connection that began it is gone. Events come as a list, or with `Accept: text/event-stream` as they
//! happen; a client that has lost its connection goes on after its `Last-Event-ID`.
//!
//! # AG-UI
//!
//! `POST /ag-ui/NAME` takes the `RunAgentInput` of [AG-UI](https://docs.ag-ui.com) 1.0, and answers with its events:
//! `new HttpAgent({url: "http://127.0.0.1:8000/ag-ui/research"})`.
//!
//! | of the request | what it is here |
//! |---|---|
//! | `threadId` | the session of the user, which is made when there is none |
//! | `runId` | the client's own name; the id of the run is in `metadata.adk.run` of `RUN_STARTED` |
//! | `messages` | the last one of the user is what is said, with its images and files; those before are in the session |
//! | `state` | inputs that the message does not give, and keys that the workflow declares by `state`, but those of `app:`; the rest is the workflow's own, and ignored |
//! | `resume` | answers to all interrupts of a run; `{"approved": true}` serves for a yes; a cancelled one cancels the run |
//! | `tools`, `context`, `forwardedProps` | ignored: a workflow says itself what its agents call and read |
//!
//! Agents and blocks are steps, named by their paths with rounds (`research/refinement#2/critic`). Answers of models come in
//! pieces, thoughts as reasoning. An `await` and a tool call that is to be confirmed end the run with interrupts: then the
//! thread takes no message before they are answered. What cannot be read is refused by a status, every other error is a
//! `RUN_ERROR` with the kind of the error as its `code`. A client that goes away before the end cancels the run.

mod a2a;
mod access;
mod ag_ui;
mod follow;
mod openapi;
mod refuse;
mod routes;
mod runs;
mod serve;

pub use access::{Authorize, Caller};
pub use refuse::Refusal;
pub use serve::{Limits, Server, serve};
