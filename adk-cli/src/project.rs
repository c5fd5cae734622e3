//! [`Project`]: the workflows of the user's project, which only a test of the project knows.
//!
//! A command builds the tests of the project, runs the test `adk_commands` with a
//! [`CommandRequest`] in its environment, and reads the [`CommandReport`]s that it writes.

use crate::new::{cargo, cargo_missing};
use adk_core::{Error, ErrorKind, Result, StoreErrorKind};
use adk_testing::commands::{COMMAND_VARIABLE, CommandReport, CommandRequest};
use clap::Args;
use serde::Serialize;
use std::ffi::OsString;
use std::io::{IsTerminal as _, Write as _, stderr};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs, process};

/// The name of the test.
const TEST: &str = "adk_commands";

/// The options of `cargo test` that select targets. Without any of them, Cargo would also run the
/// examples of the documentation.
const TARGETS: [&str; 9] = [
    "--lib",
    "--bins",
    "--bin",
    "--tests",
    "--test",
    "--examples",
    "--example",
    "--all-targets",
    "--doc",
];

#[derive(Args)]
pub struct Project {
    /// Arguments for `cargo test`, such as `-p desk --features sqlite`
    #[arg(last = true, value_name = "CARGO_ARGS")]
    cargo: Vec<OsString>,
}

impl Project {
    /// Runs a command in the test of each crate of the project.
    pub fn run(&self, command: &str, arguments: impl Serialize) -> Result<Vec<CommandReport>> {
        let folder = ReportFolder::new()?;
        let request = CommandRequest {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            command: command.to_owned(),
            arguments: serde_json::to_value(arguments)?,
            folder: folder.0.clone(),
        };
        let mut build = self.test();
        build.arg("--no-run").stdout(Stdio::null());
        if !build.status().map_err(cargo_missing)?.success() {
            return Err(missing("the tests of this project do not build")
                .with_help("correct the errors above, or go to the folder of your project"));
        }
        let mut test = self.test();
        test.args(["--no-fail-fast", "--", TEST])
            .env(COMMAND_VARIABLE, serde_json::to_string(&request)?)
            .stderr(Stdio::piped());
        let ran = test.output().map_err(cargo_missing)?;
        let reports = folder.reports()?;
        if !ran.status.success() {
            // The harness prints the message of a failed test to standard output.
            stderr().write_all(&ran.stdout)?;
            return Err(
                missing(&format!("the test `{TEST}` of this project failed"))
                    .with_help("correct its error, which is above"),
            );
        }
        if reports.is_empty() {
            let help = format!(
                "add it to the tests of your crate, with the feature `testing` of adk-workflow: \
                 `#[tokio::test] async fn {TEST}() -> adk::Result<()> {{ \
                 adk::testing::commands().workflow(YourWorkflow::default()).run().await }}`"
            );
            return Err(missing(&format!("this project has no test `{TEST}`")).with_help(help));
        }
        match reports.iter().find(|report| !report.error.is_empty()) {
            Some(report) => Err(Error::new(ErrorKind::Config, report.error.clone())),
            None => Ok(reports),
        }
    }

    /// Returns `cargo test` for the unit tests and the tests in `tests/`.
    fn test(&self) -> Command {
        let mut cargo = cargo();
        cargo.arg("test");
        let selects = |arg: &OsString| {
            let arg = arg.to_string_lossy();
            let name = arg.split('=').next().unwrap_or_default();
            TARGETS.contains(&name)
        };
        if !self.cargo.iter().any(selects) {
            cargo.arg("--tests");
        }
        // People see the progress of a build.
        if !stderr().is_terminal() {
            cargo.arg("--quiet");
        }
        cargo.args(&self.cargo);
        cargo
    }
}

fn missing(fact: &str) -> Error {
    Error::new(ErrorKind::Store(StoreErrorKind::Missing), fact)
}

/// The folder for the reports of one command. Dropping it removes the folder.
struct ReportFolder(PathBuf);

impl ReportFolder {
    fn new() -> Result<Self> {
        let path = env::temp_dir().join(format!("adk-command-{}", process::id()));
        fs::create_dir_all(&path)?;
        Ok(Self(path))
    }

    /// Returns the reports in the order of their files, which have the names of the crates.
    fn reports(&self) -> Result<Vec<CommandReport>> {
        let entries = fs::read_dir(&self.0)?.collect::<Result<Vec<_>, _>>()?;
        let mut files: Vec<_> = entries.iter().map(fs::DirEntry::path).collect();
        files.sort();
        files.iter().map(|file| read(file)).collect()
    }
}

fn read(file: &Path) -> Result<CommandReport> {
    Ok(serde_json::from_slice(&fs::read(file)?)?)
}

impl Drop for ReportFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
