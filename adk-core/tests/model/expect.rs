//! A recursive interpreter of shapes, which returns the expected events.

use crate::Plan;
use crate::compare::{Branch, Item};
use crate::grow::{Shape, What, item};
use crate::support::SKIP;
use adk_build::Flow;
use adk_build::spec::{ERROR_KEY, Over};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug)]
pub enum Ended {
    Through,
    /// An exit to the innermost loop, or to the named one, with its reason.
    Exit(Option<String>, String),
    Failed(Failure),
}

#[derive(Debug)]
pub struct Failure {
    /// The possible places: in a race that all branches lose, any of them may fail last.
    pub paths: Vec<String>,
    may_pass: bool,
}

impl Failure {
    fn at(path: String, may_pass: bool) -> Ended {
        Ended::Failed(Self {
            paths: vec![path],
            may_pass,
        })
    }
}

/// The stored key of each name.
#[derive(Clone, Default)]
struct Names {
    /// Keys that are not stored with the prefix `other`.
    known: BTreeMap<String, String>,
    /// The prefix of the keys of the workflow, and the prefix for blocks inside it.
    other: String,
    inside: String,
}

impl Names {
    fn key(&self, name: &str) -> String {
        self.known
            .get(name)
            .cloned()
            .unwrap_or_else(|| format!("{}{name}", self.other))
    }

    /// Returns the names of a nested workflow, whose output is the key `to` here.
    fn workflow(&self, name: &str, output: Option<(&str, &str)>) -> Self {
        let inside = format!("{}{name}/", self.inside);
        let known = output.map(|(key, to)| (key.to_owned(), self.key(to)));
        Self {
            known: known.into_iter().collect(),
            other: inside.clone(),
            inside,
        }
    }

    fn element(&self, each: &str, at: usize, own: &BTreeSet<&str>) -> Self {
        let inside = format!("{}{each}[{at}]/", self.inside);
        let mut known = self.known.clone();
        known.extend(
            own.iter()
                .map(|key| ((*key).to_owned(), format!("{inside}{key}"))),
        );
        Self {
            known,
            other: self.other.clone(),
            inside,
        }
    }

    fn otherwise(&self, name: &str) -> Self {
        let mut own = self.clone();
        own.known.insert(
            ERROR_KEY.to_owned(),
            format!("{}{name}/{ERROR_KEY}", self.inside),
        );
        own
    }
}

struct Place<'a> {
    path: String,
    names: Names,
    branch: Option<String>,
    seed: u64,
    won: &'a BTreeMap<String, String>,
    shape: &'a Shape,
}

impl<'a> Place<'a> {
    fn inner(&self, shape: &'a Shape, path: &str) -> Self {
        let (names, branch) = (self.names.clone(), self.branch.clone());
        Self {
            path: path.to_owned(),
            names,
            branch,
            seed: self.seed,
            won: self.won,
            shape,
        }
    }

    fn forked(self, branch: String) -> Self {
        let branch = self
            .branch
            .as_ref()
            .map_or(branch.clone(), |outer| format!("{outer}.{branch}"));
        Self {
            branch: Some(branch),
            ..self
        }
    }

    fn line(&self, path: &str, keys: &str) -> Item {
        Item::Leaf(format!(
            "{path} {}{keys}",
            self.branch.as_deref().unwrap_or("-")
        ))
    }
}

/// Returns the expected events of a run in which these branches won their races.
pub fn workflow(
    shape: &Shape,
    seed: u64,
    won: &BTreeMap<String, String>,
    events: &mut Vec<Item>,
    loops: &mut Vec<Item>,
) -> Ended {
    let Shape::Workflow { name, inside, .. } = shape else {
        unreachable!()
    };
    let place = Place {
        path: String::new(),
        names: Names::default(),
        branch: None,
        seed,
        won,
        shape,
    };
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
        Shape::Agent {
            name,
            leave,
            renamed,
            ..
        } => {
            let (path, key) = (path(name), at.names.key(renamed.unwrap_or(name)));
            let plan = Plan::new(at.seed, &path, leave);
            events.extend((0..plan.events).map(|n| at.line(&path, &format!(" {key}={n}"))));
            match plan.flow {
                _ if plan.fails.is_some() => Failure::at(path, plan.fails == Some(true)),
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
        Shape::Workflow {
            name,
            inside,
            output,
            ..
        } => {
            let output = output
                .as_ref()
                .map(|output| (output.key, output.renamed.unwrap_or(output.key)));
            let own = Place {
                names: at.names.workflow(name, output),
                ..at.inner(at.shape, "")
            };
            steps(inside, &own, &path(name), events, loops)
        }
        Shape::Break { target } => Ended::Exit(target.map(str::to_owned), "break".into()),
        Shape::Loop { name, .. } => repeat(at, name, &path(name), events, loops),
        Shape::Match {
            name, writer, arms, ..
        } => {
            let selected = What::Arm(arms.len()).value(at.seed, &path(writer));
            let arm = &arms[selected.as_u64().unwrap() as usize];
            steps(arm, at, &path(name), events, loops)
        }
        Shape::Try { .. } => attempts(at, events, loops),
        Shape::Parallel {
            name,
            first,
            inside,
            ..
        } => {
            let place = path(name);
            let branches = inside.iter().map(|shape| {
                let own = at
                    .inner(shape, &place)
                    .forked(format!("{name}.{}", shape.name()));
                Part::run(
                    format!("{place}/{}", shape.name()),
                    Vec::new(),
                    |events, loops| step(&own, events, loops),
                )
            });
            let branches: Vec<_> = branches.collect();
            if *first {
                race(at, branches, events, loops)
            } else {
                together(at, branches, events, loops)
            }
        }
        Shape::Each { .. } => elements(at, events, loops),
    }
}

fn attempts(at: &Place<'_>, events: &mut Vec<Item>, loops: &mut Vec<Item>) -> Ended {
    let Shape::Try {
        name,
        most,
        all,
        inside,
        otherwise,
    } = at.shape
    else {
        unreachable!()
    };
    let place = format!("{}/{name}", at.path);
    let mut attempt = 1;
    loop {
        let (here, mut own) = (format!("{place}#{attempt}"), Vec::new());
        let failure = match steps(inside, at, &here, events, &mut own) {
            Ended::Failed(failure) => failure,
            ended => {
                loops.extend(own);
                return ended;
            }
        };
        let again = attempt < *most && (*all || failure.may_pass);
        if !again && otherwise.is_empty() {
            loops.extend(own);
            return Ended::Failed(failure);
        }
        loops.push(Item::Forgotten(own));
        let failed = format!(" failed {attempt} of {most}");
        if !again {
            let names = at.names.otherwise(name);
            events.push(at.line(&here, &format!(" {}=*{failed}", names.key(ERROR_KEY))));
            return steps(
                otherwise,
                &Place {
                    names,
                    ..at.inner(at.shape, "")
                },
                &place,
                events,
                loops,
            );
        }
        events.push(at.line(&here, &format!("{failed}, again")));
        attempt += 1;
    }
}

fn elements(at: &Place<'_>, events: &mut Vec<Item>, loops: &mut Vec<Item>) -> Ended {
    let Shape::Each {
        name,
        item: own,
        writer,
        max,
        inside,
        ..
    } = at.shape
    else {
        unreachable!()
    };
    let place = format!("{}/{name}", at.path);
    let mut written = BTreeSet::new();
    inside.iter().for_each(|shape| shape.written(&mut written));
    let mut keys = written.clone();
    keys.insert(own);
    let list = What::List.value(at.seed, &format!("{}/{writer}", at.path));
    let mut count = list.as_array().unwrap().len();
    match *max {
        Some((max, Over::Cut)) if count > max as usize => {
            events.push(at.line(&place, &format!(" without {}", count - max as usize)));
            count = max as usize;
        }
        Some((max, _)) if count > max as usize => return Failure::at(place, false),
        _ => {}
    }
    let elements = (0..count).map(|n| {
        let path = format!("{place}[{n}]");
        let names = at.names.element(name, n, &keys);
        let begins = format!(" {}={}", names.key(own), item(n));
        let own = Place {
            names,
            ..at.inner(at.shape, &path)
        }
        .forked(format!("{name}[{n}]"));
        let begins = vec![own.line(&path, &begins)];
        Part::run(path.clone(), begins, |events, loops| {
            steps(inside, &own, &path, events, loops)
        })
    });
    let ended = together(at, elements.collect(), events, loops);
    if let Ended::Through = ended
        && !written.is_empty()
    {
        let lists = written
            .iter()
            .map(|key| format!(" {}=*", at.names.key(key)));
        events.push(at.line(&place, &lists.collect::<String>()));
    }
    ended
}

/// A branch or an element.
struct Part {
    at: String,
    ended: Ended,
    events: Vec<Item>,
    loops: Vec<Item>,
}

impl Part {
    fn run(
        at: String,
        mut events: Vec<Item>,
        run: impl FnOnce(&mut Vec<Item>, &mut Vec<Item>) -> Ended,
    ) -> Self {
        let mut loops = Vec::new();
        let ended = run(&mut events, &mut loops);
        Self {
            at,
            ended,
            events,
            loops,
        }
    }

    fn fails(&self) -> bool {
        matches!(self.ended, Ended::Failed(_))
    }
}

fn failed_parts(parts: &[Part]) -> String {
    parts
        .iter()
        .filter(|part| part.fails())
        .map(|part| format!(" without {}", part.at))
        .collect()
}

/// Joins parts whose relative order is free; at most one of them leaves.
fn together(
    at: &Place<'_>,
    parts: Vec<Part>,
    events: &mut Vec<Item>,
    loops: &mut Vec<Item>,
) -> Ended {
    let name = at.shape.name();
    let (place, skips) = (format!("{}/{name}", at.path), name.starts_with(SKIP));
    let stays = |part: &Part| matches!(part.ended, Ended::Through) || skips && part.fails();
    let leaving = parts.iter().position(|part| !stays(part));
    assert!(
        parts.iter().filter(|part| !stays(part)).count() < 2,
        "two branches leave"
    );
    let failed = failed_parts(&parts);
    // Siblings of the leaving part may be cancelled anywhere; the leaving part has emitted all its
    // events.
    let mut ended = beside(
        &place,
        parts,
        |index| leaving.is_none_or(|one| one == index),
        events,
        loops,
    );
    if let Some(leaving) = leaving {
        return ended.swap_remove(leaving);
    }
    if !failed.is_empty() {
        events.push(at.line(&place, &failed));
    }
    Ended::Through
}

/// Joins a race, whose winner the log names.
fn race(at: &Place<'_>, parts: Vec<Part>, events: &mut Vec<Item>, loops: &mut Vec<Item>) -> Ended {
    let place = format!("{}/{}", at.path, at.shape.name());
    let mut own = Vec::new();
    let Some(winner) = at.won.get(&place) else {
        let all_fail = parts.iter().all(Part::fails);
        let failed = failed_parts(&parts);
        let ended = beside(&place, parts, |_| all_fail, events, loops);
        if !all_fail {
            // An enclosing block cancelled the race before it was won.
            events.push(Item::Leaf(format!("{place} is won")));
            return Ended::Through;
        }
        if at.shape.name().starts_with(SKIP) {
            events.push(at.line(&place, &failed));
            return Ended::Through;
        }
        let failures = ended.into_iter().filter_map(|ended| match ended {
            Ended::Failed(failure) => Some(failure),
            _ => None,
        });
        let failures: Vec<_> = failures.collect();
        let may_pass = failures.iter().any(|failure| failure.may_pass);
        return Ended::Failed(Failure {
            paths: failures.into_iter().flat_map(|one| one.paths).collect(),
            may_pass,
        });
    };
    let won = parts
        .iter()
        .position(|part| part.at == format!("{place}/{winner}"))
        .expect("a branch");
    let Shape::Parallel { limit, .. } = at.shape else {
        unreachable!()
    };
    let before = parts[..won].iter().filter(|part| !part.fails()).count();
    assert!(
        limit.is_none_or(|limit| before < limit as usize),
        "{winner} of {place} has begun too early"
    );
    let mut ended = beside(&place, parts, |index| index == won, events, &mut own);
    let Some(Item::Branches {
        at: block,
        mut branches,
    }) = own.pop()
    else {
        unreachable!()
    };
    loops.push(Item::Branches {
        at: block,
        branches: vec![branches.swap_remove(won)],
    });
    events.push(at.line(&place, &format!(" won by {winner}")));
    ended.swap_remove(won)
}

/// Joins concurrent parts. Some are known to finish. Returns the end of each part.
fn beside(
    place: &str,
    parts: Vec<Part>,
    ends: impl Fn(usize) -> bool,
    events: &mut Vec<Item>,
    loops: &mut Vec<Item>,
) -> Vec<Ended> {
    let (mut heard, mut closed, mut all) = (Vec::new(), Vec::new(), Vec::new());
    for (
        index,
        Part {
            at,
            ended,
            events,
            loops,
        },
    ) in parts.into_iter().enumerate()
    {
        let may_break_off = !ends(index);
        heard.push(Branch {
            at: at.clone(),
            items: events,
            may_break_off,
        });
        closed.push(Branch {
            at,
            items: loops,
            may_break_off,
        });
        all.push(ended);
    }
    for (branches, into) in [(heard, events), (closed, loops)] {
        into.push(Item::Branches {
            at: place.to_owned(),
            branches,
        });
    }
    all
}

fn repeat(
    at: &Place<'_>,
    own: &str,
    path: &str,
    events: &mut Vec<Item>,
    loops: &mut Vec<Item>,
) -> Ended {
    let Shape::Loop {
        max, until, inside, ..
    } = at.shape
    else {
        unreachable!()
    };
    let mut round = 1;
    let (reason, ended) = loop {
        let here = format!("{path}#{round}");
        match steps(inside, at, &here, events, loops) {
            Ended::Through => {}
            Ended::Failed(failure) => return Ended::Failed(failure),
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
