//! [`check_supplied`]: the comparison of a supplied agent with the declaration that the workflow
//! was checked with.

use crate::check::{self, Diagnostic};
use crate::spec::placeholder::{Placeholders, Source};
use crate::spec::{AgentMeta, Spec, StepKind};
use crate::{Error, ErrorKind, Result};
use std::collections::BTreeSet;

const ENDS: &str = "may end the loops";

/// Rejects a supplied agent whose reads, writes or exits differ from its declaration, or whose
/// tools and steps do not fit into the workflow.
pub fn check_supplied(
    spec: &Spec<'_>,
    declared: &AgentMeta<'_>,
    given: Option<&AgentMeta<'_>>,
) -> Result<()> {
    let Some(given) = given else { return Ok(()) };
    for (what, checked, has) in [
        ("reads", reads(declared), reads(given)),
        ("writes", keys(declared.writes), keys(given.writes)),
        (ENDS, exits(declared), exits(given)),
    ] {
        if checked != has {
            let list = |all: &BTreeSet<String>| {
                if all.is_empty() {
                    "nothing".to_owned()
                } else {
                    all.iter()
                        .map(|one| format!("`{one}`"))
                        .collect::<Vec<_>>()
                        .join(", ")
                }
            };
            let message = format!(
                "the agent given for `{}` {what} {}, but the workflow was checked with one that \
                 {what} {}",
                declared.name,
                list(&has),
                list(&checked),
            );
            let help = match what {
                ENDS => {
                    "declare an agent that may end loops as `agent NAME: TYPE;`, with a type that \
                     lists the loops"
                }
                _ => {
                    "declare it with the keys that it has, `agent NAME(reads) -> KEY: TYPE as \
                     TYPE;`"
                }
            };
            return Err(Error::new(ErrorKind::Config, message).with_help(help));
        }
    }
    check_flow(spec, declared, given)
}

/// Checks the flow of the workflow again with the content of the agent: its steps, its tools, its
/// labels, and the agents to which it may transfer.
fn check_flow(spec: &Spec<'_>, declared: &AgentMeta<'_>, given: &AgentMeta<'_>) -> Result<()> {
    let has_parts =
        !(given.steps.is_empty() && given.tools.is_empty() && given.transfer.is_empty());
    if !has_parts && given.labels.is_empty() {
        return Ok(());
    }
    let inside = given
        .named(declared.name)
        .reads(declared.reads)
        .writes(declared.writes);
    let mut steps = spec.steps.to_vec();
    for step in &mut steps {
        if let StepKind::Agent { meta, .. } = &mut step.kind
            && meta.definition == declared.definition
        {
            *meta = &inside;
        }
    }
    let mut other = *spec;
    other.steps = &steps;
    let is_new = |fault: &Diagnostic| {
        (fault.is_of_flow() || fault.is_of_guards()) && !check::faults(spec).contains(fault)
    };
    let faults = check::faults(&other);
    match faults.iter().find(|fault| is_new(fault)) {
        None => Ok(()),
        Some(fault) => {
            let (fact, help) = fault
                .message
                .split_once("; help: ")
                .unwrap_or((&fault.message, ""));
            let message = format!(
                "the agent given for `{}` does not fit the workflow: {fact}",
                declared.name
            );
            Err(Error::new(ErrorKind::Config, message).with_help(help))
        }
    }
}

fn keys(keys: &[crate::KeySpec<'_>]) -> BTreeSet<String> {
    let typed = keys
        .iter()
        .map(|key| format!("{}: {}", key.name, key.ty.replace(' ', "")));
    typed.collect()
}

/// Returns the names of the read keys. Types are left out, because a prompt accepts any type.
fn reads(meta: &AgentMeta<'_>) -> BTreeSet<String> {
    let mut all: BTreeSet<String> = meta.reads.iter().map(|key| key.name.to_owned()).collect();
    for prompt in meta.prompts {
        let mut scan = Placeholders::new(prompt);
        while let Some(found) = scan.next() {
            if let Source::Key(key) = found.source {
                all.insert(key.to_owned());
            }
        }
    }
    all
}

fn exits(meta: &AgentMeta<'_>) -> BTreeSet<String> {
    let innermost = meta.may_exit.then(|| "innermost".to_owned());
    innermost
        .into_iter()
        .chain(meta.exits.iter().map(|&name| name.to_owned()))
        .collect()
}
