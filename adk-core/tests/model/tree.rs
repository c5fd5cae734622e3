//! The workflow that is built from a random tree.

use crate::grow::{Shape, item};
use crate::support::{self, Node, Tree, by};
use crate::{Leave, Plan};
use adk_build::llm::{IncludeContents, LlmAgent};
use adk_build::spec::{Attempts, ERROR_KEY, KeySpec, Over, StepKind};
use adk_build::{Error, ErrorKind, Event, Flow};

/// An observing agent that sees the current turn.
pub const BRIEF: &str = "brief";
/// An observing agent that sees only its prompt.
pub const BLIND: &str = "blind";
/// An observing agent that sees everything.
pub const OBSERVER: &str = "observer";

pub fn tree(shape: &Shape, seed: u64) -> Tree {
    ending_with(shape, seed, Vec::new())
}

/// Builds the tree with observing agents at the end, which call a model and see earlier events.
pub fn observed(shape: &Shape, seed: u64) -> Tree {
    let agent = |name, include| {
        support::run(
            LlmAgent::builder(name)
                .include_contents(include)
                .build()
                .unwrap(),
        )
    };
    let agents = vec![
        agent(BRIEF, IncludeContents::None),
        agent(BLIND, IncludeContents::Prompt),
        agent(OBSERVER, IncludeContents::Default),
    ];
    ending_with(shape, seed, agents)
}

fn ending_with(shape: &Shape, seed: u64, last: Vec<Node>) -> Tree {
    let Shape::Workflow {
        name,
        inside,
        output,
        states,
    } = shape
    else {
        unreachable!()
    };
    let inside: Vec<_> = nodes(inside, seed).into_iter().chain(last).collect();
    let outputs = output
        .iter()
        .map(|output| KeySpec::new(output.key, "u64"))
        .collect();
    let states = states
        .iter()
        .map(|key| KeySpec::new(key, "u32").optional(true))
        .collect();
    Tree::with_keys(name, &[], Box::leak(outputs), inside).states(Box::leak(states))
}

fn nodes(shapes: &[Shape], seed: u64) -> Vec<Node> {
    shapes.iter().map(|shape| node(shape, seed)).collect()
}

fn node(shape: &Shape, seed: u64) -> Node {
    match shape {
        Shape::Agent {
            name,
            leave,
            renamed,
            item,
        } => {
            let agent = agent(name, *item, seed, leave.clone());
            match renamed {
                Some(key) => {
                    support::renamed(name, agent, Box::leak(Box::new([(*name, *key)])), list(key))
                }
                None => support::run(agent),
            }
        }
        Shape::Write { name, key, what } => {
            let what = *what;
            support::run(support::put(name, key, move |cx| {
                what.value(seed, &cx.path().to_string())
            }))
        }
        Shape::Sequence { name, inside } => support::sequence(name, nodes(inside, seed)),
        Shape::Loop {
            name,
            max,
            until,
            inside,
        } => {
            let kind = StepKind::Loop {
                max: *max,
                until: *until,
            };
            Node::Block(name, kind, nodes(inside, seed))
        }
        Shape::Parallel {
            name,
            limit,
            first,
            inside,
        } => {
            let kind = StepKind::Parallel {
                max_concurrency: *limit,
                first: *first,
            };
            Node::Block(name, kind, nodes(inside, seed))
        }
        Shape::Try {
            name,
            most,
            all,
            inside,
            otherwise,
        } => {
            let limits = Attempts::new(Some(*most));
            let limits = if *all { limits.all() } else { limits };
            support::attempts(name, limits, nodes(inside, seed), nodes(otherwise, seed))
        }
        Shape::Match {
            name, key, arms, ..
        } => support::select(name, key, arms.iter().map(|arm| nodes(arm, seed)).collect()),
        Shape::Each {
            name,
            item,
            list,
            max,
            limit,
            inside,
            ..
        } => {
            let kind = each_kind(item, list, *max, *limit);
            Node::Block(name, kind, nodes(inside, seed))
        }
        Shape::Break { target } => Node::Break(*target),
        Shape::Workflow { name, output, .. } => {
            match output.as_ref().and_then(|output| output.renamed) {
                Some(key) => support::renamed(name, tree(shape, seed), &[], list(key)),
                None => support::run(tree(shape, seed)),
            }
        }
    }
}

fn list(key: &'static str) -> &'static [&'static str] {
    Box::leak(Box::new([key]))
}

/// Makes an agent that writes the key of its name a few times, and reports the earlier value.
fn agent(name: &'static str, own: Option<&'static str>, seed: u64, leave: Leave) -> support::By {
    let exits: Vec<_> = leave.loops.iter().map(|around| around.name).collect();
    let mut agent = by(name, move |cx| {
        let leave = leave.clone();
        Box::pin(async move {
            let path = cx.path().to_string();
            if own == Some(ERROR_KEY) {
                assert!(cx.state().get::<String>(ERROR_KEY)?.is_some(), "{path}");
            } else if let Some(own) = own {
                let place = path
                    .rsplit(']')
                    .nth(1)
                    .and_then(|rest| rest.rsplit('[').next())
                    .unwrap();
                assert_eq!(
                    cx.state().value(own).as_deref(),
                    Some(&item(place.parse().unwrap())),
                    "{path}"
                );
            }
            let mut plan = Plan::new(seed, &path, &leave);
            for n in 0..plan.events {
                plan.disturb().await;
                let held = cx
                    .state()
                    .value(name)
                    .map_or("nothing".to_owned(), |value| value.to_string());
                cx.emit(Event::new().with_text(held).with_state(name, n))
                    .await?;
                assert_eq!(
                    cx.state().get::<u32>(name)?,
                    Some(n),
                    "the next line sees the state"
                );
            }
            plan.disturb().await;
            match plan.fails {
                None => Ok::<Flow, _>(plan.flow),
                Some(false) => Err(Error::other("as planned")),
                Some(true) => Err(Error::new(ErrorKind::Timeout, "as planned")),
            }
        })
    });
    let writes = Box::leak(Box::new([KeySpec::new(name, "u32").optional(true)]));
    agent.meta = agent
        .meta
        .exits(Box::leak(exits.into_boxed_slice()))
        .writes(writes);
    agent
}

fn each_kind(
    item: &'static str,
    list: &'static str,
    max: Option<(u32, Over)>,
    limit: Option<u32>,
) -> StepKind<'static> {
    let (max, over) = max.map_or((None, Over::Fail), |(max, over)| (Some(max), over));
    StepKind::Each {
        item,
        list,
        max,
        over,
        max_concurrency: limit,
    }
}
