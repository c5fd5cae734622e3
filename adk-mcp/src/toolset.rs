//! [`McpToolset`]: the tools of a server as a toolset.

use crate::connection::{Connection, Failure};
use crate::elicitation::OpenCalls;
use crate::limits::Limits;
use crate::listed::ListedTool;
use crate::server::McpServer;
use crate::settings::{Progress, Settings};
use crate::shared::Shared;
use crate::tool::McpTool;
use crate::turn::lock;
use adk_core::{BoxFuture, DynTool, Error, ErrorKind, ReadonlyContext, Result, Toolset};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Maximum length of a tool name that all providers accept.
const NAME: usize = 64;

/// The tools of an MCP server.
///
/// The server is started, or connected to, when an agent first lists its tools, and again after the
/// connection has ended. Clones share the connection, which ends with the last clone.
///
/// # Errors of a run
///
/// A run fails with an error of kind [`Toolset`](adk_core::ErrorKind::Toolset) that names the
/// toolset if its server cannot be reached at the beginning of an agent's turn, or exceeds
/// [`Limits`]. A failure of a call is an error that the model reads.
#[derive(Clone)]
pub struct McpToolset {
    shared: Arc<Shared>,
}

impl McpToolset {
    /// Creates a toolset for a server. Errors refer to it by `name`.
    pub fn new(name: impl Into<String>, server: impl Into<McpServer>) -> Self {
        Self::with(Settings {
            name: name.into(),
            server: server.into(),
            limits: Limits::default(),
            timeout: Some(Duration::from_secs(60)),
            connect_timeout: Duration::from_secs(30),
            prefix: None,
            filter: None,
            confirm: None,
            on_progress: None,
            elicitation: false,
        })
    }

    fn with(settings: Settings) -> Self {
        let (connection, open) = (tokio::sync::Mutex::default(), OpenCalls::default());
        Self {
            shared: Arc::new(Shared {
                settings,
                connection,
                open,
            }),
        }
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.shared.settings
    }

    pub(crate) async fn connection(&self) -> Result<Arc<Connection>> {
        self.shared.connection().await
    }

    pub(crate) fn unavailable_error(&self, why: &str) -> Error {
        self.shared.settings.unavailable_error(why)
    }

    fn set(self, change: impl FnOnce(&mut Settings)) -> Self {
        let mut settings = self.shared.settings.clone();
        change(&mut settings);
        Self::with(settings)
    }

    /// Keeps the tools whose names at the server are chosen. Default: all.
    #[must_use]
    pub fn filter(self, chooses: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        self.set(|settings| settings.filter = Some(Arc::new(chooses)))
    }

    /// Puts a prefix and `_` before the name of each tool, so that the tools of two servers differ:
    /// with `docs`, `read` becomes `docs_read`.
    #[must_use]
    pub fn prefix(self, prefix: impl Into<String>) -> Self {
        self.set(|settings| settings.prefix = Some(prefix.into()))
    }

    /// Requires the consent of a person for each call of the tools whose names at the server are
    /// chosen. Default: none.
    #[must_use]
    pub fn confirm(self, chooses: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        self.set(|settings| settings.confirm = Some(Arc::new(chooses)))
    }

    /// Sets the maximum time of a call; `None` for no limit. A call that exceeds it is cancelled at
    /// the server, and the model reads an error. Default 60 s.
    #[must_use]
    pub fn timeout(self, longest: impl Into<Option<Duration>>) -> Self {
        self.set(|settings| settings.timeout = longest.into())
    }

    /// Sets the maximum time to start the server or to connect to it, and to list its tools.
    /// Default 30 s.
    #[must_use]
    pub fn connect_timeout(self, longest: Duration) -> Self {
        self.set(|settings| settings.connect_timeout = longest)
    }

    /// Sets the limits for the data of the server.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        self.set(|settings| settings.limits = limits)
    }

    /// Sets a callback for the progress of running calls, if the server reports it. The callback
    /// must not block. A resumed run reports no progress of recorded calls.
    #[must_use]
    pub fn on_progress(self, tell: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        self.set(|settings| settings.on_progress = Some(Arc::new(tell)))
    }

    /// Lets the server ask the user during a call (elicitation). Default: questions are declined.
    ///
    /// The run waits for the answer as for a confirmation: the question is listed by
    /// [`Runner::waiting`](adk_core::Runner::waiting), and null declines it. Questions are declined
    /// if the run cannot wait, as in memory and in an agent that is a tool of another agent. Calls
    /// of the toolset are made one after the other, because a question does not name its call; a
    /// call that waits for an answer does not delay the others.
    ///
    /// The server keeps the call open on a connection of this process, which belongs to this
    /// toolset and its clones. If the connection has ended when the answer arrives, the model reads
    /// an error; the call is not repeated.
    #[must_use]
    pub fn elicitation(self, yes: bool) -> Self {
        self.set(|settings| settings.elicitation = yes)
    }
}

impl Shared {
    async fn list(self: &Arc<Self>) -> Result<Vec<Arc<dyn DynTool>>> {
        let calling = |listed: &Arc<ListedTool>| {
            Arc::new(McpTool {
                listed: listed.clone(),
                shared: self.clone(),
            }) as Arc<dyn DynTool>
        };
        let connection = self.connection().await?;
        if !connection.has_changed()
            && let Some(listed) = &*lock(&connection.listed)
        {
            return Ok(listed.iter().map(calling).collect());
        }
        let listing = connection.tools(self.settings.limits.tools);
        let listed = match tokio::time::timeout(self.settings.connect_timeout, listing).await {
            Ok(Ok(tools)) => self.tools(tools)?,
            Ok(Err(Failure::Lost(why))) => return Err(self.settings.unavailable_error(&why)),
            Ok(Err(Failure::Refused(why) | Failure::Bad(why))) => {
                return Err(self.settings.invalid_error(&why));
            }
            Err(_) => return Err(self.settings.timeout_error()),
        };
        let tools = listed.iter().map(calling).collect();
        *lock(&connection.listed) = Some(listed);
        Ok(tools)
    }

    fn tools(&self, tools: Vec<rmcp::model::Tool>) -> Result<Vec<Arc<ListedTool>>> {
        let Settings {
            name,
            filter,
            prefix,
            ..
        } = &self.settings;
        if let Some(prefix) = prefix
            && let Err(fault) = name_for_models(prefix.clone())
        {
            let message = format!("toolset `{name}` has the prefix `{prefix:.100}`: {fault}");
            return Err(Error::new(ErrorKind::Config, message).with_help("choose another prefix"));
        }
        let kept = tools
            .into_iter()
            .filter(|tool| filter.as_ref().is_none_or(|filter| filter(&tool.name)));
        let tools = kept.map(|tool| {
            let remote = tool.name.to_string();
            let name = match prefix {
                Some(prefix) => format!("{prefix}_{remote}"),
                None => remote.clone(),
            };
            let made =
                name_for_models(name).and_then(|name| ListedTool::new(tool, name, &self.settings));
            let tool = made.map_err(|fault| {
                self.settings
                    .invalid_error(&format!("its tool `{remote:.100}`: {fault}"))
            })?;
            Ok(Arc::new(tool))
        });
        tools.collect()
    }
}

/// Converts a name to one that all providers accept: letters, digits, `_` and `-`.
fn name_for_models(name: String) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if name.is_empty() || !name.chars().all(|c| is_plain(c) || matches!(c, '.' | '/')) {
        return Err("a name has letters, digits, `_`, `-`, `.` and `/`".to_owned());
    }
    if name.len() > NAME {
        return Err(format!(
            "a name has at most {NAME} characters, with the prefix"
        ));
    }
    Ok(name.replace(|c| !is_plain(c), "_"))
}

impl Toolset for McpToolset {
    fn name(&self) -> &str {
        &self.shared.settings.name
    }

    fn tools<'a>(&'a self, _: &'a ReadonlyContext) -> BoxFuture<'a, Result<Vec<Arc<dyn DynTool>>>> {
        Box::pin(self.shared.list())
    }

    fn all_tools(&self) -> BoxFuture<'_, Result<Vec<Arc<dyn DynTool>>>> {
        Box::pin(self.shared.list())
    }
}

impl fmt::Debug for McpToolset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Settings {
            name,
            server,
            limits,
            timeout,
            prefix,
            ..
        } = &self.shared.settings;
        f.debug_struct("McpToolset")
            .field("name", name)
            .field("server", server)
            .field("limits", limits)
            .field("timeout", timeout)
            .field("prefix", prefix)
            .finish_non_exhaustive()
    }
}
