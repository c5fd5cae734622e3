//! Shrinks a failing tree.

use super::tree::{Agent, Block, Flow, Guarding, Kind, Marks, Nested, Node, Patience};
use adk_build::spec::{Conversation, Labels, OnError};
use std::sync::Arc;

/// Returns the smallest tree found that fails in the same way, with its failure.
pub fn shrink(
    mut flow: Flow,
    mut why: String,
    fails: impl Fn(&Flow) -> Option<String>,
) -> (Flow, String) {
    // The names in a failure may change, but its kind stays.
    let kind = |why: &str| why.split('`').next().unwrap_or_default().to_owned();
    let wanted = kind(&why);
    'again: loop {
        for smaller in flows(&flow) {
            if let Some(other) = fails(&smaller).filter(|other| kind(other) == wanted) {
                (flow, why) = (smaller, other);
                continue 'again;
            }
        }
        return (flow, why);
    }
}

/// Returns all workflows with one cut.
fn flows(flow: &Flow) -> Vec<Flow> {
    let mut all: Vec<Flow> = bodies(&flow.body)
        .into_iter()
        .map(|body| Flow {
            body,
            ..flow.clone()
        })
        .collect();
    all.extend(without(&flow.inputs).map(|inputs| Flow {
        inputs,
        ..flow.clone()
    }));
    all.extend(without(&flow.lets).map(|lets| Flow {
        lets,
        ..flow.clone()
    }));
    all.extend(without(&flow.states).map(|states| Flow {
        states,
        ..flow.clone()
    }));
    for inner in flow.definitions() {
        all.extend(flows(&inner).into_iter().map(|smaller| Flow {
            body: with(&flow.body, &smaller),
            ..flow.clone()
        }));
    }
    if let Some(guards) = &flow.guards {
        let mut fewer = Vec::new();
        fewer.extend(without(&guards.untrusted).map(|untrusted| Guarding {
            untrusted,
            ..guards.clone()
        }));
        fewer.extend(without(&guards.private).map(|private| Guarding {
            private,
            ..guards.clone()
        }));
        all.extend(
            fewer
                .into_iter()
                .map(Some)
                .chain([None])
                .map(|guards| Flow {
                    guards,
                    ..flow.clone()
                }),
        );
    }
    all.extend(without(&flow.outputs).map(|outputs| Flow {
        outputs,
        ..flow.clone()
    }));
    all
}

/// Replaces the definition of a nested workflow in these steps.
fn with(nodes: &[Node], other: &Flow) -> Vec<Node> {
    let nodes = nodes.iter().map(|node| match node {
        Node::Nested(nested) => {
            let mut nested = nested.clone();
            nested.flow = if nested.flow.name == other.name {
                Arc::new(other.clone())
            } else {
                Arc::new(Flow {
                    body: with(&nested.flow.body, other),
                    ..Flow::clone(&nested.flow)
                })
            };
            // Renamed outputs cannot be removed one by one.
            nested.writes.truncate(nested.flow.outputs.len());
            Node::Nested(nested)
        }
        Node::Block(block) => Node::Block(Block {
            inside: with(&block.inside, other),
            ..block.clone()
        }),
        Node::Run(agent) => {
            let mut agent = agent.clone();
            replace(&mut agent, other);
            agent.settle();
            Node::Run(agent)
        }
        Node::Break(_) | Node::Nothing => node.clone(),
    });
    nodes.collect()
}

/// Replaces the definition of a workflow that is a tool, in an agent and in all agents below it.
fn replace(agent: &mut Agent, other: &Flow) {
    for nested in agent.flows.iter_mut() {
        nested.flow = if nested.flow.name == other.name {
            Arc::new(other.clone())
        } else {
            Arc::new(Flow {
                body: with(&nested.flow.body, other),
                ..Flow::clone(&nested.flow)
            })
        };
    }
    agent
        .targets
        .iter_mut()
        .chain(&mut agent.helpers)
        .for_each(|below| replace(below, other));
}

/// Returns each list with one element removed.
fn without<T: Clone>(all: &[T]) -> impl Iterator<Item = Vec<T>> {
    (0..all.len()).map(|i| {
        let mut fewer = all.to_vec();
        fewer.remove(i);
        fewer
    })
}

/// Returns steps with one step removed or smaller; never an empty list.
fn bodies(nodes: &[Node]) -> Vec<Vec<Node>> {
    let mut all = Vec::new();
    for (i, node) in nodes.iter().enumerate() {
        let put = |instead: Vec<Node>| [&nodes[..i], &instead, &nodes[i + 1..]].concat();
        if nodes.len() > 1 {
            all.push(put(Vec::new()));
        }
        if let Node::Block(block) = node
            && !matches!(block.kind, Kind::Else)
        {
            let inside = block.inside.iter().filter(|node| {
                !matches!(
                    node,
                    Node::Block(Block {
                        kind: Kind::Else,
                        ..
                    })
                )
            });
            all.push(put(inside.cloned().collect()));
        }
        all.extend(smaller(node).into_iter().map(|node| put(vec![node])));
    }
    all
}

fn smaller(node: &Node) -> Vec<Node> {
    match node {
        Node::Run(agent) => agents(agent).into_iter().map(Node::Run).collect(),
        Node::Nested(nested) => {
            let mut all = Vec::new();
            all.extend(without(&nested.reads).map(|reads| Nested {
                reads,
                ..nested.clone()
            }));
            if !nested.writes.is_empty() {
                all.push(Nested {
                    writes: Vec::new(),
                    ..nested.clone()
                });
            }
            all.into_iter().map(Node::Nested).collect()
        }
        Node::Break(_) | Node::Nothing => Vec::new(),
        Node::Block(block) => {
            let inside = bodies(&block.inside).into_iter().map(|inside| Block {
                inside,
                ..block.clone()
            });
            let mut all: Vec<_> = inside.collect();
            if block.skippable {
                all.push(Block {
                    skippable: false,
                    ..block.clone()
                });
            }
            if block.on_error.skips() {
                all.push(Block {
                    on_error: OnError::Fail,
                    ..block.clone()
                });
            }
            if let OnError::SkipAtMost(_) = block.on_error {
                all.push(Block {
                    on_error: OnError::Skip,
                    ..block.clone()
                });
            }
            let kind = smaller_kind(&block.kind);
            all.extend(kind.map(|kind| Block {
                kind,
                ..block.clone()
            }));
            all.into_iter().filter(is_whole).map(Node::Block).collect()
        }
    }
}

fn smaller_kind(kind: &Kind) -> Option<Kind> {
    match *kind {
        Kind::Parallel {
            limit: Some(_),
            first,
        } => Some(Kind::Parallel { limit: None, first }),
        Kind::Parallel {
            limit: None,
            first: true,
        } => Some(Kind::Parallel {
            limit: None,
            first: false,
        }),
        Kind::Try { most } if most > 1 => Some(Kind::Try { most: most - 1 }),
        Kind::Each {
            item,
            list,
            max,
            limit: Some(_),
        } => Some(Kind::Each {
            item,
            list,
            max,
            limit: None,
        }),
        Kind::Each {
            item,
            list,
            max: Some(_),
            limit,
        } => Some(Kind::Each {
            item,
            list,
            max: None,
            limit,
        }),
        Kind::Loop {
            max: Some(max),
            until: Some(_),
        } => Some(Kind::Loop {
            max: Some(max),
            until: None,
        }),
        Kind::Loop {
            max: Some(max),
            until: None,
        } if max > 1 => Some(Kind::Loop {
            max: Some(max - 1),
            until: None,
        }),
        _ => None,
    }
}

/// Whether `()` occurs only as an arm, and `else` only at the end of a `try`.
fn is_whole(block: &Block) -> bool {
    let is_else = |node: &Node| {
        matches!(
            node,
            Node::Block(Block {
                kind: Kind::Else,
                ..
            })
        )
    };
    let elses = block.inside.iter().filter(|node| is_else(node)).count();
    let can_fail = matches!(block.kind, Kind::Try { .. })
        && elses == usize::from(block.inside.last().is_some_and(is_else))
        && block.inside.len() > elses;
    (elses == 0 || can_fail) && has_no_nothing(block)
}

fn has_no_nothing(block: &Block) -> bool {
    matches!(block.kind, Kind::Match { .. })
        || !block
            .inside
            .iter()
            .any(|node| matches!(node, Node::Nothing))
}

fn agents(agent: &Agent) -> Vec<Agent> {
    let mut all = Vec::new();
    all.extend(without(&agent.reads).map(|reads| Agent {
        reads,
        ..agent.clone()
    }));
    match agent.patience {
        None => all.extend(without(&agent.writes).map(|writes| Agent {
            writes,
            ..agent.clone()
        })),
        Some(Patience::Endless) => {}
        Some(_) => all.push(Agent {
            patience: Some(Patience::Endless),
            ..agent.clone()
        }),
    }
    all.extend(without(&agent.tools).map(|tools| Agent {
        tools,
        ..agent.clone()
    }));
    all.extend(without(&agent.leaves).map(|leaves| Agent {
        leaves,
        ..agent.clone()
    }));
    all.extend(without(&agent.targets).map(|targets| Agent {
        targets,
        ..agent.clone()
    }));
    all.extend(without(&agent.helpers).map(|helpers| Agent {
        helpers,
        ..agent.clone()
    }));
    all.extend(without(&agent.flows).map(|flows| Agent {
        flows,
        ..agent.clone()
    }));
    for i in 0..agent.targets.len() {
        for target in agents(&agent.targets[i]) {
            let mut one = agent.clone();
            one.targets[i] = target;
            all.push(one);
        }
    }
    for i in 0..agent.helpers.len() {
        for helper in agents(&agent.helpers[i]) {
            let mut one = agent.clone();
            one.helpers[i] = helper;
            all.push(one);
        }
    }
    if agent.toolset {
        all.push(Agent {
            toolset: false,
            ..agent.clone()
        });
    }
    if agent.exit {
        all.push(Agent {
            exit: false,
            ..agent.clone()
        });
    }
    all.extend(marks(&agent.marks).into_iter().map(|marks| Agent {
        marks,
        ..agent.clone()
    }));
    let mut plain = agent.clone();
    plain.reads.iter_mut().for_each(|read| read.own = None);
    plain.writes.iter_mut().for_each(|write| write.own = None);
    if agent.reads.iter().any(|read| read.own.is_some())
        || agent.writes.iter().any(|write| write.own.is_some())
    {
        all.push(plain);
    }
    all.iter_mut().for_each(Agent::settle);
    all
}

fn marks(marks: &Marks) -> Vec<Marks> {
    let mut all: Vec<_> = without(&marks.tools)
        .map(|tools| Marks {
            tools,
            ..marks.clone()
        })
        .collect();
    let mut plain = marks.clone();
    if marks.labels != Labels::NONE {
        plain.labels = Labels::NONE;
        all.push(plain);
    }
    let mut plain = marks.clone();
    if marks.tool.labels != Labels::NONE {
        plain.tool.labels = Labels::NONE;
        all.push(plain);
    }
    if marks.shows != Conversation::Shown {
        all.push(Marks {
            shows: Conversation::Shown,
            ..marks.clone()
        });
    }
    all
}
