//! Workflows as a service over HTTP: [`serve`].
//!
//! [`serve`] returns a [`Server`] that speaks all protocols of this library: adk's own API and its
//! page, A2A, AG-UI, the JSON API of ADK, and with the feature `mcp-server` MCP.
//! [`Server::protocol`] adds your own [`Protocol`](protocol::Protocol).

pub use adk_ag_ui::AgUi;
pub use adk_server::{Authorize, Caller, Limits, Refusal, Server, protocol, stopped};
pub use adk_web::{AdkWeb, DevUi};

/// Serves the workflows of a runner over HTTP: the workflows of `RunnerBuilder::workflow` and of
/// [`Server::workflow`].
///
/// ```no_run
/// use adk::prelude::*;
///
/// workflow! {
///     /// Writes about a topic.
///     pub Writing(topic: String) -> text: String {
///         agent writer -> text: String { instruction: "Write about {topic}." }
///
///         writer
///     }
/// }
///
/// # async fn run() -> adk::Result<()> {
/// let runner = Runner::builder().model(Rehearsal::new()).build()?;
/// adk::serve(&runner).workflow(Writing::default()).bind("127.0.0.1:8000").await
/// # }
/// ```
pub fn serve<P, R>(runner: &adk_build::Runner<P, R>) -> Server<P, R> {
    adk_server::serve(runner)
        .protocol(AdkWeb::new())
        .protocol(AgUi)
}
