//! Labels and guards for a grown workflow. Each definition gets its labels from its name, so that
//! all its uses have the same.

use crate::random::Random;
use crate::tree::*;
use adk_build::__private::check::{SEES_ALL, SEES_MEMORY};
use adk_build::spec::{Conversation, Labels, OnError};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Decides the labels of a workflow.
pub struct Labeler {
    seed: u64,
    /// One in `rare` tools and functions has a label.
    rare: u64,
    strict: bool,
    /// Whether a question may show keys.
    asks: bool,
}

impl Labeler {
    /// Adds labels and guards. `asks` says whether a question may show keys.
    pub fn label(flow: &mut Flow, seed: u64, asks: bool) {
        let mut random = at(seed, "guards");
        let strict = random.one_in(8);
        let rare = *random.choose(&[1, 2, 2, 4]);
        let labeler = Self {
            seed,
            rare,
            strict,
            asks,
        };
        if !random.one_in(8) || strict {
            flow.guards = Some(guards(flow, &mut random, strict));
        }
        labeler.flow(flow);
    }

    fn flow(&self, flow: &mut Flow) {
        self.nodes(&mut flow.body);
    }

    fn nodes(&self, nodes: &mut Vec<Node>) {
        self.choose_by_answer(nodes);
        for node in nodes {
            match node {
                Node::Run(agent) => {
                    self.agent(agent, true);
                    agent.settle();
                }
                Node::Nested(nested) => self.flow(Arc::make_mut(&mut nested.flow)),
                Node::Block(block) => {
                    block.spelled = matches!(block.kind, Kind::Match { .. });
                    self.nodes(&mut block.inside);
                }
                Node::Break(_) | Node::Nothing => {}
            }
        }
    }

    /// Puts some steps behind an `await` into a `match` over its answer.
    fn choose_by_answer(&self, nodes: &mut [Node]) {
        for at_step in 1..nodes.len() {
            let (before, after) = nodes.split_at_mut(at_step);
            let Some(Node::Run(asks)) = before.last() else {
                continue;
            };
            let key = asks.writes.first().map_or("", |write| write.key);
            let mut random = at(self.seed, &format!("{} chooses", asks.name));
            let is_whole = !matches!(after[0], Node::Block(_) | Node::Nothing | Node::Break(_));
            if asks.patience.is_none()
                || type_of(key).starts_with("Vec")
                || !is_whole
                || !random.one_in(2)
            {
                continue;
            }
            let mut chosen = after[0].clone();
            let mut shown = asks.reads.iter().filter(|read| read.own.is_none());
            if let (Node::Run(agent), Some(read)) = (&mut chosen, shown.next())
                && agent.reads.iter().all(|other| other.key != read.key)
            {
                agent.reads.push(*read);
                agent.settle();
            }
            let mut inside = vec![chosen, Node::Nothing];
            if random.one_in(2) {
                inside.reverse();
            }
            after[0] = Node::Block(Block {
                name: format!("m_{}", asks.name),
                kind: Kind::Match { key },
                inside,
                skippable: false,
                on_error: OnError::Fail,
                spelled: true,
            });
        }
    }

    fn agent(&self, agent: &mut Agent, is_step: bool) {
        let mut random = at(self.seed, &agent.name);
        if agent.patience.is_some() {
            if !self.asks {
                agent.reads.clear();
            }
            let choices: &[&'static str] = match type_of(agent.writes[0].key) {
                "bool" => &["true", "false"],
                "String" => &["\"yes\"", "\"no\"", "\"other\""],
                _ => &["vec![]"],
            };
            if agent.patience == Some(Patience::Default) {
                agent.marks.default = random.choose::<&str>(choices);
            }
            return;
        }
        let may_ask = agent.writes.len() < 2
            && agent.leaves.is_empty()
            && agent.writes.iter().all(|write| !write.perhaps)
            && agent.reads.iter().all(|read| !is_secret(read.key))
            && agent.writes.iter().all(|write| !is_secret(write.key));
        if is_step && may_ask && !agent.model && random.one_in(2) {
            agent.model = true;
        }
        if agent.model {
            self.model(agent, &mut random);
        } else {
            agent.writes_first |= !random.one_in(8);
            let labels = [
                Labels::UNTRUSTED,
                Labels::PRIVATE,
                Labels::ACTS,
                Labels::SENDS,
                Labels::TRUSTS,
                Labels::TRUSTS,
                Labels::ACTS.and(Labels::SENDS),
                Labels::PRIVATE.and(Labels::ACTS),
                Labels::UNTRUSTED.and(Labels::SENDS),
            ];
            agent.marks.labels = self.labels(&labels, &mut random);
            if !agent.is_function() && agent.marks.labels.has(Labels::TRUSTS) {
                agent.marks.labels = Labels::LOCAL;
            } else if agent.is_function() && random.one_in(6) {
                agent.marks.labels = agent.marks.labels.and(SEES_ALL);
            }
        }
        for below in agent.targets.iter_mut().chain(&mut agent.helpers) {
            self.agent(below, false);
        }
        for nested in &mut agent.flows {
            self.flow(Arc::make_mut(&mut nested.flow));
        }
    }

    fn model(&self, agent: &mut Agent, random: &mut Random) {
        let marks = &mut agent.marks;
        marks.shows = *random.choose(&[
            Conversation::Shown,
            Conversation::Shown,
            Conversation::CurrentTurn,
            Conversation::Hidden,
        ]);
        marks.tool = self.tool("tool".to_owned(), random);
        for n in 0..*random.choose(&[0, 1, 1, 2]) {
            let mut tool = self.tool(format!("{}_t{n}", agent.name), random);
            if random.one_in(12) {
                let more = *random.choose(&[SEES_ALL, SEES_MEMORY]);
                tool.labels = tool.labels.and(more);
            }
            marks.tools.push(tool);
        }
        if agent.toolset {
            let all = [
                Labels::UNTRUSTED,
                Labels::PRIVATE,
                Labels::ACTS,
                Labels::SENDS,
            ];
            marks.labels = self.labels(&all, random);
            if !random.one_in(4) {
                marks.labels = marks.labels.and(Labels::LOCAL);
            }
        }
        if random.one_in(16) {
            marks.labels = marks.labels.and(SEES_ALL);
        }
    }

    fn tool(&self, name: String, random: &mut Random) -> MarkedTool {
        let labels = [
            Labels::UNTRUSTED,
            Labels::PRIVATE,
            Labels::ACTS,
            Labels::ACTS,
            Labels::SENDS,
            Labels::SENDS,
            Labels::UNTRUSTED.and(Labels::SENDS),
            Labels::UNTRUSTED.and(Labels::PRIVATE),
            Labels::PRIVATE.and(Labels::ACTS),
            Labels::ACTS.and(Labels::SENDS),
        ];
        let labels = self.labels(&labels, random);
        let consent = match random.below(12) {
            0 => Consent::Each,
            1 => Consent::Some,
            _ => Consent::No,
        };
        MarkedTool {
            name,
            labels,
            consent,
        }
    }

    fn labels(&self, some: &[Labels], random: &mut Random) -> Labels {
        if random.one_in(self.rare) {
            *random.choose(some)
        } else if self.strict && !random.one_in(16) || random.one_in(4) {
            Labels::LOCAL
        } else {
            Labels::NONE
        }
    }
}

/// Removes all labels and guards, and returns the labels by agent.
pub fn strip(flow: &mut Flow) -> BTreeMap<String, Marks> {
    let all = labels_of(flow);
    flow.guards = None;
    each_agent(&mut flow.body, &mut |agent| {
        let marks = &mut agent.marks;
        marks.labels = Labels::NONE;
        for tool in marks.tools.iter_mut().chain([&mut marks.tool]) {
            (tool.labels, tool.consent) = (Labels::NONE, Consent::No);
        }
    });
    all
}

/// Removes the consents of tools, so that no call waits.
pub fn forget_consents(flow: &mut Flow) {
    each_agent(&mut flow.body, &mut |agent| {
        let marks = &mut agent.marks;
        for tool in marks.tools.iter_mut().chain([&mut marks.tool]) {
            tool.consent = Consent::No;
        }
    });
}

/// Returns the labels by agent.
pub fn labels_of(flow: &Flow) -> BTreeMap<String, Marks> {
    let mut all = BTreeMap::new();
    each_agent(&mut flow.clone().body, &mut |agent| {
        all.insert(agent.name.clone(), agent.marks.clone());
    });
    all
}

fn each_agent(nodes: &mut [Node], visit: &mut dyn FnMut(&mut Agent)) {
    for node in nodes {
        match node {
            Node::Run(agent) => visit_agent(agent, visit),
            Node::Nested(nested) => each_agent(&mut Arc::make_mut(&mut nested.flow).body, visit),
            Node::Block(block) => each_agent(&mut block.inside, visit),
            Node::Break(_) | Node::Nothing => {}
        }
    }
}

fn visit_agent(agent: &mut Agent, visit: &mut dyn FnMut(&mut Agent)) {
    visit(agent);
    for below in agent.targets.iter_mut().chain(&mut agent.helpers) {
        visit_agent(below, visit);
    }
    for nested in &mut agent.flows {
        each_agent(&mut Arc::make_mut(&mut nested.flow).body, visit);
    }
}

fn guards(flow: &Flow, random: &mut Random, strict: bool) -> Guarding {
    let declared = flow.inputs.iter().map(|(key, _)| key).chain(&flow.states);
    let mut keys: Vec<_> = declared.copied().collect();
    flow.each(&mut |node| {
        if let Node::Run(agent) = node {
            let reads = agent.reads.iter().map(|read| read.key);
            keys.extend(reads.filter(|key| has_prefix(key) && !key.starts_with("temp:")));
        }
    });
    keys.sort_unstable();
    keys.dedup();
    let one_in = *random.choose(&[2, 4, 8]);
    let mut some = || -> Vec<Key> {
        let mut some = keys.clone();
        some.retain(|_| random.one_in(one_in));
        some
    };
    let (mut untrusted, private) = (some(), some());
    if random.one_in(6) {
        untrusted.push("user");
    }
    Guarding {
        untrusted,
        private,
        fresh: random.one_in(4),
        strict,
    }
}

/// Returns random numbers for a name.
pub fn at(seed: u64, name: &str) -> Random {
    let start = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    Random::new(name.bytes().fold(start, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    }))
}
