//! Random workflows. Most of them are nearly right: most read keys were written before, and most
//! concurrent parts use different keys. The trees are therefore close to the border between right
//! and wrong.

pub mod agents;
mod blocks;

use super::judge::accepts;
use super::pairs::construct::Construct;
use super::random::Random;
use super::tree::*;
use adk_build::spec::{OnError, SkipLimit};
use std::sync::Arc;

/// The maximum depth of blocks.
const DEPTH: u32 = 5;
/// The maximum number of agents.
const AGENTS: u64 = 40;

struct Grower {
    random: Random,
    names: u32,
    /// The number of agents that may still be added.
    left: u32,
    /// One in `careful` choices ignores the known keys.
    careful: u64,
    definitions: Vec<Arc<Flow>>,
    /// Step names of placed definitions.
    placed: Vec<String>,
    /// Constructs that should occur more often.
    wanted: Vec<Construct>,
}

/// The facts that are known at a place.
#[derive(Clone, Default)]
struct Here {
    depth: u32,
    /// Keys that are probably written.
    known: Vec<Key>,
    /// Keys that a sibling reads or writes.
    touched: Vec<Key>,
    taken: Vec<Key>,
    loops: Vec<String>,
    /// The number of enclosing `each` blocks.
    eaches: u32,
}

/// Grows the workflow of a seed.
pub fn grow(seed: u64) -> Flow {
    let mut random = Random::new(seed);
    let careful = [3, 12, 40, 200, 2_000][random.below(5) as usize];
    let most = [4, 9, 18, AGENTS][random.below(4) as usize];
    let left = 1 + random.below(most) as u32;
    finish(Grower::new(random, left, careful), false)
}

/// Grows a small workflow in which these constructs occur often.
pub fn grow_around(seed: u64, wanted: &[Construct]) -> Flow {
    let mut random = Random::new(seed);
    let left = 2 + random.below(8) as u32;
    let mut grower = Grower::new(random, left, 2_000);
    grower.wanted = wanted.to_vec();
    let has_workflow = grower.wants(&[
        Construct::Workflow,
        Construct::WorkflowInstance,
        Construct::WorkflowTool,
        Construct::Default,
        Construct::State,
    ]);
    finish(grower, has_workflow)
}

fn finish(mut grower: Grower, has_workflow: bool) -> Flow {
    let left = grower.left;
    if has_workflow || grower.random.one_in(2) {
        let most = if grower.wanted.is_empty() { 3 } else { 2 };
        for _ in 0..1 + grower.random.below(most) {
            grower.define();
        }
    }
    grower.left = left;
    grower.flow("root")
}

impl Grower {
    fn new(random: Random, left: u32, careful: u64) -> Self {
        let (definitions, placed, wanted) = (Vec::new(), Vec::new(), Vec::new());
        Self {
            random,
            names: 0,
            left,
            careful,
            definitions,
            placed,
            wanted,
        }
    }

    /// Whether one of these constructs is wanted.
    fn wants(&self, constructs: &[Construct]) -> bool {
        self.wanted.iter().any(|wanted| constructs.contains(wanted))
    }

    /// Returns true once in `one_in` times, or more often if one of these constructs is wanted.
    fn may(&mut self, one_in: u64, constructs: &[Construct]) -> bool {
        if self.wants(constructs) {
            !self.random.one_in(3)
        } else {
            self.random.one_in(one_in)
        }
    }

    fn name(&mut self, kind: &str) -> String {
        self.names += 1;
        format!("{kind}{}", self.names)
    }

    fn careless(&mut self) -> bool {
        self.random.one_in(self.careful)
    }

    /// Adds a definition without faults for later use.
    fn define(&mut self) {
        let name = self.name("flow");
        for _ in 0..4 {
            self.left = 1 + self
                .random
                .below(if self.wanted.is_empty() { 5 } else { 3 })
                as u32;
            let flow = self.flow(&name);
            if accepts(&flow) {
                self.definitions.push(Arc::new(flow));
                return;
            }
        }
    }

    fn flow(&mut self, name: &str) -> Flow {
        let mut flow = Flow {
            name: name.to_owned(),
            ..Flow::default()
        };
        let mut known = Vec::new();
        let wanted = self.wanted_keys();
        let mut declare = |random: &mut Random, most: u64| {
            let mut all = Vec::new();
            for key in &wanted {
                if !known.contains(key) && random.one_in(3) {
                    known.push(*key);
                    all.push(*key);
                }
            }
            for _ in 0..random.below(most + 1) {
                let key = key_from(
                    random,
                    &[
                        PLAIN, PLAIN, PLAIN, FLAGS, LISTS, LISTS, PREFIXED, STATES, SECRETS,
                    ],
                );
                if !known.contains(&key) && (!has_prefix(key) || random.one_in(3)) {
                    known.push(key);
                    all.push(key);
                }
            }
            all
        };
        let inputs = declare(&mut self.random, 4);
        flow.lets = declare(&mut self.random, 2);
        flow.inputs = inputs
            .into_iter()
            .map(|key| (key, self.may(4, &[Construct::Default])))
            .collect();
        for key in STATES.iter().chain(PREFIXED) {
            if !known.contains(key) && self.may(6, construct_of(key)) {
                flow.states.push(key);
                known.push(key);
            }
        }
        let mut here = Here {
            depth: DEPTH,
            known,
            ..Here::default()
        };
        flow.body = self.nodes(&mut here);
        for key in flow
            .definitions()
            .iter()
            .flat_map(|inner| inner.states.clone())
        {
            let is_new = |keys: &[Key]| !keys.contains(&key);
            let inputs: Vec<_> = flow.inputs.iter().map(|(key, _)| *key).collect();
            if is_new(&flow.states)
                && is_new(&flow.lets)
                && is_new(&inputs)
                && !self.random.one_in(4)
            {
                flow.states.push(key);
            }
        }
        for _ in 0..self.random.below(3) {
            let key = self
                .read(&here, true)
                .filter(|key| !flow.outputs.contains(key) && !is_note(key));
            flow.outputs.extend(key);
        }
        flow
    }

    fn nodes(&mut self, here: &mut Here) -> Vec<Node> {
        let mut nodes = Vec::new();
        loop {
            nodes.push(self.node(here));
            let ended = matches!(nodes.last(), Some(Node::Break(_))) && !self.random.one_in(8);
            if ended || self.left == 0 || (here.depth < DEPTH && self.random.one_in(3)) {
                return nodes;
            }
        }
    }

    fn node(&mut self, here: &mut Here) -> Node {
        let kind = match self.wanted_kind(here) {
            _ if here.depth == 0 => 0,
            Some(kind) => kind,
            None if self.left <= 1 => 0,
            None => self.random.below(22),
        };
        let before = matches!(kind, 8..=17 | 20..).then(|| here.known.clone());
        let mut node = self.node_of(kind, here);
        if let (Node::Block(block), Some(before)) = (&mut node, before) {
            block.skippable =
                !matches!(block.kind, Kind::Match { .. }) && self.may(12, &[Construct::Before]);
            let is_parallel = matches!(block.kind, Kind::Parallel { .. });
            let (can_skip, skips) = match block.kind {
                Kind::Each { .. } => (true, Construct::EachSkip),
                _ => (is_parallel, Construct::ParallelSkip),
            };
            let skips = [skips, Construct::SkipMax];
            if can_skip && self.may(4, if is_parallel { &skips[..1] } else { &skips }) {
                block.on_error = if is_parallel {
                    OnError::Skip
                } else {
                    self.skip()
                };
            }
            if block.skippable || (is_parallel && block.on_error.skips()) {
                here.known = before;
            }
        }
        node
    }

    /// Returns a rule that skips all failed elements, or only some.
    fn skip(&mut self) -> OnError {
        if !self.may(3, &[Construct::SkipMax]) {
            return OnError::Skip;
        }
        OnError::SkipAtMost(match self.random.below(4) {
            // Half of up to three elements is at most one.
            0 => SkipLimit::Percent(50),
            1 => SkipLimit::Percent(10),
            most => SkipLimit::Elements(most as u32 - 1),
        })
    }

    fn node_of(&mut self, kind: u64, here: &mut Here) -> Node {
        match kind {
            8 => self.sequence(here),
            9..=11 => self.parallel(here),
            12 | 13 => self.arms(here),
            14 | 15 => self.elements(here),
            16 | 17 => self.rounds(here),
            20 | 21 => self.tried(here),
            18 | 19 if !self.definitions.is_empty() => self.nested(here),
            6 if self.may(2, AWAITS) => Node::Run(self.person(here)),
            7 if self.may(3, &[Construct::Break, Construct::BreakTo])
                && (!here.loops.is_empty() || self.random.one_in(6) && self.careless()) =>
            {
                Node::Break(self.target(here, Construct::BreakTo))
            }
            _ => Node::Run(self.agent(here)),
        }
    }

    /// Returns the name of an enclosing loop that an exit targets; `None` for the innermost loop.
    fn target(&mut self, here: &Here, named: Construct) -> Option<String> {
        if self.careless() && self.random.one_in(4) {
            return Some("nowhere".to_owned());
        }
        let most = if self.wants(&[named]) { 0 } else { 2 };
        let at = self.random.below((here.loops.len() as u64 + most).max(1)) as usize;
        here.loops.get(at).cloned()
    }

    /// Returns a key to read, if there is one.
    fn read(&mut self, here: &Here, any: bool) -> Option<Key> {
        let free: Vec<_> = here
            .known
            .iter()
            .filter(|key| any || !here.taken.contains(key))
            .copied()
            .collect();
        if self.careless() {
            return Some(self.key());
        }
        let wanted: Vec<_> = free
            .iter()
            .filter(|key| self.wants(construct_of(key)))
            .copied()
            .collect();
        if !wanted.is_empty() && self.random.one_in(2) {
            return Some(*self.random.choose::<Key>(&wanted));
        }
        (!free.is_empty()).then(|| *self.random.choose::<Key>(&free))
    }

    fn key(&mut self) -> Key {
        key_from(&mut self.random, KEYS)
    }

    /// Returns a key to write.
    fn written(&mut self, here: &Here) -> Key {
        if self.careless() {
            return self.key();
        }
        let pools: &[&'static [Key]] = match here.eaches {
            1 => &[NOTES],
            2.. => &[DEEP_NOTES],
            0 => &[
                PLAIN, PLAIN, PLAIN, PLAIN, FLAGS, LISTS, PREFIXED, STATES, SECRETS,
            ],
        };
        let keys = PREFIXED.iter().chain(STATES).chain(SECRETS).copied();
        let wanted: Vec<_> = keys.filter(|key| self.wants(construct_of(key))).collect();
        if !wanted.is_empty() && here.eaches == 0 && self.random.one_in(2) {
            let key = *self.random.choose::<Key>(&wanted);
            if !here.touched.contains(&key)
                && (has_prefix(key) || is_secret(key) || here.known.contains(&key))
            {
                return key;
            }
        }
        for _ in 0..4 {
            let key = key_from(&mut self.random, pools);
            if !here.touched.contains(&key) {
                return key;
            }
        }
        key_from(&mut self.random, pools)
    }

    fn nested(&mut self, here: &mut Here) -> Node {
        self.left = self.left.saturating_sub(1);
        let flow = self.random.choose(&self.definitions).clone();
        let name = if self.random.one_in(2) && !self.placed.contains(&flow.name) {
            flow.name.clone()
        } else {
            self.name("w")
        };
        let mut nested = Nested {
            name,
            flow,
            reads: Vec::new(),
            writes: Vec::new(),
        };
        for (key, default) in nested.flow.inputs.clone() {
            let is_free =
                |other: &&Key| type_of(other) == type_of(key) && !here.taken.contains(other);
            let free: Vec<_> = here.known.iter().filter(is_free).copied().collect();
            let is_missing = !free.contains(&key) && !default;
            if free.is_empty() && is_missing && !self.careless() {
                return Node::Run(self.agent(here));
            }
            if default && self.random.one_in(16) && self.careless() {
                nested.reads.push((key, self.like(key, here)));
            } else if !free.is_empty()
                && (is_missing || self.may(4, &[Construct::WorkflowInstance]))
            {
                nested.reads.push((key, self.random.choose::<Key>(&free)));
            }
        }
        self.placed.push(nested.name.clone());
        let outputs = nested.flow.outputs.clone();
        let may_stay =
            |key: &Key| !here.touched.contains(key) && (here.eaches == 0 || has_prefix(key));
        if self.may(3, &[Construct::WorkflowInstance]) || !outputs.iter().all(may_stay) {
            for key in &outputs {
                let mut other = self.like(key, here);
                for _ in 0..4 {
                    if nested.writes.contains(&other) {
                        other = self.like(key, here);
                    }
                }
                nested.writes.push(other);
            }
        }
        here.known
            .extend(outputs.iter().map(|key| nested.written(key)));
        Node::Nested(nested)
    }

    /// Returns a key to write of the same type.
    fn like(&mut self, key: Key, here: &Here) -> Key {
        for _ in 0..8 {
            let other = self.written(here);
            if type_of(other) == type_of(key) {
                return other;
            }
        }
        key
    }

    fn block(&mut self, kind: Kind, name: &str, inside: Vec<Node>) -> Node {
        Node::Block(Block {
            name: self.name(name),
            kind,
            inside,
            skippable: false,
            on_error: OnError::Fail,
            spelled: false,
        })
    }

    fn sequence(&mut self, here: &mut Here) -> Node {
        here.depth -= 1;
        let inside = self.nodes(here);
        here.depth += 1;
        self.block(Kind::Sequence, "s", inside)
    }
}

const AWAITS: &[Construct] = &[Construct::Await, Construct::AwaitDefault];
const EACHES: &[Construct] = &[
    Construct::Each,
    Construct::EachMax,
    Construct::EachCut,
    Construct::EachSkip,
    Construct::SkipMax,
];

/// Returns the construct that a key implies, if any.
fn construct_of(key: &str) -> &'static [Construct] {
    match key.split_once(':') {
        Some(("user", _)) => &[Construct::User],
        Some(("app", _)) => &[Construct::App],
        Some(_) => &[Construct::Temp],
        None if STATES.contains(&key) => &[Construct::State],
        None if is_secret(key) => &[Construct::Secret],
        None => &[],
    }
}

impl Grower {
    /// Returns the keys that the wanted constructs need.
    fn wanted_keys(&self) -> Vec<Key> {
        let mut keys = Vec::new();
        keys.extend(self.wants(EACHES).then_some("l1"));
        keys.extend(self.wants(&[Construct::LoopUntil]).then_some("f1"));
        keys.extend(
            PREFIXED
                .iter()
                .chain(SECRETS)
                .filter(|key| self.wants(construct_of(key))),
        );
        keys
    }

    /// Returns a wanted kind of step, or a kind that contains one.
    fn wanted_kind(&mut self, here: &Here) -> Option<u64> {
        if self.wanted.is_empty() || self.random.one_in(4) {
            return None;
        }
        let wanted = *self.random.choose(&self.wanted);
        Some(match wanted {
            Construct::Sequence => 8,
            Construct::Parallel | Construct::First | Construct::ParallelSkip => 9,
            Construct::Match => 12,
            _ if EACHES.contains(&wanted) => 14,
            Construct::LoopMax | Construct::LoopUntil => 16,
            Construct::Break | Construct::BreakTo | Construct::Exit | Construct::ExitTo
                if here.loops.is_empty() =>
            {
                16
            }
            Construct::Break | Construct::BreakTo => 7,
            Construct::Try | Construct::Else => 20,
            Construct::Workflow | Construct::WorkflowInstance | Construct::Default => 18,
            Construct::Await | Construct::AwaitDefault => 6,
            Construct::Before => 8,
            _ => 0,
        })
    }
}

/// Whether a key is a list after the `each` that writes it.
fn is_note(key: &Key) -> bool {
    NOTES.contains(key) || DEEP_NOTES.contains(key)
}

/// Returns a key of one of these pools.
fn key_from(random: &mut Random, pools: &[&'static [Key]]) -> Key {
    let pool = pools[random.below(pools.len() as u64) as usize];
    pool[random.below(pool.len() as u64) as usize]
}
