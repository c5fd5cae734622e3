//! [`refuse_effects`]: an eval must not write to production.

use crate::failure::refused;
use adk_core::spec::{AgentMeta, Labels, StepKind};
use adk_core::{AgentKind, Result};
use std::collections::HashSet;

/// Refuses a workflow with tools or functions that may act.
///
/// # Errors
///
/// A tool or toolset has no label, or one of them or a function `acts`.
pub(super) fn refuse_effects(workflow: &AgentMeta<'_>) -> Result<()> {
    let mut open = vec![workflow];
    let mut seen = HashSet::new();
    while let Some(meta) = open.pop() {
        if !seen.insert(std::ptr::from_ref(meta).addr()) {
            continue;
        }
        for tool in meta.tools.iter().filter(|tool| !tool.at_provider) {
            match tool.agent {
                Some(agent) => open.push(agent),
                None => check(&format!("the tool `{}`", tool.name), tool.labels)?,
            }
        }
        if meta.more_tools {
            check(&format!("a toolset of agent `{}`", meta.name), meta.labels)?;
        } else if meta.kind != AgentKind::Llm && meta.labels.has(Labels::ACTS) {
            check(&format!("the function `{}`", meta.name), meta.labels)?;
        }
        open.extend(meta.transfer);
        open.extend(meta.steps.iter().filter_map(|step| match step.kind {
            StepKind::Agent { meta, .. } => Some(meta),
            _ => None,
        }));
    }
    Ok(())
}

fn check(what: &str, labels: Labels) -> Result<()> {
    if labels.has(Labels::ACTS) {
        return Err(refused(
            format!("{what} has the label `acts`, and an eval must not write to production"),
            "run the eval on a workflow with a tool that only pretends to act",
        ));
    }
    if labels.is_empty() && !labels.has(Labels::LOCAL) {
        return Err(refused(
            format!("{what} has no label, so it may act, and an eval must not write to production"),
            "label it, for example `#[tool(local)]`",
        ));
    }
    Ok(())
}
