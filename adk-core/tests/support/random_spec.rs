//! Random workflows as data: every kind of step, with names and texts chosen by the caller.

use adk_build::spec::{InputSpec, Over, Renames, Spec, Step, StepKind};
use adk_build::{AgentKind, AgentMeta, KeySpec, ToolMeta};

/// Random numbers that are the same on every machine.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % end
    }

    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

pub fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

fn leak_all<T>(values: Vec<T>) -> &'static [T] {
    Box::leak(values.into_boxed_slice())
}

/// The state of a growing tree.
pub struct Grow {
    pub random: Random,
    /// The number of agents and blocks that may still be added.
    pub left: u32,
    pub depth: u32,
    /// The largest `max` of a loop.
    pub rounds: u64,
    /// Makes a name or a text; the number makes names unique.
    pub text: fn(&mut Random, &str, u32) -> String,
    named: u32,
}

impl Grow {
    pub fn new(seed: u64, left: u32, depth: u32, rounds: u64) -> Self {
        let text = |_: &mut Random, word: &str, n| format!("{word}{n}");
        Self {
            random: Random(seed),
            left,
            depth,
            rounds,
            text,
            named: 0,
        }
    }

    pub fn text(&mut self, word: &str) -> &'static str {
        self.named += 1;
        leak((self.text)(&mut self.random, word, self.named))
    }

    pub fn spec(&mut self) -> Spec<'static> {
        let steps = self.list();
        Spec::new(self.text("workflow"), self.text("description"), steps)
            .inputs(leak_all(vec![InputSpec::new(
                self.text("input"),
                self.text("Type"),
                false,
            )]))
            .outputs(leak_all(vec![self.key(), self.key()]))
    }

    fn list(&mut self) -> &'static [Step<'static>] {
        let (mut steps, depth) = (Vec::new(), self.depth);
        self.several(depth, &mut Vec::new(), &mut steps);
        leak_all(steps)
    }

    fn key(&mut self) -> KeySpec<'static> {
        KeySpec::new(
            self.text("key"),
            if self.random.one_in(3) {
                self.text("Type")
            } else {
                "String"
            },
        )
    }

    fn several(
        &mut self,
        depth: u32,
        loops: &mut Vec<&'static str>,
        into: &mut Vec<Step<'static>>,
    ) {
        for _ in 0..1 + self.random.below(3) {
            self.step(depth, loops, into);
        }
    }

    fn block(
        &mut self,
        kind: StepKind<'static>,
        word: &str,
        into: &mut Vec<Step<'static>>,
    ) -> usize {
        let step = Step::new(self.text(word), kind, 0).description(self.text("what"));
        into.push(if self.random.one_in(2) {
            step.unnamed()
        } else {
            step
        });
        into.len() - 1
    }

    fn close(open: usize, into: &mut Vec<Step<'static>>) {
        into[open].end = into.len();
        into.push(Step::new("", StepKind::End, into.len()));
    }

    fn marked(
        &mut self,
        kind: StepKind<'static>,
        depth: u32,
        loops: &mut Vec<&'static str>,
        into: &mut Vec<Step<'static>>,
    ) {
        into.push(Step::new("", kind, 0));
        let open = into.len() - 1;
        match self.random.below(6) {
            0 if matches!(kind, StepKind::Arm { .. }) => {}
            1 => self.several(depth, loops, into),
            _ => self.step(depth, loops, into),
        }
        Self::close(open, into);
    }

    fn each_kind(&mut self, most: Option<u32>) -> StepKind<'static> {
        let (item, list) = (self.text("item"), self.text("list"));
        let max = if self.random.one_in(2) {
            None
        } else {
            Some(1 + self.random.below(3) as u32)
        };
        let over = if self.random.one_in(2) {
            Over::Cut
        } else {
            Over::Fail
        };
        StepKind::Each {
            item,
            list,
            max,
            over,
            max_concurrency: most,
        }
    }

    fn agent_step(
        &mut self,
        depth: u32,
        loops: &mut Vec<&'static str>,
        at: usize,
    ) -> Step<'static> {
        let (meta, instance) = (self.agent(depth, loops), self.random.one_in(3));
        let name = if instance {
            self.text("second")
        } else {
            meta.name
        };
        let mut step = Step::new(
            name,
            StepKind::Agent {
                meta: leak(meta),
                instance,
            },
            at,
        );
        if self.random.one_in(4) {
            let reads = leak_all(
                meta.reads
                    .iter()
                    .map(|key| (key.name, self.text("read")))
                    .collect(),
            );
            let writes = leak_all(meta.writes.iter().map(|_| self.text("written")).collect());
            step = step.renames(Renames::new(reads, writes));
        }
        step
    }

    fn step(&mut self, depth: u32, loops: &mut Vec<&'static str>, into: &mut Vec<Step<'static>>) {
        self.left = self.left.saturating_sub(1);
        let inner = depth.saturating_sub(1);
        let kind = if depth == 0 || self.left == 0 {
            0
        } else {
            self.random.below(14)
        };
        let most = if self.random.one_in(3) { Some(2) } else { None };
        match kind {
            4 | 5 => {
                let open = self.block(StepKind::Sequence, "s", into);
                self.several(inner, loops, into);
                Self::close(open, into);
            }
            6 | 7 => {
                let open = self.block(
                    StepKind::Parallel {
                        max_concurrency: most,
                        first: false,
                    },
                    "p",
                    into,
                );
                for _ in 0..1 + self.random.below(3) {
                    self.marked(StepKind::Branch, inner, loops, into);
                }
                Self::close(open, into);
            }
            8 => {
                let key = self.text("key");
                let open = self.block(StepKind::Match { key }, "m", into);
                for _ in 0..1 + self.random.below(3) {
                    let pattern = self.text("Pattern");
                    self.marked(StepKind::Arm { pattern }, inner, loops, into);
                }
                Self::close(open, into);
            }
            9 => {
                let each = self.each_kind(most);
                let open = self.block(each, "e", into);
                self.several(inner, loops, into);
                Self::close(open, into);
            }
            10..=12 => {
                let max = if self.random.one_in(6) {
                    None
                } else {
                    Some(1 + self.random.below(self.rounds) as u32)
                };
                let until = if self.random.one_in(3) {
                    Some(self.text("done"))
                } else {
                    None
                };
                let open = self.block(StepKind::Loop { max, until }, "l", into);
                loops.push(into[open].name);
                self.several(inner, loops, into);
                loops.pop();
                Self::close(open, into);
            }
            13 if !loops.is_empty() => {
                let at = self.random.below(loops.len() as u64 + 1) as usize;
                into.push(Step::new(
                    "",
                    StepKind::Break {
                        target: loops.get(at).copied(),
                    },
                    into.len(),
                ));
            }
            _ => {
                let step = self.agent_step(inner, loops, into.len());
                into.push(step);
            }
        }
    }

    fn agent(&mut self, depth: u32, loops: &[&'static str]) -> AgentMeta<'static> {
        let kind = match self.random.below(8) {
            0..=3 => AgentKind::Llm,
            4 | 5 => AgentKind::Function,
            6 => AgentKind::Custom,
            _ => AgentKind::Workflow,
        };
        let mut meta = AgentMeta::new(kind, self.text("agent"))
            .description(self.text("description"))
            .reads(leak_all(vec![self.key()]))
            .writes(leak_all(
                (0..self.random.below(3)).map(|_| self.key()).collect(),
            ))
            .may_exit(!loops.is_empty() && self.random.one_in(5));
        if let Some(outer) = loops.first().filter(|_| self.random.one_in(8)) {
            meta = meta.exits(leak_all(vec![*outer]));
        }
        if kind != AgentKind::Function && !self.random.one_in(5) {
            meta = meta.max_turns(Some(self.random.below(4) as u32));
        }
        if kind == AgentKind::Llm && self.random.one_in(4) {
            meta = meta.tools(leak_all(vec![ToolMeta::new(self.text("tool"), "")]));
        }
        if kind == AgentKind::Llm && self.random.one_in(6) && depth > 0 {
            let targets = (0..1 + self.random.below(2))
                .map(|_| leak(self.agent(depth - 1, &[])))
                .collect();
            meta = meta.transfer(leak_all(targets));
        }
        if kind == AgentKind::Workflow && depth > 0 {
            let outer = std::mem::replace(&mut self.depth, depth - 1);
            meta = meta.steps(self.list());
            self.depth = outer;
        }
        meta
    }
}
