//! [`CommandRequest`] and [`CommandReport`]: what the program `adk` asks a test of the user's
//! crate, and the answer.

use adk_core::{Error, ErrorKind, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::PathBuf;
use std::{env, fs, process};

/// The variable with the request as JSON.
pub const COMMAND_VARIABLE: &str = "ADK_COMMAND";

/// A command of the program `adk` for the workflows of a crate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CommandRequest {
    /// The version of the program that asks.
    pub version: String,
    /// The command, such as `audit`.
    pub command: String,
    /// The arguments of the command, as an object.
    pub arguments: Value,
    /// The folder for the reports. Each test writes a file of its own, because a project may have
    /// several crates.
    pub folder: PathBuf,
}

impl CommandRequest {
    /// Reads the request from the environment; `None` without one.
    ///
    /// # Errors
    /// Returns an error if the variable holds no request.
    pub fn from_environment() -> Result<Option<Self>> {
        let Some(text) = env::var_os(COMMAND_VARIABLE) else {
            return Ok(None);
        };
        let request = serde_json::from_slice(text.as_encoded_bytes());
        request.map(Some).map_err(|error| {
            let message = format!("`{COMMAND_VARIABLE}` holds no command: {error}");
            Error::new(ErrorKind::Config, message)
                .with_help("unset it; the program `adk` sets it for its own tests")
        })
    }

    pub(super) fn arguments<T: DeserializeOwned>(&self) -> Result<T> {
        T::deserialize(&self.arguments).map_err(|error| {
            let message = format!("the arguments of `{}` do not fit: {error}", self.command);
            Error::new(ErrorKind::Config, message)
                .with_help("install the `adk` of the version of your crate")
        })
    }
}

/// The answer to a [`CommandRequest`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CommandReport {
    /// The exit code: 0 for success, 1 for findings, 2 for a request that does not fit.
    pub code: u8,
    /// The report for people: a part for each workflow.
    pub texts: Vec<String>,
    /// The same parts for programs.
    pub values: Vec<Value>,
    /// Why the command was refused; empty for none.
    pub error: String,
}

impl CommandReport {
    /// Returns the answer to a request that does not fit.
    pub(super) fn refused(error: &Error) -> Self {
        Self {
            code: 2,
            error: error.to_string(),
            ..Self::default()
        }
    }

    /// Adds the part of one workflow.
    pub(super) fn add(&mut self, text: String, value: &impl Serialize) {
        self.texts.push(text);
        // A value that has no JSON would be an error of this crate; the text remains.
        self.values.extend(serde_json::to_value(value));
    }

    /// Writes the report to a new file of the folder.
    pub(super) fn write(&self, request: &CommandRequest) -> Result<()> {
        // Cargo sets the package for a test; processes of one package differ by their number.
        let package = env::var("CARGO_PKG_NAME").unwrap_or_default();
        let file = format!("{package}-{}.json", process::id());
        fs::write(request.folder.join(file), serde_json::to_vec(self)?)?;
        Ok(())
    }
}
