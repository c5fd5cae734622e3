//! [`McpServer`]: a process or an address, as [`StdioServer`] or [`HttpServer`].

use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

/// Maximum number of characters of a foreign text in an error.
const SHOWN: usize = 2000;

/// Replacement for a secret.
const HIDDEN: &str = "[secret]";

/// A server: a process on this machine, or an address.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum McpServer {
    /// A process that is started here and communicates over standard input and output.
    Stdio(StdioServer),
    /// An address that speaks streamable HTTP.
    Http(HttpServer),
}

/// A program that is started when an agent first lists its tools, and ended with the last clone of
/// its [`McpToolset`](crate::McpToolset).
///
/// The process gets `PATH`, `HOME` and a few other variables for the user, the language and the
/// system. It does not get the rest of the environment, which may contain keys of model providers.
#[derive(Clone)]
pub struct StdioServer {
    pub(crate) program: OsString,
    pub(crate) args: Vec<OsString>,
    pub(crate) envs: Vec<(OsString, SecretString)>,
    pub(crate) folder: Option<PathBuf>,
}

impl StdioServer {
    /// Creates a server from a program, which is searched in `PATH`.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            envs: Vec::new(),
            folder: None,
        }
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

    /// Adds an environment variable. The value may be a secret: errors, logs, `Debug` output and
    /// results for the model do not contain it.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<String>) -> Self {
        self.envs
            .push((name.into(), SecretString::from(value.into())));
        self
    }

    /// Sets the working directory. Default: the directory of this process.
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

/// An address that speaks streamable HTTP. Redirects are not followed, because they might send
/// headers to another host.
#[derive(Clone)]
pub struct HttpServer {
    /// URL with its query, which may contain a secret.
    pub(crate) url: SecretString,
    pub(crate) headers: Vec<(String, SecretString)>,
}

impl HttpServer {
    /// Creates a server from a URL, such as `https://example.org/mcp`.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: SecretString::from(url.into()),
            headers: Vec::new(),
        }
    }

    /// Sends `Authorization: Bearer TOKEN` with each request.
    #[must_use]
    pub fn bearer(self, token: impl fmt::Display) -> Self {
        self.header("authorization", format!("Bearer {token}"))
    }

    /// Sends a header with each request. The value may be a secret: errors, logs, `Debug` output
    /// and results for the model do not contain it.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers
            .push((name.into(), SecretString::from(value.into())));
        self
    }

    /// Returns the URL without its query.
    fn address(&self) -> &str {
        self.url
            .expose_secret()
            .split(['?', '#'])
            .next()
            .unwrap_or_default()
    }
}

impl fmt::Debug for HttpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        f.debug_struct("HttpServer")
            .field("url", &self.address())
            .field("headers", &names)
            .finish()
    }
}

impl McpServer {
    /// Returns the name of the server for errors.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Stdio(server) => server.program.display().to_string(),
            Self::Http(server) => server.address().to_owned(),
        }
    }

    fn secrets(&self) -> Vec<&str> {
        let mut secrets: Vec<&str> = match self {
            Self::Stdio(server) => server
                .envs
                .iter()
                .map(|(_, value)| value.expose_secret())
                .collect(),
            Self::Http(server) => {
                let query = server
                    .url
                    .expose_secret()
                    .strip_prefix(server.address())
                    .unwrap_or_default();
                let values = server
                    .headers
                    .iter()
                    .map(|(_, value)| value.expose_secret());
                values
                    .flat_map(|value| [value, bearer_token(value)])
                    .chain([query])
                    .collect()
            }
        };
        // Shorter values are words such as `1` and `true`.
        secrets.retain(|secret| secret.len() > 5);
        secrets
    }

    /// Removes the secrets of the server from a foreign value.
    pub(crate) fn hide(&self, value: &mut Value) {
        let secrets = self.secrets();
        if !secrets.is_empty() {
            hide(&secrets, value);
        }
    }

    /// Removes the secrets of the server from a foreign text.
    pub(crate) fn without_secrets(&self, text: &str) -> String {
        self.secrets()
            .into_iter()
            .fold(text.to_owned(), |text, secret| text.replace(secret, HIDDEN))
    }

    /// Removes the secrets of the server from a foreign text, and shortens it for an error.
    pub(crate) fn redact(&self, text: &str) -> String {
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

/// Returns the token of `Bearer TOKEN`.
fn bearer_token(value: &str) -> &str {
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
        let http = HttpServer::new("https://h/mcp?key=sesame-1")
            .bearer("sesame-2")
            .header("x-key", "sesame-3");
        let stdio = StdioServer::new("server").env("KEY", "sesame-4");
        for server in [McpServer::from(http), McpServer::from(stdio)] {
            let said =
                "at https://h/mcp?key=sesame-1 with sesame-2, sesame-3 and sesame-4".to_owned();
            let texts = [format!("{server:?}"), server.text(), server.redact(&said)];
            match &server {
                McpServer::Http(_) => {
                    assert!(
                        !texts
                            .iter()
                            .any(|text| ["-1", "-2", "-3"].iter().any(|n| text.contains(n)))
                    );
                }
                McpServer::Stdio(_) => assert!(!texts.iter().any(|text| text.contains("sesame-4"))),
            }
        }
    }
}
