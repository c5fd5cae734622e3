//! `adk audit`: how text of strangers and private data flow through the workflows of a project.

use crate::output::{Output, printable};
use crate::project::Project;
use adk_core::Result;
use clap::Args;
use serde_json::json;

#[derive(Args)]
pub struct Audit {
    /// Count everything without a label as everything that a label can say
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    project: Project,
}

impl Audit {
    /// Prints the audits of all workflows. Returns the exit code: 1 if any has findings.
    pub fn run(self) -> Result<u8> {
        let reports = self
            .project
            .run("audit", json!({ "strict": self.strict }))?;
        if self.output.json {
            let values: Vec<_> = reports.iter().flat_map(|report| &report.values).collect();
            self.output.json(&values)?;
        } else {
            let texts = reports.iter().flat_map(|report| &report.texts);
            for (at, text) in texts.enumerate() {
                if at > 0 {
                    self.output.line("")?;
                }
                for line in text.lines() {
                    self.output.line(printable(line))?;
                }
            }
        }
        Ok(reports.iter().map(|report| report.code).max().unwrap_or(0))
    }
}
