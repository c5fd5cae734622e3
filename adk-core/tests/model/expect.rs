//! What has to happen: a recursive interpreter of shapes, and how a trace is compared with what it says.

use crate::Plan;
use crate::grow::{Shape, done};
use adk_core::Flow;

/// Something that has to happen, or branches whose order among each other is free.
#[derive(Debug)]
pub enum Item {
    Leaf(String),
    /// The path of the block; for each branch its name, what happens in it, and whether it may break off.
    Branches {
        inside: String,
        branches: Vec<(String, Vec<Item>, bool)>,
    },
}

#[derive(Debug)]
pub enum Ended {
    Through,
    /// To the innermost loop, or to that of the name; why, for the loops that it ends.
    Exit(Option<String>, String),
    Failed(String),
}

struct Place<'a> {
    path: String,
    scope: String,
    branch: Option<String>,
    seed: u64,
    shape: &'a Shape,
}

impl<'a> Place<'a> {
    fn inner(&self, shape: &'a Shape, path: &str) -> Self {
        let (scope, branch) = (self.scope.clone(), self.branch.clone());
        Self { path: path.to_owned(), scope, branch, seed: self.seed, shape }
    }
}

pub fn workflow(shape: &Shape, seed: u64, events: &mut Vec<Item>, loops: &mut Vec<Item>) -> Ended {
    let Shape::Workflow { name, inside } = shape else { unreachable!() };
    let place = Place { path: String::new(), scope: String::new(), branch: None, seed, shape };
    steps(inside, &place, name, events, loops)
}

fn steps(
    inside: &[Shape],
    at: &Place<'_>,
    path: &str,
    events: &mut Vec<Item>,
    loops: &mut Vec<Item>,
) -> Ended {
    for shape in inside {
        match step(&at.inner(shape, path), events, loops) {
            Ended::Through => {}
            ended => return ended,
        }
    }
    Ended::Through
}

fn step(at: &Place<'_>, events: &mut Vec<Item>, loops: &mut Vec<Item>) -> Ended {
    let path = |name: &str| format!("{}/{name}", at.path);
    let line =
        |path: &str, rest: &str| format!("{path} {} {}{rest}", at.branch.as_deref().unwrap_or("-"), at.scope);
    match at.shape {
        Shape::Agent { name, leave } => {
            let path = path(name);
            let plan = Plan::of(at.seed, &path, leave);
            events.extend((0..plan.events).map(|n| Item::Leaf(line(&path, &format!("k={n}")))));
            match plan.flow {
                _ if plan.fails => Ended::Failed(path),
                Flow::Continue => Ended::Through,
                Flow::Exit => Ended::Exit(None, format!("by {path}")),
                Flow::ExitTo(name) => Ended::Exit(Some(name.to_string()), format!("by {path}")),
            }
        }
        Shape::Judge { name, key } => {
            let path = path(name);
            events.push(Item::Leaf(line(&path, &format!("{key}={}", done(at.seed, &path)))));
            Ended::Through
        }
        Shape::Sequence { name, inside } => steps(inside, at, &path(name), events, loops),
        Shape::Workflow { name, inside } => {
            let own = Place { scope: format!("{}{name}/", at.scope), ..at.inner(at.shape, "") };
            steps(inside, &own, &path(name), events, loops)
        }
        Shape::Break { target } => Ended::Exit(target.map(str::to_owned), "break".into()),
        Shape::Loop { name, .. } => repeat(at, name, &path(name), events, loops),
        Shape::Parallel { name, inside, .. } => {
            let place = path(name);
            let (mut heard, mut closed, mut ended) = (Vec::new(), Vec::new(), Ended::Through);
            for shape in inside {
                let child = label(shape);
                let outer = at.branch.as_ref().map_or(String::new(), |outer| format!("{outer}."));
                let own = Place { branch: Some(format!("{outer}{name}.{child}")), ..at.inner(shape, &place) };
                let (mut events, mut loops) = (Vec::new(), Vec::new());
                let one = step(&own, &mut events, &mut loops);
                let leaves = !matches!(one, Ended::Through);
                if leaves {
                    ended = one;
                }
                heard.push((child.to_owned(), events, leaves));
                closed.push((child.to_owned(), loops, leaves));
            }
            // Siblings of the one that leaves may break off anywhere; the one that leaves has said everything.
            let cancels = !matches!(ended, Ended::Through);
            for (all, into) in [(heard, events), (closed, loops)] {
                let branches =
                    all.into_iter().map(|(name, items, leaves)| (name, items, cancels && !leaves)).collect();
                into.push(Item::Branches { inside: place.clone(), branches });
            }
            ended
        }
    }
}

fn repeat(at: &Place<'_>, own: &str, path: &str, events: &mut Vec<Item>, loops: &mut Vec<Item>) -> Ended {
    let Shape::Loop { max, until, inside, .. } = at.shape else { unreachable!() };
    let mut round = 1;
    let (reason, ended) = loop {
        let here = format!("{path}#{round}");
        match steps(inside, at, &here, events, loops) {
            Ended::Through => {}
            Ended::Failed(path) => return Ended::Failed(path),
            Ended::Exit(target, reason) if target.as_ref().is_none_or(|target| target == own) => {
                break (reason, Ended::Through);
            }
            Ended::Exit(target, reason) => break (reason.clone(), Ended::Exit(target, reason)),
        }
        let judge = inside.last().map(label).unwrap_or_default();
        if until.is_some() && done(at.seed, &format!("{here}/{judge}")) {
            break ("until".into(), Ended::Through);
        }
        if max.is_some_and(|max| round >= max) {
            break ("max".into(), Ended::Through);
        }
        round += 1;
    };
    loops.push(Item::Leaf(format!("{path} {round} {reason}")));
    ended
}

fn label(shape: &Shape) -> &str {
    match shape {
        Shape::Agent { name, .. } | Shape::Judge { name, .. } | Shape::Sequence { name, .. } => name,
        Shape::Loop { name, .. } | Shape::Parallel { name, .. } | Shape::Workflow { name, .. } => name,
        Shape::Break { .. } => "",
    }
}

/// Whether these lines are what was expected; the start of it is enough for a branch that may break off.
pub fn compare(items: &[Item], mut lines: &[String], may_break_off: bool) -> Result<(), String> {
    for item in items {
        match item {
            Item::Leaf(expected) => match lines.split_first() {
                Some((line, rest)) if line == expected => lines = rest,
                None if may_break_off => return Ok(()),
                other => return Err(format!("expected `{expected}`, got {:?}", other.map(|(line, _)| line))),
            },
            Item::Branches { inside, branches } => {
                let inner = format!("{inside}/");
                let count = lines.iter().take_while(|line| line.starts_with(&inner)).count();
                let (here, rest) = lines.split_at(count);
                lines = rest;
                let mut found = 0;
                for (name, items, cancelled) in branches {
                    let own: Vec<_> = here.iter().filter(|line| of(line, &inner, name)).cloned().collect();
                    found += own.len();
                    compare(items, &own, may_break_off || *cancelled)?;
                }
                if found != here.len() {
                    return Err(format!("{inside}: lines of no branch among {here:?}"));
                }
            }
        }
    }
    match lines {
        [] => Ok(()),
        more => Err(format!("unexpected {more:?}")),
    }
}

fn of(line: &str, inner: &str, name: &str) -> bool {
    let rest = line.strip_prefix(inner).and_then(|rest| rest.strip_prefix(name));
    !name.is_empty() && rest.is_some_and(|rest| rest.starts_with(['/', '#', ' ']))
}
