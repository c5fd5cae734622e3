//! `adk golden`.

use crate::output::{Output, printable};
use adk_core::{Error, ErrorKind, Result, StoreErrorKind};
use adk_testing::GoldenFiles;
use clap::{Args, Subcommand};
use serde_json::json;
use std::path::PathBuf;

#[derive(Args)]
pub struct Golden {
    #[command(subcommand)]
    decision: Option<Decision>,
    /// The folder that is searched, with its subfolders
    #[arg(long, value_name = "PATH", default_value = ".", global = true)]
    folder: PathBuf,
    #[command(flatten)]
    output: Output,
}

#[derive(Subcommand)]
enum Decision {
    /// Replace golden files by their new versions
    Accept(Names),
    /// Remove the new versions of golden files
    Reject(Names),
}

#[derive(Args)]
struct Names {
    /// The name of a test, such as `a_cat`; all tests without one
    names: Vec<String>,
}

impl Golden {
    pub fn run(self) -> Result<()> {
        let open = GoldenFiles::open_below(&self.folder)?;
        let (verb, names) = match &self.decision {
            None => return self.list(&open),
            Some(Decision::Accept(names)) => ("accepted", &names.names),
            Some(Decision::Reject(names)) => ("rejected", &names.names),
        };
        if let Some(unknown) = names
            .iter()
            .find(|name| !open.iter().any(|files| files.name() == **name))
        {
            let message = format!("golden `{unknown}` has no new version");
            return Err(
                Error::new(ErrorKind::Store(StoreErrorKind::Missing), message)
                    .with_help("`adk golden` lists the tests that have one"),
            );
        }
        let chosen = open
            .iter()
            .filter(|files| names.is_empty() || names.contains(&files.name()));
        for files in chosen {
            match self.decision {
                Some(Decision::Accept(_)) => files.accept()?,
                _ => files.reject()?,
            }
            let path = files.golden_path().display().to_string();
            if self.output.json {
                self.output
                    .json(&json!({"golden": files.name(), "path": path, "decision": verb}))?;
            } else {
                self.output.line(printable(&format!("{verb} {path}")))?;
            }
        }
        Ok(())
    }

    /// Lists the tests that have a new version.
    ///
    /// # Errors
    /// When there are any.
    fn list(&self, open: &[GoldenFiles]) -> Result<()> {
        for files in open {
            let path = files.golden_path().display().to_string();
            if self.output.json {
                self.output
                    .json(&json!({"golden": files.name(), "path": path}))?;
            } else {
                self.output.line(printable(&path))?;
            }
        }
        let message = match open.len() {
            0 => return Ok(()),
            1 => "1 golden test has a new version".to_owned(),
            count => format!("{count} golden tests have new versions"),
        };
        Err(Error::new(ErrorKind::Diverged, message).with_help(
            "compare the files, then `adk golden accept` takes the new versions and `adk golden \
             reject` removes them",
        ))
    }
}
