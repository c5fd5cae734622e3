//! Random trees.

use crate::support::SKIP;
use crate::{Fails, Leave, Loop, Random};
use adk_build::spec::{ERROR_KEY, Over};
use serde_json::{Value, json};
use std::collections::BTreeSet;

pub const ROOT: &str = "root";
/// The prefix of the names of `state` keys.
pub const KEPT: &str = "kept";
/// The prefix of the names of `each` blocks that skip failed elements.
const SKIP_EACH: &str = "skipe";
const SKIP_RACE: &str = "skipr";

#[derive(Debug)]
pub enum Shape {
    Agent {
        name: &'static str,
        leave: Leave,
        /// The key that the agent reads and writes instead of a key with its own name.
        renamed: Option<&'static str>,
        /// What else the agent reads: the item of the enclosing `each` in its workflow, or the
        /// error of the `else`.
        item: Item,
    },
    /// An agent that writes a key for a block that reads it, or the output of a workflow.
    Write {
        name: &'static str,
        key: &'static str,
        what: What,
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
        first: bool,
        inside: Vec<Shape>,
    },
    Try {
        name: &'static str,
        most: u32,
        all: bool,
        inside: Vec<Shape>,
        /// The steps of the `else`; empty without an `else`.
        otherwise: Vec<Shape>,
    },
    /// A `match`, which follows the step that writes its key.
    Match {
        name: &'static str,
        key: &'static str,
        writer: &'static str,
        arms: Vec<Vec<Shape>>,
    },
    /// An `each`, which follows the step that writes its list.
    Each {
        name: &'static str,
        item: &'static str,
        list: &'static str,
        writer: &'static str,
        max: Option<(u32, Over)>,
        limit: Option<u32>,
        inside: Vec<Shape>,
    },
    Break {
        target: Option<&'static str>,
    },
    Workflow {
        name: &'static str,
        inside: Vec<Shape>,
        output: Option<Output>,
        /// `state` keys of the workflow.
        states: Vec<&'static str>,
    },
}

/// The output of a workflow, and its name in the enclosing workflow.
#[derive(Debug)]
pub struct Output {
    pub key: &'static str,
    pub renamed: Option<&'static str>,
}

/// A value that depends on the seed and the path of its writer.
#[derive(Clone, Copy, Debug)]
pub enum What {
    /// Whether a loop ends after this round.
    Done,
    /// An arm, below this number.
    Arm(usize),
    /// A list with a few elements.
    List,
    Number,
}

impl What {
    pub fn value(self, seed: u64, path: &str) -> Value {
        let mut random = Random::at(seed, path);
        match self {
            Self::Done => json!(random.one_in(2)),
            Self::Arm(arms) => json!(random.below(arms as u64)),
            Self::List => (0..random.below(5) as usize).map(item).collect(),
            Self::Number => json!(random.below(1000)),
        }
    }
}

/// Returns the element at an index of a list.
pub fn item(at: usize) -> Value {
    json!(at * 7 + 3)
}

impl Shape {
    pub fn grow(seed: u64) -> Self {
        let mut grower = Grower {
            random: Random::new(seed),
            left: 24,
            names: 0,
            nested: 0,
            states: Vec::new(),
        };
        let fails = Some(Fails {
            depth: 0,
            one_in: 60,
            pass: false,
        });
        let inside = grower.inside(
            4,
            &Leave {
                fails,
                ..Leave::default()
            },
            None,
        );
        Shape::Workflow {
            name: ROOT,
            inside,
            output: None,
            states: grower.states,
        }
    }

    pub fn name(&self) -> &'static str {
        match self {
            Self::Agent { name, .. }
            | Self::Write { name, .. }
            | Self::Sequence { name, .. }
            | Self::Loop { name, .. }
            | Self::Parallel { name, .. }
            | Self::Try { name, .. }
            | Self::Match { name, .. }
            | Self::Each { name, .. }
            | Self::Workflow { name, .. } => name,
            Self::Break { .. } => "",
        }
    }

    /// Adds the keys that the shape may write, under their outer names.
    pub fn written(&self, into: &mut BTreeSet<&'static str>) {
        match self {
            Self::Agent { name, renamed, .. } => drop(into.insert(renamed.unwrap_or(name))),
            Self::Write { key, .. } => drop(into.insert(key)),
            Self::Workflow { output, .. } => {
                into.extend(
                    output
                        .iter()
                        .map(|output| output.renamed.unwrap_or(output.key)),
                );
            }
            Self::Sequence { inside, .. }
            | Self::Loop { inside, .. }
            | Self::Parallel { inside, .. }
            | Self::Each { inside, .. } => inside.iter().for_each(|shape| shape.written(into)),
            Self::Try {
                inside, otherwise, ..
            } => {
                inside
                    .iter()
                    .chain(otherwise)
                    .for_each(|shape| shape.written(into));
            }
            Self::Match { arms, .. } => arms.iter().flatten().for_each(|shape| shape.written(into)),
            Self::Break { .. } => {}
        }
    }
}

/// Names, and the number of nodes that may still be added.
struct Grower {
    random: Random,
    left: u32,
    names: u32,
    /// The number of enclosing workflows, except the root, and the `state` keys of the innermost
    /// one.
    nested: u32,
    states: Vec<&'static str>,
}

type Item = Option<&'static str>;

impl Grower {
    fn name(&mut self, kind: &str) -> &'static str {
        self.names += 1;
        Box::leak(format!("{kind}{}", self.names).into_boxed_str())
    }

    fn inside(&mut self, depth: u32, leave: &Leave, item: Item) -> Vec<Shape> {
        (0..1 + self.random.below(3))
            .map(|_| self.node(depth, leave, item))
            .collect()
    }

    fn node(&mut self, depth: u32, leave: &Leave, item: Item) -> Shape {
        self.left = self.left.saturating_sub(1);
        let kind = if depth == 0 || self.left == 0 {
            0
        } else {
            self.random.below(22)
        };
        match kind {
            3 | 4 => Shape::Sequence {
                name: self.name("s"),
                inside: self.inside(depth - 1, leave, item),
            },
            5..=7 => self.repeat(depth - 1, leave, item),
            8 | 9 => self.parallel(depth - 1, leave, item),
            10 => self.workflow(depth - 1, leave),
            11 | 12 => self.select(depth - 1, leave, item),
            13..=15 => self.each(depth - 1, leave),
            17 | 18 => self.tried(depth - 1, leave, item),
            19..=21 => self.race(depth - 1, leave, item),
            16 if !leave.inner().is_empty() => {
                let loops = leave.inner();
                let at = self.random.below(loops.len() as u64 + 1) as usize;
                Shape::Break {
                    target: loops.get(at).map(|around| around.name),
                }
            }
            _ => {
                let renamed = self.random.one_in(4).then(|| self.key());
                self.agent(leave, renamed, item)
            }
        }
    }

    fn agent(&mut self, leave: &Leave, renamed: Option<&'static str>, item: Item) -> Shape {
        Shape::Agent {
            name: self.name("a"),
            leave: leave.clone(),
            renamed,
            item,
        }
    }

    /// Returns a key for an agent, possibly a `state` key that outlives the run.
    fn key(&mut self) -> &'static str {
        if self.nested > 0 || self.random.one_in(2) {
            return self.name("k");
        }
        let key = self.name(KEPT);
        self.states.push(key);
        key
    }

    fn repeat(&mut self, depth: u32, leave: &Leave, item: Item) -> Shape {
        let name = self.name("l");
        let mut inner = leave.clone();
        inner.loops.push(Loop {
            name,
            depth: leave.depth,
        });
        let mut inside = self.inside(depth, &inner, item);
        let until = self.random.one_in(3).then(|| self.name("key"));
        if let Some(key) = until {
            inside.push(Shape::Write {
                name: self.name("j"),
                key,
                what: What::Done,
            });
        }
        let max =
            (until.is_none() || self.random.one_in(2)).then(|| 1 + self.random.below(3) as u32);
        Shape::Loop {
            name,
            max,
            until,
            inside,
        }
    }

    fn parallel(&mut self, depth: u32, leave: &Leave, item: Item) -> Shape {
        let skips = self.random.one_in(4);
        let name = self.name(if skips { SKIP } else { "p" });
        let count = 1 + self.random.below(4);
        let leaves = self.random.below(count);
        let inside = (0..count).map(|at| {
            let mut own = Leave {
                depth: leave.depth,
                ..Leave::default()
            };
            if at == leaves {
                own.clone_from(leave);
            }
            if skips {
                own.fails = Some(self.fails(leave.depth));
            }
            self.node(depth, &own, item)
        });
        let inside = inside.collect();
        Shape::Parallel {
            name,
            limit: self.limit(),
            first: false,
            inside,
        }
    }

    /// Grows branches that may all leave, because one of them wins. They may write one key, which
    /// is read after them.
    fn race(&mut self, depth: u32, leave: &Leave, item: Item) -> Shape {
        let skips = self.random.one_in(4);
        let (name, key) = (
            self.name(if skips { SKIP_RACE } else { "r" }),
            self.name("k"),
        );
        let count = 1 + self.random.below(4);
        let mut all = Leave {
            fails: leave.fails.map(|fails| Fails { one_in: 3, ..fails }),
            ..leave.clone()
        };
        let inside = (0..count).map(|at| {
            // If failures are not allowed here, the last branch does not fail.
            if skips || leave.fails.is_none() {
                all.fails = (skips || at + 1 < count).then(|| self.fails(leave.depth));
            }
            let mut inside = vec![self.node(depth, &all, item)];
            if self.random.one_in(2) {
                let at = self.random.below(2) as usize;
                inside.insert(
                    at,
                    Shape::Write {
                        name: self.name("j"),
                        key,
                        what: What::Number,
                    },
                );
            }
            Shape::Sequence {
                name: self.name("s"),
                inside,
            }
        });
        let inside = inside.collect();
        let race = Shape::Parallel {
            name,
            limit: self.limit(),
            first: true,
            inside,
        };
        let reads = self.agent(leave, Some(key), item);
        Shape::Sequence {
            name: self.name("s"),
            inside: vec![race, reads],
        }
    }

    fn tried(&mut self, depth: u32, leave: &Leave, item: Item) -> Shape {
        let name = self.name("t");
        let (most, all) = (1 + self.random.below(3) as u32, self.random.one_in(3));
        let (fails, otherwise) = match leave.fails {
            // Without an `else`, the enclosing block gets the error.
            Some(fails) if self.random.one_in(2) => (Fails { one_in: 6, ..fails }, Vec::new()),
            _ => (
                self.fails(leave.depth),
                self.inside(depth, leave, Some(ERROR_KEY)),
            ),
        };
        let inside = self.inside(
            depth,
            &Leave {
                fails: Some(fails),
                ..leave.clone()
            },
            item,
        );
        Shape::Try {
            name,
            most,
            all,
            inside,
            otherwise,
        }
    }

    /// Returns how agents fail in a block that handles failures.
    fn fails(&mut self, depth: usize) -> Fails {
        Fails {
            depth,
            one_in: 6,
            pass: self.random.one_in(2),
        }
    }

    fn limit(&mut self) -> Option<u32> {
        self.random
            .one_in(3)
            .then(|| 1 + self.random.below(3) as u32)
    }

    fn select(&mut self, depth: u32, leave: &Leave, item: Item) -> Shape {
        let (name, key, writer) = (self.name("m"), self.name("key"), self.name("j"));
        let arms = (0..1 + self.random.below(3)).map(|_| {
            if self.random.one_in(4) {
                Vec::new()
            } else {
                self.inside(depth, leave, item)
            }
        });
        let arms: Vec<_> = arms.collect();
        let write = Shape::Write {
            name: writer,
            key,
            what: What::Arm(arms.len()),
        };
        let inside = vec![
            write,
            Shape::Match {
                name,
                key,
                writer,
                arms,
            },
        ];
        Shape::Sequence {
            name: self.name("s"),
            inside,
        }
    }

    fn each(&mut self, depth: u32, leave: &Leave) -> Shape {
        let skips = self.random.one_in(4);
        let name = self.name(if skips { SKIP_EACH } else { "e" });
        let (list, writer, item) = (self.name("key"), self.name("j"), self.name("i"));
        let mut inner = Leave {
            depth: leave.depth + 1,
            ..leave.clone()
        };
        if skips {
            inner.fails = Some(self.fails(inner.depth));
        }
        let inside = self.inside(depth, &inner, Some(item));
        let write = Shape::Write {
            name: writer,
            key: list,
            what: What::List,
        };
        // `Over::Fail` is a permanent error in every enclosing element. It is chosen only where
        // permanent errors are handled and no `each` is in between.
        let may_fail = leave
            .fails
            .is_some_and(|fails| fails.depth == leave.depth && !fails.pass);
        let over = if may_fail && self.random.one_in(4) {
            Over::Fail
        } else {
            Over::Cut
        };
        let max = self.limit().map(|max| (max, over));
        let each = Shape::Each {
            name,
            item,
            list,
            writer,
            max,
            limit: self.limit(),
            inside,
        };
        Shape::Sequence {
            name: self.name("s"),
            inside: vec![write, each],
        }
    }

    fn workflow(&mut self, depth: u32, leave: &Leave) -> Shape {
        let name = self.name("w");
        self.nested += 1;
        let mut inside = self.inside(
            depth,
            &Leave {
                loops: Vec::new(),
                ..leave.clone()
            },
            None,
        );
        self.nested -= 1;
        let output = self.random.one_in(2).then(|| {
            let key = self.name("o");
            inside.insert(
                0,
                Shape::Write {
                    name: self.name("j"),
                    key,
                    what: What::Number,
                },
            );
            Output {
                key,
                renamed: self.random.one_in(2).then(|| self.name("k")),
            }
        });
        Shape::Workflow {
            name,
            inside,
            output,
            states: Vec::new(),
        }
    }
}
