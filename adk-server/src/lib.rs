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
//!
//! A run goes on when the connection that began it is gone. Events come as a list, or with `Accept: text/event-stream` as they
//! happen; a client that has lost its connection goes on after its `Last-Event-ID`.

mod access;
mod follow;
mod openapi;
mod page;
mod refuse;
mod routes;
mod runs;
mod serve;

pub use access::{Authorize, Caller};
pub use refuse::Refusal;
pub use serve::{Limits, Server, serve};
