//! Workflows by hand, for tests. The ends of blocks are computed.

use super::{AgentKind, AgentMeta, KeySpec, Over, Step, StepKind};

pub(crate) type Steps = Vec<Step<'static>>;

pub(crate) const fn llm(name: &'static str) -> AgentMeta<'static> {
    AgentMeta::new(AgentKind::Llm, name)
}

pub(crate) const fn function(name: &'static str) -> AgentMeta<'static> {
    AgentMeta::new(AgentKind::Function, name)
}

/// Creates a workflow as an agent.
pub(crate) fn workflow(
    name: &'static str,
    inside: impl IntoIterator<Item = Steps>,
) -> AgentMeta<'static> {
    AgentMeta::new(AgentKind::Workflow, name).steps(steps(inside))
}

/// Creates keys of the type `String`.
pub(crate) fn keys<const N: usize>(names: [&'static str; N]) -> &'static [KeySpec<'static>] {
    leak(names.map(|name| KeySpec::new(name, "String")))
}

pub(crate) fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

pub(crate) fn run(meta: AgentMeta<'static>) -> Steps {
    vec![Step::new(
        meta.name,
        StepKind::Agent {
            meta: leak(meta),
            instance: false,
        },
        0,
    )]
}

pub(crate) fn run_as(name: &'static str, meta: AgentMeta<'static>) -> Steps {
    vec![Step::new(
        name,
        StepKind::Agent {
            meta: leak(meta),
            instance: true,
        },
        0,
    )]
}

/// Creates a block. A block whose name ends with a digit is unnamed.
pub(crate) fn block(
    name: &'static str,
    kind: StepKind<'static>,
    inside: impl IntoIterator<Item = Steps>,
) -> Steps {
    let open = Step::new(name, kind, usize::MAX);
    let mut all = vec![if name.ends_with(|c: char| c.is_ascii_digit()) {
        open.unnamed()
    } else {
        open
    }];
    all.extend(inside.into_iter().flatten());
    all.push(Step::new("", StepKind::End, 0));
    all
}

pub(crate) fn sequence(name: &'static str, inside: impl IntoIterator<Item = Steps>) -> Steps {
    block(name, StepKind::Sequence, inside)
}

pub(crate) fn parallel(name: &'static str, branches: impl IntoIterator<Item = Steps>) -> Steps {
    let branches = branches
        .into_iter()
        .map(|branch| block("", StepKind::Branch, [branch]));
    block(
        name,
        StepKind::Parallel {
            max_concurrency: None,
            first: false,
        },
        branches,
    )
}

pub(crate) fn choice(
    name: &'static str,
    key: &'static str,
    arms: impl IntoIterator<Item = (&'static str, Steps)>,
) -> Steps {
    let arms = arms
        .into_iter()
        .map(|(pattern, arm)| block("", StepKind::Arm { pattern }, [arm]));
    block(name, StepKind::Match { key }, arms)
}

pub(crate) fn each(name: &'static str, inside: impl IntoIterator<Item = Steps>) -> Steps {
    block(
        name,
        StepKind::Each {
            item: "item",
            list: "items",
            max: None,
            over: Over::Fail,
            max_concurrency: None,
        },
        inside,
    )
}

pub(crate) fn repeat(
    name: &'static str,
    max: impl Into<Option<u32>>,
    inside: impl IntoIterator<Item = Steps>,
) -> Steps {
    block(
        name,
        StepKind::Loop {
            max: max.into(),
            until: None,
        },
        inside,
    )
}

pub(crate) fn leave(target: impl Into<Option<&'static str>>) -> Steps {
    vec![Step::new(
        "",
        StepKind::Break {
            target: target.into(),
        },
        0,
    )]
}

pub(crate) fn steps(all: impl IntoIterator<Item = Steps>) -> &'static [Step<'static>] {
    let mut list: Steps = all.into_iter().flatten().collect();
    let mut open = Vec::new();
    for at in 0..list.len() {
        if list[at].end == usize::MAX {
            open.push(at);
        } else {
            list[at].end = at;
            if let StepKind::End = list[at].kind {
                let opened: usize = open.pop().expect("each end has its block");
                list[opened].end = at;
            }
        }
    }
    assert!(open.is_empty(), "each block has its end");
    list.leak()
}
