//! Random trees, and the workflows that are made of them.

use crate::support::{self, Node, Tree, by};
use crate::{Leave, Plan, Random};
use adk_core::{Event, Flow};

pub const ROOT: &str = "root";

#[derive(Debug)]
pub enum Shape {
    Agent {
        name: &'static str,
        leave: Leave,
    },
    /// Writes the key that ends the loop around.
    Judge {
        name: &'static str,
        key: &'static str,
    },
    Sequence {
        name: &'static str,
        inside: Vec<Shape>,
    },
    Loop {
        name: &'static str,
        max: Option<u32>,
        until: Option<&'static str>,
        inside: Vec<Shape>,
    },
    Parallel {
        name: &'static str,
        limit: Option<u32>,
        inside: Vec<Shape>,
    },
    Break {
        target: Option<&'static str>,
    },
    Workflow {
        name: &'static str,
        inside: Vec<Shape>,
    },
}

/// Names and how many more nodes there may be.
struct Grower {
    random: Random,
    left: u32,
    names: u32,
}

impl Shape {
    pub fn grow(seed: u64) -> Self {
        let mut grower = Grower { random: Random::new(seed), left: 24, names: 0 };
        let leave = Leave { loops: Vec::new(), fail: true };
        Shape::Workflow { name: ROOT, inside: grower.inside(4, &leave) }
    }
}

impl Grower {
    fn name(&mut self, kind: &str) -> &'static str {
        self.names += 1;
        Box::leak(format!("{kind}{}", self.names).into_boxed_str())
    }

    fn inside(&mut self, depth: u32, leave: &Leave) -> Vec<Shape> {
        (0..1 + self.random.below(3)).map(|_| self.node(depth, leave)).collect()
    }

    fn node(&mut self, depth: u32, leave: &Leave) -> Shape {
        self.left = self.left.saturating_sub(1);
        let kind = if depth == 0 || self.left == 0 { 0 } else { self.random.below(12) };
        match kind {
            3 | 4 => Shape::Sequence { name: self.name("s"), inside: self.inside(depth - 1, leave) },
            5..=7 => self.repeat(depth - 1, leave),
            8 | 9 => self.parallel(depth - 1, leave),
            10 => {
                let leave = Leave { loops: Vec::new(), fail: leave.fail };
                Shape::Workflow { name: self.name("w"), inside: self.inside(depth - 1, &leave) }
            }
            11 if !leave.loops.is_empty() => {
                let at = self.random.below(leave.loops.len() as u64 + 1) as usize;
                Shape::Break { target: leave.loops.get(at).copied() }
            }
            _ => Shape::Agent { name: self.name("a"), leave: leave.clone() },
        }
    }

    fn repeat(&mut self, depth: u32, leave: &Leave) -> Shape {
        let name = self.name("l");
        let mut inner = leave.clone();
        inner.loops.push(name);
        let mut inside = self.inside(depth, &inner);
        let until = self.random.one_in(3).then(|| self.name("key"));
        if let Some(key) = until {
            inside.push(Shape::Judge { name: self.name("j"), key });
        }
        let max = (until.is_none() || self.random.one_in(2)).then(|| 1 + self.random.below(3) as u32);
        Shape::Loop { name, max, until, inside }
    }

    fn parallel(&mut self, depth: u32, leave: &Leave) -> Shape {
        let name = self.name("p");
        let count = 1 + self.random.below(4);
        let leaves = self.random.below(count);
        let inside = (0..count).map(|at| match at == leaves {
            true => self.node(depth, leave),
            false => self.node(depth, &Leave::default()),
        });
        let inside = inside.collect();
        let limit = self.random.one_in(3).then(|| 1 + self.random.below(3) as u32);
        Shape::Parallel { name, limit, inside }
    }
}

/// The tree that runs.
pub fn tree(shape: &Shape, seed: u64) -> Tree {
    let Shape::Workflow { name, inside } = shape else { unreachable!() };
    Tree::with_keys(name, &[], &[], nodes(inside, seed))
}

fn nodes(shapes: &[Shape], seed: u64) -> Vec<Node> {
    shapes.iter().map(|shape| node(shape, seed)).collect()
}

fn node(shape: &Shape, seed: u64) -> Node {
    use adk_core::spec::StepKind;
    match shape {
        Shape::Agent { name, leave } => {
            let (mut agent, leave) = (agent(name, seed, leave.clone()), leave.loops.clone());
            agent.meta = agent.meta.exits(Box::leak(leave.into_boxed_slice()));
            support::run(agent)
        }
        Shape::Judge { name, key } => {
            let key = *key;
            support::run(by(name, move |cx| {
                Box::pin(async move {
                    let done = done(seed, &cx.path().to_string());
                    cx.state().set(key, done)?;
                    Ok(Flow::Continue)
                })
            }))
        }
        Shape::Sequence { name, inside } => support::sequence(name, nodes(inside, seed)),
        Shape::Loop { name, max, until, inside } => {
            Node::Block(name, StepKind::Loop { max: *max, until: *until }, nodes(inside, seed))
        }
        Shape::Parallel { name, limit, inside } => {
            Node::Block(name, StepKind::Parallel { max_concurrency: *limit }, nodes(inside, seed))
        }
        Shape::Break { target } => Node::Break(*target),
        Shape::Workflow { .. } => support::run(tree(shape, seed)),
    }
}

/// Whether a loop is to end after this round.
pub fn done(seed: u64, path: &str) -> bool {
    !Plan::of(seed, path, &Leave::default()).events.is_multiple_of(2)
}

fn agent(name: &'static str, seed: u64, leave: Leave) -> support::By {
    by(name, move |cx| {
        let leave = leave.clone();
        Box::pin(async move {
            let mut plan = Plan::of(seed, &cx.path().to_string(), &leave);
            for n in 0..plan.events {
                plan.disturb().await;
                cx.emit(Event::new().with_state("k", n)).await?;
                assert!(cx.state().get::<u32>("k")?.is_some(), "the next line sees the state");
            }
            plan.disturb().await;
            match plan.fails {
                true => Err(adk_core::Error::other("as planned")),
                false => Ok(plan.flow),
            }
        })
    })
}
