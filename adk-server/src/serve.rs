//! [`serve`]: a server with the protocols of this crate.

use crate::a2a::A2a;
use crate::api::{Api, Health};
#[cfg(feature = "mcp")]
use crate::mcp::Mcp;
use crate::page::Page;
use crate::protocol::Protocol;
use crate::server::Server;
#[cfg(feature = "mcp")]
use adk_core::Result;
use adk_core::Runner;

/// Serves the workflows of a runner over HTTP: the workflows of `RunnerBuilder::workflow` and of
/// [`Server::workflow`].
///
/// ```no_run
/// # async fn run<W>(runner: adk_core::Runner, research: W) -> adk_core::Result<()>
/// # where W: adk_core::Workflow + adk_core::Needs<adk_core::NoResources> + 'static {
/// adk_server::serve(&runner).workflow(research).bind("127.0.0.1:8000").await
/// # }
/// ```
pub fn serve<P, R>(runner: &Runner<P, R>) -> Server<P, R> {
    let protocols: Vec<Box<dyn Protocol>> = vec![
        Box::new(Api),
        Box::new(Health),
        Box::new(Page),
        Box::new(A2a::default()),
        #[cfg(feature = "mcp")]
        Box::new(Mcp::default()),
    ];
    Server::new(runner.clone(), protocols)
}

impl<P, R> Server<P, R> {
    /// Allows A2A push notifications to an address and to all addresses below its path. Clients
    /// pass such addresses with their messages. By default no address is allowed, because a client
    /// could otherwise make the server send requests inside its network.
    ///
    /// The server that drives a task sends its notifications. If a server ends before it has sent
    /// them, another server sends them. Delivery is at least once, so the last notification may be
    /// repeated. The server tries an address that does not answer three times.
    #[cfg(feature = "push")]
    pub fn push_to(mut self, prefix: impl Into<String>) -> Self {
        if let Some(a2a) = self.protocol_mut::<A2a>() {
            a2a.push_to(prefix.into());
        }
        self
    }

    /// Serves MCP over HTTP without sessions, so that any server of a store serves any request of a
    /// client. A balancer then needs no sticky routing, and a restart ends no session.
    ///
    /// Without a session the server cannot ask its client anything: a call whose run waits returns
    /// the wait, also to a client that supports forms. A client cannot cancel a call. It receives
    /// progress notifications in the response of the call, and no other notifications.
    ///
    /// ```no_run
    /// # async fn run<W>(runner: adk_core::Runner, research: W) -> adk_core::Result<()>
    /// # where W: adk_core::Workflow + adk_core::Needs<adk_core::NoResources> + 'static {
    /// adk_server::serve(&runner).workflow(research).mcp_stateless().bind("127.0.0.1:8000").await
    /// # }
    /// ```
    #[cfg(feature = "mcp")]
    pub fn mcp_stateless(self) -> Self {
        self.protocol(Mcp { is_stateless: true })
    }

    /// Serves the workflows and tools to one MCP client on standard input and output, until the
    /// input ends. Runs then have [a grace period](crate::Limits::grace) to end. The program must
    /// not write anything else to standard output.
    ///
    /// ```no_run
    /// # async fn run<W>(runner: adk_core::Runner, research: W) -> adk_core::Result<()>
    /// # where W: adk_core::Workflow + adk_core::Needs<adk_core::NoResources> + 'static {
    /// adk_server::serve(&runner).workflow(research).stdio().await
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Config`](adk_core::ErrorKind::Config) if the client does not speak MCP. Also
    /// the errors of [`router`](Self::router).
    #[cfg(feature = "mcp")]
    pub async fn stdio(self) -> Result<()> {
        // The tasks of the other protocols run too, such as push notifications.
        let (app, _) = self.start()?;
        crate::mcp::stdio(app).await
    }
}
