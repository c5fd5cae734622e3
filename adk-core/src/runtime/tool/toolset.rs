//! [`Toolset`]: tools that a server or a context supplies at run time.

use super::DynTool;
use crate::runtime::run::ReadonlyContext;
use crate::{BoxFuture, Error, ErrorKind, Result};
use std::future::ready;
use std::sync::Arc;

/// Tools that are known only at run time, such as the tools of an MCP server: ADK's `BaseToolset`.
///
/// An agent asks for the tools when its turn begins and after each round of tool calls, so the
/// tools may change during a turn. The names of the tools are recorded: for a recorded call, a
/// resumed run offers the model the same tools, and answers recorded tool calls from the journal.
///
/// No check sees these tools. The run fails with an error of kind
/// [`Toolset`](crate::ErrorKind::Toolset) when a tool has the name of another tool of the agent or
/// of the runtime, may end a loop, is an agent, or writes a key of the session.
///
/// ```
/// # use adk_build as adk;
/// use adk::{BoxFuture, DynTool, ReadonlyContext, Result, Toolset, llm::LlmAgent};
/// use adk::tool::FunctionTool;
/// use std::sync::Arc;
///
/// /// Tools for people who have paid.
/// struct Paid;
///
/// impl Toolset for Paid {
///     fn name(&self) -> &str {
///         "paid"
///     }
///
///     fn tools<'a>(
///         &'a self,
///         cx: &'a ReadonlyContext,
///     ) -> BoxFuture<'a, Result<Vec<Arc<dyn DynTool>>>> {
///         Box::pin(async move {
///             let mut tools: Vec<Arc<dyn DynTool>> = Vec::new();
///             if cx.get("user:paid")?.unwrap_or(false) {
///                 let quote = FunctionTool::new("quote", "Quotes a price.", |_: (), _| 7);
///                 tools.push(Arc::new(quote));
///             }
///             Ok(tools)
///         })
///     }
/// }
///
/// let clerk = LlmAgent::builder("clerk").toolset(Paid).build()?;
/// # Ok::<(), adk::BuildError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a toolset",
    note = "implement `Toolset`, or list single tools in `tools`"
)]
pub trait Toolset: Send + Sync + 'static {
    /// Returns the name of the toolset for errors.
    fn name(&self) -> &str;

    /// Returns the tools for the next model call of an agent.
    ///
    /// # Errors
    /// Fails when the tools cannot be listed. The run fails with the error, which names the
    /// toolset.
    fn tools<'a>(&'a self, cx: &'a ReadonlyContext)
    -> BoxFuture<'a, Result<Vec<Arc<dyn DynTool>>>>;

    /// Returns all tools that the toolset may supply in any context. A workflow that pins the
    /// toolset to a file, `toolset files: McpToolset = include!("files.mcp.json");`, compares the
    /// tools with the file when a run starts.
    ///
    /// # Errors
    /// Fails when the tools cannot be listed. The default implementation always fails, because the
    /// tools may depend on the context.
    fn all_tools(&self) -> BoxFuture<'_, Result<Vec<Arc<dyn DynTool>>>> {
        let message = format!(
            "toolset `{}` cannot be compared with its file: its tools depend on the context",
            self.name()
        );
        let error =
            Error::new(ErrorKind::Config, message).with_help("implement `Toolset::all_tools`");
        Box::pin(ready(Err(error)))
    }

    /// Prepares the toolset. Called before the first step of each run that may use the toolset,
    /// including resumed runs. Default: does nothing.
    ///
    /// # Errors
    /// An error refuses the run.
    fn prepare(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(ready(Ok(())))
    }
}

impl<T: Toolset + ?Sized> Toolset for Arc<T> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn tools<'a>(
        &'a self,
        cx: &'a ReadonlyContext,
    ) -> BoxFuture<'a, Result<Vec<Arc<dyn DynTool>>>> {
        (**self).tools(cx)
    }

    fn all_tools(&self) -> BoxFuture<'_, Result<Vec<Arc<dyn DynTool>>>> {
        (**self).all_tools()
    }

    fn prepare(&self) -> BoxFuture<'_, Result<()>> {
        (**self).prepare()
    }
}
