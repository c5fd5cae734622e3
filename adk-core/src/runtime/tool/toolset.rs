//! The [`Toolset`] trait: tools that a server or a context decides on at run time.

use super::DynTool;
use crate::runtime::run::ReadonlyContext;
use crate::{BoxFuture, Error, ErrorKind, Result};
use std::future::ready;
use std::sync::Arc;

/// Tools that are known at run time only, such as those of an MCP server: ADK's `BaseToolset`.
///
/// An agent asks for them when its turn begins and after each round of tool calls, so a toolset may give other tools then. The
/// names that it gave are recorded: a run that is taken up again offers the model no other tools for that call, and answers
/// recorded calls from the record.
///
/// No check sees these tools. The run fails with an error of kind [`Toolset`](crate::ErrorKind::Toolset) when one of them has
/// the name of another tool of the agent or of the runtime's own, may end a loop, is an agent, or writes a key of the session.
///
/// ```
/// # use adk_core as adk;
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
///     fn tools<'a>(&'a self, cx: &'a ReadonlyContext) -> BoxFuture<'a, Result<Vec<Arc<dyn DynTool>>>> {
///         Box::pin(async move {
///             let mut tools: Vec<Arc<dyn DynTool>> = Vec::new();
///             if cx.get("user:paid")?.unwrap_or(false) {
///                 tools.push(Arc::new(FunctionTool::new("quote", "Quotes a price.", |_: (), _| 7)));
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
    message = "`{Self}` is no toolset",
    note = "implement `Toolset`, or list single tools in `tools`"
)]
pub trait Toolset: Send + Sync + 'static {
    /// The name that errors give it.
    fn name(&self) -> &str;

    /// The tools for the next model call of an agent.
    ///
    /// # Errors
    /// When there is no list of them: the run fails with the error, which names the toolset.
    fn tools<'a>(&'a self, cx: &'a ReadonlyContext) -> BoxFuture<'a, Result<Vec<Arc<dyn DynTool>>>>;

    /// All tools that it may give, whatever the context. A workflow that holds the toolset to a file,
    /// `toolset files: McpToolset = include!("files.mcp.json");`, compares them when a run starts.
    ///
    /// # Errors
    /// When there is no list of them, or, by default, since nothing says that it does not depend on the context.
    fn all_tools(&self) -> BoxFuture<'_, Result<Vec<Arc<dyn DynTool>>>> {
        let message =
            format!("toolset `{}` cannot be held to a file: its tools depend on the context", self.name());
        let error = Error::new(ErrorKind::Config, message).with_help("implement `Toolset::all_tools`");
        Box::pin(ready(Err(error)))
    }

    /// Runs before the first step of each run that may use the toolset, also of one that is taken up again. Default: nothing.
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

    fn tools<'a>(&'a self, cx: &'a ReadonlyContext) -> BoxFuture<'a, Result<Vec<Arc<dyn DynTool>>>> {
        (**self).tools(cx)
    }

    fn all_tools(&self) -> BoxFuture<'_, Result<Vec<Arc<dyn DynTool>>>> {
        (**self).all_tools()
    }

    fn prepare(&self) -> BoxFuture<'_, Result<()>> {
        (**self).prepare()
    }
}
