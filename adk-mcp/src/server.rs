//! Where a server is: [`StdioServer`] or [`HttpServer`].

use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

/// The most characters of a text of others in an error.
const SHOWN: usize = 2000;

/// What is shown in place of a secret.
const HIDDEN: &str = "[secret]";

/// A server: a process on this machine, or an address.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum McpServer {
    /// A process that is started here and speaks over its standard input and output.
    Stdio(StdioServer),
    /// An address that speaks streamable HTTP.
    Http(HttpServer),
}

/// A program that is started when a tool of it is first asked for, and ended with the last clone of its
/// [`McpToolset`](crate::McpToolset).
///
/// It is given `PATH`, `HOME` and a few more variables that name the user, the language and the system, and of the rest of
/// the environment nothing: keys of providers are not its business.
#[derive(Clone)]
pub struct StdioServer {
    pub(crate) program: OsString,
    pub(crate) args: Vec<OsString>,
    pub(crate) envs: Vec<(OsString, SecretString)>,
    pub(crate) folder: Option<PathBuf>,
}

impl StdioServer {
    /// The program, which is looked for in `PATH`.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self { program: program.into(), args: Vec::new(), envs: Vec::new(), folder: None }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Adds a variable to its environment. The value may be a secret: no error, no log and no `Debug` shows it, and no model
    /// reads it in a result.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<String>) -> Self {
        self.envs.push((name.into(), SecretString::from(value.into())));
        self
    }

    /// The folder that it runs in. Default: that of this process.
    #[must_use]
    pub fn current_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }
}

impl fmt::Debug for StdioServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.envs.iter().map(|(name, _)| name).collect();
        f.debug_struct("StdioServer")
            .field("program", &self.program)
            .field("args", &self.args)
            .field("env", &names)
            .field("current_dir", &self.folder)
            .finish()
    }
}

/// An address that speaks streamable HTTP. Redirects are not followed: they could lead headers to another host.
#[derive(Clone)]
pub struct HttpServer {
    /// With its query, which may hold a secret.
    pub(crate) url: SecretString,
    pub(crate) headers: Vec<(String, SecretString)>,
}

impl HttpServer {
    /// The address, such as `https://example.org/mcp`.
    pub fn new(url: impl Into<String>) -> Self {
        Self { url: SecretString::from(url.into()), headers: Vec::new() }
    }

    /// Sends `Authorization: Bearer TOKEN` with each request.
    #[must_use]
    pub fn bearer(self, token: impl fmt::Display) -> Self {
        self.header("authorization", format!("Bearer {token}"))
    }

    /// Sends a header with each request. The value may be a secret: no error, no log and no `Debug` shows it, and no model
    /// reads it in a result.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), SecretString::from(value.into())));
        self
    }

    /// The address without its query.
    fn address(&self) -> &str {
        self.url.expose_secret().split(['?', '#']).next().unwrap_or_default()
    }
}

impl fmt::Debug for HttpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        f.debug_struct("HttpServer").field("url", &self.address()).field("headers", &names).finish()
    }
}

impl McpServer {
    /// How errors name it.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Stdio(server) => server.program.display().to_string(),
            Self::Http(server) => server.address().to_owned(),
        }
    }

    fn secrets(&self) -> Vec<&str> {
        let mut secrets: Vec<&str> = match self {
            Self::Stdio(server) => server.envs.iter().map(|(_, value)| value.expose_secret()).collect(),
            Self::Http(server) => {
                let query = server.url.expose_secret().strip_prefix(server.address()).unwrap_or_default();
                let values = server.headers.iter().map(|(_, value)| value.expose_secret());
                values.flat_map(|value| [value, bare(value)]).chain([query]).collect()
            }
        };
        // Shorter ones are words such as `1` and `true`.
        secrets.retain(|secret| secret.len() > 5);
        secrets
    }

    /// A value of others without the secrets that were given to the server.
    pub(crate) fn hide(&self, value: &mut Value) {
        let secrets = self.secrets();
        if !secrets.is_empty() {
            hide(&secrets, value);
        }
    }

    /// A text of others without the secrets that were given to the server.
    pub(crate) fn without_secrets(&self, text: &str) -> String {
        self.secrets().into_iter().fold(text.to_owned(), |text, secret| text.replace(secret, HIDDEN))
    }

    /// The same as errors show it: short.
    pub(crate) fn redacted(&self, text: &str) -> String {
        let mut text = self.without_secrets(text);
        if let Some((end, _)) = text.char_indices().nth(SHOWN) {
            text.truncate(end);
            text.push_str("...");
        }
        text
    }
}

fn hide(secrets: &[&str], value: &mut Value) {
    match value {
        Value::String(text) => {
            for secret in secrets {
                if text.contains(secret) {
                    *text = text.replace(secret, HIDDEN);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| hide(secrets, item)),
        Value::Object(fields) => fields.values_mut().for_each(|field| hide(secrets, field)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The token of `Bearer TOKEN`.
fn bare(value: &str) -> &str {
    value.split_once(' ').map_or(value, |(_, token)| token)
}

impl From<StdioServer> for McpServer {
    fn from(server: StdioServer) -> Self {
        Self::Stdio(server)
    }
}

impl From<HttpServer> for McpServer {
    fn from(server: HttpServer) -> Self {
        Self::Http(server)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_shows_a_secret() {
        let http =
            HttpServer::new("https://h/mcp?key=sesame-1").bearer("sesame-2").header("x-key", "sesame-3");
        let stdio = StdioServer::new("server").env("KEY", "sesame-4");
        for server in [McpServer::from(http), McpServer::from(stdio)] {
            let said = "at https://h/mcp?key=sesame-1 with sesame-2, sesame-3 and sesame-4".to_owned();
            let texts = [format!("{server:?}"), server.text(), server.redacted(&said)];
            match &server {
                McpServer::Http(_) => {
                    assert!(!texts.iter().any(|text| ["-1", "-2", "-3"].iter().any(|n| text.contains(n))));
                }
                McpServer::Stdio(_) => assert!(!texts.iter().any(|text| text.contains("sesame-4"))),
            }
        }
    }
}
