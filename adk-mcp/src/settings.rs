//! [`Settings`]: the settings of a toolset.

use crate::limits::Limits;
use crate::server::McpServer;
use adk_core::{Error, ErrorKind, ToolsetErrorKind};
use std::sync::Arc;
use std::time::Duration;

pub(crate) type Chooses = Arc<dyn Fn(&str) -> bool + Send + Sync>;
pub(crate) type OnProgress = Arc<dyn Fn(Progress) + Send + Sync>;

#[derive(Clone)]
pub(crate) struct Settings {
    pub(crate) name: String,
    pub(crate) server: McpServer,
    pub(crate) limits: Limits,
    pub(crate) timeout: Option<Duration>,
    pub(crate) connect_timeout: Duration,
    pub(crate) prefix: Option<String>,
    pub(crate) filter: Option<Chooses>,
    pub(crate) confirm: Option<Chooses>,
    pub(crate) on_progress: Option<OnProgress>,
    pub(crate) elicitation: bool,
}

/// Progress of a call, as the server reports it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// Name of the tool at its server, without a prefix.
    pub tool: String,
    /// Amount of work done, in units of the server. It increases.
    pub progress: f64,
    /// Total amount of work, if the server knows it.
    pub total: Option<f64>,
    /// Description of the current work.
    pub message: Option<String>,
}

impl Settings {
    /// Returns the error of a server that cannot be reached.
    pub(crate) fn unavailable_error(&self, why: &str) -> Error {
        let help = "check the program or the address of the server, and run again";
        self.fault(ToolsetErrorKind::Unavailable, why, help)
    }

    pub(crate) fn timeout_error(&self) -> Error {
        let longest = self.connect_timeout;
        self.unavailable_error(&format!(
            "it did not list its tools in {longest:?}, the `connect_timeout` of the toolset"
        ))
    }

    pub(crate) fn invalid_error(&self, why: &str) -> Error {
        let help = "exclude the tool with `.filter(...)`, or raise a limit with `.limits(...)`";
        self.fault(ToolsetErrorKind::Invalid, why, help)
    }

    fn fault(&self, kind: ToolsetErrorKind, why: &str, help: &str) -> Error {
        let Self { name, server, .. } = self;
        let why = server.redact(why);
        let message = format!("the server of toolset `{name}`, `{}`: {why}", server.text());
        Error::new(ErrorKind::Toolset(kind), message).with_help(help)
    }
}
