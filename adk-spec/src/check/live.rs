//! `live-loop`: a live run knows agents one after the other, and no block that repeats or runs at the same time.

use crate::spec::{AgentMeta, Spec, Step, StepKind};

/// A block that a live run cannot run, and the nested workflow around it, if any.
#[derive(Clone, Copy)]
struct UnsupportedBlock<'a> {
    block: &'a Step<'a>,
    inside: &'a str,
}

/// Whether `Runner::run_live` can run a workflow: it holds no loop, no parallel block and no
/// `each`, nor does any workflow inside it.
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

/// Why an agent cannot run live, as far as its description knows.
pub fn describe_live(meta: &AgentMeta<'_>) -> Option<String> {
    let UnsupportedBlock { block, inside } = find_in_agent(meta)?;
    // That it is in the agent itself is said by the path of the error.
    Some(message(block, Some(inside).filter(|inside| *inside != meta.name)))
}

/// What is wrong with a block in a live run, when it is one of those.
pub fn describe_live_block(block: &Step<'_>) -> Option<String> {
    unsupported_word(&block.kind).map(|_| message(block, None))
}

fn message(block: &Step<'_>, inside: Option<&str>) -> String {
    let (word, name) = (unsupported_word(&block.kind).unwrap_or("block"), block.name);
    let inside = inside.map_or(String::new(), |inside| format!(" in `{inside}`"));
    format!(
        "live-loop: {word} `{name}`{inside} cannot run live: a live run is one conversation, which its agents take \
         over one after the other"
    )
}

/// What is to be done about it.
pub const LIVE_HELP: &str =
    "run it with `run(...)`, or run live a workflow that holds agents and sequences alone";

/// What the block is called, when it is one that a live run cannot run.
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
        _ if unsupported_word(&step.kind).is_some() => Some(UnsupportedBlock { block: step, inside }),
        _ => None,
    })
}

/// In a workflow its steps, in an LLM agent those that may take over from it.
const fn find_in_agent<'a>(meta: &'a AgentMeta<'a>) -> Option<UnsupportedBlock<'a>> {
    if !meta.steps.is_empty() {
        return find(meta.steps, meta.name);
    }
    first!(target in meta.transfer => find_in_agent(target))
}
