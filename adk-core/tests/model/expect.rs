//! What has to happen: a recursive interpreter of shapes.

use crate::Plan;
use crate::compare::{Branch, Item};
use crate::grow::{Shape, What, item};
use crate::support::SKIP;
use adk_core::Flow;
use adk_core::spec::Over;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug)]
pub enum Ended {
    Through,
    /// To the innermost loop, or to that of the name; why, for the loops that it ends.
    Exit(Option<String>, String),
    Failed(String),
}

/// Which stored key each name stands for.
#[derive(Clone, Default)]
struct Names {
    /// Those that are not stored behind `other`.
    known: BTreeMap<String, String>,
    /// What stands before the keys of the workflow, and before those of what stands inside here.
    other: String,
    inside: String,
}

impl Names {
    fn key(&self, name: &str) -> String {
        self.known.get(name).cloned().unwrap_or_else(|| format!("{}{name}", self.other))
    }

    /// A workflow inside; its output is the key `to` here.
    fn workflow(&self, name: &str, output: Option<(&str, &str)>) -> Self {
        let inside = format!("{}{name}/", self.inside);
        let known = output.map(|(key, to)| (key.to_owned(), self.key(to)));
        Self { known: known.into_iter().collect(), other: inside.clone(), inside }
    }

    fn element(&self, each: &str, at: usize, own: &BTreeSet<&str>) -> Self {
        let inside = format!("{}{each}[{at}]/", self.inside);
        let mut known = self.known.clone();
        known.extend(own.iter().map(|key| ((*key).to_owned(), format!("{inside}{key}"))));
        Self { known, other: self.other.clone(), inside }
    }
}

struct Place<'a> {
    path: String,
    names: Names,
    branch: Option<String>,
    seed: u64,
    shape: &'a Shape,
}

impl<'a> Place<'a> {
    fn inner(&self, shape: &'a Shape, path: &str) -> Self {
        let (names, branch) = (self.names.clone(), self.branch.clone());
        Self { path: path.to_owned(), names, branch, seed: self.seed, shape }
    }

    fn forked(self, branch: String) -> Self {
        let branch = self.branch.as_ref().map_or(branch.clone(), |outer| format!("{outer}.{branch}"));
        Self { branch: Some(branch), ..self }
    }

    fn line(&self, path: &str, keys: &str) -> Item {
        Item::Leaf(format!("{path} {}{keys}", self.branch.as_deref().unwrap_or("-")))
    }
}

pub fn workflow(shape: &Shape, seed: u64, events: &mut Vec<Item>, loops: &mut Vec<Item>) -> Ended {
    let Shape::Workflow { name, inside, .. } = shape else { unreachable!() };
    let place = Place { path: String::new(), names: Names::default(), branch: None, seed, shape };
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
    match at.shape {
        Shape::Agent { name, leave, renamed, .. } => {
            let (path, key) = (path(name), at.names.key(renamed.unwrap_or(name)));
            let plan = Plan::of(at.seed, &path, leave);
            events.extend((0..plan.events).map(|n| at.line(&path, &format!(" {key}={n}"))));
            match plan.flow {
                _ if plan.fails => Ended::Failed(path),
                Flow::Continue => Ended::Through,
                Flow::Exit => Ended::Exit(None, format!("by {path}")),
                Flow::ExitTo(name) => Ended::Exit(Some(name.to_string()), format!("by {path}")),
            }
        }
        Shape::Write { name, key, what } => {
            let path = path(name);
            let (key, value) = (at.names.key(key), what.value(at.seed, &path));
            events.push(at.line(&path, &format!(" {key}={value}")));
            Ended::Through
        }
        Shape::Sequence { name, inside } => steps(inside, at, &path(name), events, loops),
        Shape::Workflow { name, inside, output } => {
            let output = output.as_ref().map(|output| (output.key, output.renamed.unwrap_or(output.key)));
            let own = Place { names: at.names.workflow(name, output), ..at.inner(at.shape, "") };
            steps(inside, &own, &path(name), events, loops)
        }
        Shape::Break { target } => Ended::Exit(target.map(str::to_owned), "break".into()),
        Shape::Loop { name, .. } => repeat(at, name, &path(name), events, loops),
        Shape::Match { name, writer, arms, .. } => {
            let selected = What::Arm(arms.len()).value(at.seed, &path(writer));
            let arm = &arms[selected.as_u64().unwrap() as usize];
            steps(arm, at, &path(name), events, loops)
        }
        Shape::Parallel { name, inside, .. } => parallel(at, name, inside, events, loops),
        Shape::Each { name, item: own, writer, max, inside, .. } => {
            let place = path(name);
            let mut written = BTreeSet::new();
            inside.iter().for_each(|shape| shape.written(&mut written));
            let mut keys = written.clone();
            keys.insert(own);
            let list = What::List.value(at.seed, &path(writer));
            let length = list.as_array().unwrap().len();
            let mut count = length;
            match *max {
                Some((max, Over::Cut)) if length > max as usize => {
                    events.push(at.line(&place, ""));
                    count = max as usize;
                }
                Some((max, _)) if length > max as usize => return Ended::Failed(place),
                _ => {}
            }
            let elements = (0..count).map(|n| {
                let path = format!("{place}[{n}]");
                let names = at.names.element(name, n, &keys);
                let begins = format!(" {}={}", names.key(own), item(n));
                let own = Place { names, ..at.inner(at.shape, &path) }.forked(format!("{name}[{n}]"));
                let (mut events, mut loops) = (vec![own.line(&path, &begins)], Vec::new());
                let ended = steps(inside, &own, &path, &mut events, &mut loops);
                (path, ended, events, loops)
            });
            match together(elements, &format!("{place}["), events, loops) {
                Ended::Through if !written.is_empty() => {
                    let lists = written.iter().map(|key| format!(" {}=*", at.names.key(key)));
                    events.push(at.line(&place, &lists.collect::<String>()));
                    Ended::Through
                }
                ended => ended,
            }
        }
    }
}

fn parallel(
    at: &Place<'_>,
    name: &str,
    inside: &[Shape],
    events: &mut Vec<Item>,
    loops: &mut Vec<Item>,
) -> Ended {
    let place = format!("{}/{name}", at.path);
    let branches = inside.iter().map(|shape| {
        let own = at.inner(shape, &place).forked(format!("{name}.{}", shape.name()));
        let (mut events, mut loops) = (Vec::new(), Vec::new());
        let ended = step(&own, &mut events, &mut loops);
        (format!("{place}/{}", shape.name()), ended, events, loops)
    });
    let skips = name.starts_with(SKIP);
    let branches: Vec<_> = branches.collect();
    let fails = |(_, ended, ..): &(_, Ended, _, _)| matches!(ended, Ended::Failed(_));
    let is_left_out = skips && branches.iter().any(fails);
    let through = branches.into_iter().map(|(path, ended, events, loops)| match ended {
        Ended::Failed(_) if skips => (path, Ended::Through, events, loops),
        ended => (path, ended, events, loops),
    });
    let ended = together(through, &format!("{place}/"), events, loops);
    if is_left_out {
        events.push(at.line(&place, ""));
    }
    ended
}

/// Branches whose order among each other is free; at most one of them leaves.
fn together(
    branches: impl Iterator<Item = (String, Ended, Vec<Item>, Vec<Item>)>,
    inside: &str,
    events: &mut Vec<Item>,
    loops: &mut Vec<Item>,
) -> Ended {
    let (mut heard, mut closed, mut ended) = (Vec::new(), Vec::new(), Ended::Through);
    for (at, one, events, loops) in branches {
        let leaves = !matches!(one, Ended::Through);
        if leaves {
            assert!(matches!(ended, Ended::Through), "two branches leave");
            ended = one;
        }
        heard.push((Branch { at: at.clone(), items: events, may_break_off: false }, leaves));
        closed.push((Branch { at, items: loops, may_break_off: false }, leaves));
    }
    // Siblings of the one that leaves may break off anywhere; the one that leaves has said everything.
    let cancels = !matches!(ended, Ended::Through);
    for (all, into) in [(heard, events), (closed, loops)] {
        let branches = all
            .into_iter()
            .map(|(branch, leaves)| Branch { may_break_off: cancels && !leaves, ..branch })
            .collect();
        into.push(Item::Branches { inside: inside.to_owned(), branches });
    }
    ended
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
        let judge = inside.last().map(Shape::name).unwrap_or_default();
        if until.is_some() && What::Done.value(at.seed, &format!("{here}/{judge}")) == true {
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
