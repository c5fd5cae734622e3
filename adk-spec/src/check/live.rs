//! `live-loop`: a live run executes agents in sequence, without blocks that repeat or run
//! concurrently.

use crate::spec::{AgentMeta, Spec, Step, StepKind};

/// A block that a live run cannot execute, and the nested workflow around it, if any.
#[derive(Clone, Copy)]
struct UnsupportedBlock<'a> {
    block: &'a Step<'a>,
    inside: &'a str,
}

/// Returns whether `Runner::run_live` can run a workflow: neither the workflow nor a workflow
/// inside it has a loop, a parallel block, an `each` or a `try`.
///
/// ```
/// # use adk_spec as adk;
/// use adk::spec::{Spec, Step, StepKind};
/// let steps = [
///     Step::new("again", StepKind::Loop { max: Some(3), until: None }, 1),
///     Step::new("", StepKind::End, 1),
/// ];
/// assert!(!adk::check::is_live(&Spec::new("writing", "", &steps)));
/// ```
pub const fn is_live(spec: &Spec<'_>) -> bool {
    find(spec.steps, "").is_none()
}

/// Returns why an agent cannot run live, if its description shows a reason.
pub fn describe_live(meta: &AgentMeta<'_>) -> Option<String> {
    let UnsupportedBlock { block, inside } = find_in_agent(meta)?;
    // The path of the error already names the agent itself.
    Some(message(
        block,
        Some(inside).filter(|inside| *inside != meta.name),
    ))
}

/// Returns why a block cannot run live, if it cannot.
pub fn describe_live_block(block: &Step<'_>) -> Option<String> {
    unsupported_word(&block.kind).map(|_| message(block, None))
}

fn message(block: &Step<'_>, inside: Option<&str>) -> String {
    let (word, name) = (unsupported_word(&block.kind).unwrap_or("block"), block.name);
    let inside = inside.map_or(String::new(), |inside| format!(" in `{inside}`"));
    format!(
        "live-loop: {word} `{name}`{inside} cannot run live: a live run is one conversation, which \
         its agents take over one after the other"
    )
}

/// The remedy for a workflow that cannot run live.
pub const LIVE_HELP: &str =
    "run it with `run(...)`, or run live a workflow that holds only agents and sequences";

/// Returns the name of a kind of block that a live run cannot execute; `None` for other steps.
const fn unsupported_word(kind: &StepKind<'_>) -> Option<&'static str> {
    match kind {
        StepKind::Loop { .. } => Some("loop"),
        StepKind::Parallel { .. } => Some("parallel block"),
        StepKind::Each { .. } => Some("each block"),
        StepKind::Try(_) => Some("try block"),
        _ => None,
    }
}

const fn find<'a>(steps: &'a [Step<'a>], inside: &'a str) -> Option<UnsupportedBlock<'a>> {
    first!(step in steps => match step.kind {
        StepKind::Agent { meta, .. } => find_in_agent(meta),
        _ if unsupported_word(&step.kind).is_some() => {
            Some(UnsupportedBlock { block: step, inside })
        }
        _ => None,
    })
}

/// Searches the steps of a workflow, or the transfer targets of an LLM agent.
const fn find_in_agent<'a>(meta: &'a AgentMeta<'a>) -> Option<UnsupportedBlock<'a>> {
    if !meta.steps.is_empty() {
        return find(meta.steps, meta.name);
    }
    first!(target in meta.transfer => find_in_agent(target))
}
