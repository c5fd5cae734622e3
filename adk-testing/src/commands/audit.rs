//! `adk audit`: how text of strangers and private data flow through the workflows of a crate.

use super::{CommandReport, Commands};
use serde::Deserialize;

/// The arguments of the command.
#[derive(Deserialize)]
pub(super) struct Arguments {
    /// Whether everything without a label counts as all labels.
    pub(super) strict: bool,
}

/// Audits all workflows. The code is 1 if any has findings.
pub(super) fn run(commands: &Commands, strict: bool) -> CommandReport {
    let mut report = CommandReport::default();
    for spec in commands.specs() {
        let mut audit = spec.audit();
        if strict {
            audit = audit.strict();
        }
        if !audit.is_clean() {
            report.code = 1;
        }
        report.add(audit.to_string(), &audit);
    }
    report
}
