//! What the checker says of a workflow beside what can happen in it.

use super::grow::agents::waits;
use super::reference::{EXACT, Found, Relaxed, look};
use super::spec::{Store, spec};
use super::tree::{Block, ERROR, Flow, KEYS, Key, Kind, Node, OWN, all_written, has_prefix};
use adk_core::check::{Diagnostic, faults};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

/// How the two compare.
#[derive(Debug, Default)]
pub struct Verdict {
    /// The checker finds nothing.
    pub is_accepted: bool,
    /// Nothing goes wrong in any execution.
    pub is_sound: bool,
    /// Why the checker says more than what happens, and how often.
    pub rules: BTreeMap<&'static str, usize>,
    /// How many faults there are of each check.
    pub checks: BTreeMap<&'static str, usize>,
}

/// The rules that make the checker stricter than what can happen, each with the relaxation that stands for it.
const RULES: &[(&str, Relaxed)] = &[
    (
        "an agent that may end a loop may do so before its own write (rule 4)",
        Relaxed { early_exits: true, ..EXACT },
    ),
    (
        "code that never runs races and exits like any other (rule 5 is of keys)",
        Relaxed { dead_code: true, ..EXACT },
    ),
    ("a `state` of a nested workflow is read by it", Relaxed { states_are_read: true, ..EXACT }),
    (
        "an output of a nested workflow is written by it, also when it is there from the start",
        Relaxed { outputs_are_written: true, ..EXACT },
    ),
    (
        "a `state` of a nested workflow is not declared by the one around",
        Relaxed { states_inside: true, ..EXACT },
    ),
    (
        "what a nested workflow writes to the session is written perhaps",
        Relaxed { session_perhaps: true, ..EXACT },
    ),
    ("a renaming says that the key is there, so that something in the workflow has to write it", RENAMINGS),
    ("rounds are not counted", Relaxed { more_rounds: true, ..EXACT }),
    ("several of these together", ALL),
];
const RENAMINGS: Relaxed = Relaxed { renamings_count: true, ..EXACT };
const ALL: Relaxed = Relaxed {
    early_exits: true,
    dead_code: true,
    states_are_read: true,
    outputs_are_written: true,
    states_inside: true,
    session_perhaps: true,
    renamings_count: true,
    more_rounds: true,
};

/// Whether the checker accepts a workflow and all workflows in it.
pub fn accepts(flow: &Flow) -> bool {
    let store = Store::default();
    faults(&spec(flow, &store)).is_empty()
}

/// Compares them; an error is a disagreement that no rule explains.
pub fn judge(flow: &Flow) -> Result<Verdict, String> {
    let store = Store::default();
    let spec = spec(flow, &store);
    let told: Vec<_> = faults(&spec).into_iter().map(Told::new).collect();
    let found = look(flow, EXACT);
    // Two keys of a nested workflow that were made one are refused around it.
    let made_one = told
        .iter()
        .any(|told| told.check == "field-unknown" || told.message.contains(", and also uses the key `"));
    for (key, what) in &found.inside {
        if !made_one && !told.iter().any(|told| told.is_of(key)) {
            return Err(format!("nothing was said of a nested workflow, but {what}"));
        }
    }
    missed(&found, &told)?;
    let kept = kept(flow);
    if let Some(key) = kept.iter().find(|key| !told.iter().any(|told| told.is_of(key))) {
        return Err(format!("nothing is said of `{key}`, which a workflow inside keeps in the session"));
    }
    // What is refused by this rule is so wherever it applies.
    missed(&look(flow, RENAMINGS), &told)?;
    let (is_accepted, is_sound) = (told.is_empty(), found == Found::default());
    let mut verdict = Verdict { is_accepted, is_sound, ..Verdict::default() };
    let relaxed: Vec<_> = RULES.iter().map(|_| OnceCell::new()).collect();
    let mut explain = |told: &Told, holds: &dyn Fn(&Found) -> bool| -> Result<(), String> {
        if told.check == "wait-in-tool" && waits_in_tool(flow) {
            return Ok(());
        }
        let is_kept = told.check == "key-duplicate" && kept.iter().any(|key| told.is_of(key));
        if is_kept || holds(&found) {
            return Ok(());
        }
        if made_one && (told.check == "field-unknown" || told.message.contains(", and also uses the key `")) {
            *verdict.rules.entry("two keys that a nested workflow uses may not get one name").or_default() +=
                1;
            return Ok(());
        }
        for ((rule, relax), cell) in RULES.iter().zip(&relaxed) {
            if holds(cell.get_or_init(|| look(flow, *relax))) {
                *verdict.rules.entry(rule).or_default() += 1;
                return Ok(());
            }
        }
        Err(format!("no rule explains: {}", told.message))
    };
    for told in &told {
        explain(told, &|found| told.holds(found))?;
        explain(told, &|found| told.is_the_right_word(found))?;
    }
    for told in &told {
        *verdict.checks.entry(told.check).or_default() += 1;
    }
    Ok(verdict)
}

/// Whether something waits in a workflow that is a tool.
pub fn waits_in_tool(flow: &Flow) -> bool {
    let mut found = flow.definitions().iter().any(|inner| waits_in_tool(inner));
    flow.each(&mut |node| {
        found |= matches!(node, Node::Run(agent) if agent.called().any(|nested| waits(&nested.flow)));
    });
    found
}

/// The keys of a workflow that a workflow inside of it declares as `state`, and it does not.
fn kept(flow: &Flow) -> BTreeSet<Key> {
    let mut own: BTreeSet<_> = flow.inputs.iter().map(|(key, _)| *key).chain(flow.lets.clone()).collect();
    own.extend(all_written(&flow.body).iter().chain(&flow.outputs));
    own.extend(touched(&flow.body));
    let inside = flow.definitions().into_iter().flat_map(|inner| inner.states.clone());
    inside.filter(|key| own.contains(key) && !has_prefix(key) && !flow.states.contains(key)).collect()
}

/// The keys that nodes read, but for items, and the items that what is inside declares as `state`.
fn touched(nodes: &[Node]) -> Vec<Key> {
    let mut keys = Vec::new();
    for node in nodes {
        match node {
            Node::Run(agent) => {
                let agents = [agent].into_iter().chain(agent.below());
                keys.extend(agents.flat_map(|agent| &agent.reads).map(|read| read.key));
                for nested in agent.called().filter(|nested| !nested.is_requested()) {
                    keys.extend(nested.flow.inputs.iter().map(|(key, _)| nested.read(key)));
                }
            }
            Node::Nested(nested) => keys.extend(nested.flow.inputs.iter().map(|(key, _)| nested.read(key))),
            Node::Block(Block { kind, inside, .. }) => {
                let mut inner = touched(inside);
                match kind {
                    Kind::Match { key } => keys.push(key),
                    Kind::Loop { until, .. } => keys.extend(until),
                    Kind::Each { item, list, .. } => {
                        keys.push(list);
                        inner.retain(|key| key != item);
                        let body = Flow { body: inside.clone(), ..Flow::default() };
                        let keeps = body.definitions().iter().any(|inner| inner.states.contains(item));
                        keys.extend(keeps.then_some(*item));
                    }
                    _ => {}
                }
                keys.extend(inner);
            }
            Node::Break(_) | Node::Nothing => {}
        }
    }
    keys
}

/// A fault, taken apart.
struct Told {
    check: &'static str,
    node: String,
    /// The key, or the loop that an exit is for.
    name: Option<String>,
    message: String,
}

impl Told {
    fn new(fault: Diagnostic) -> Self {
        let before: &[&str] = match fault.check.name() {
            "key-missing" | "key-maybe-missing" | "key-race" => &[" reads `", " writes `"],
            "key-duplicate" => &[" keeps `", " reads `", "output `"],
            "key-type" => &[" reads `", " writes `", "output `", "but `", " in "],
            "output-missing" => &["output `"],
            "exit-outside-loop" => &["ends loop `", "may end loop `"],
            _ => &[],
        };
        let found = before.iter().filter_map(|word| Some(fault.message.find(word)? + word.len())).min();
        let name = found.and_then(|at| fault.message[at..].split('`').next()).map(str::to_owned);
        Self { check: fault.check.name(), node: fault.node, name, message: fault.message }
    }

    /// Whether it is one that is said once per key.
    fn is_of(&self, key: &str) -> bool {
        self.check != "exit-outside-loop" && self.name.as_deref() == Some(key)
    }

    /// Whether it happens.
    fn holds(&self, found: &Found) -> bool {
        let name = self.name.as_deref();
        match self.check {
            "key-missing" | "key-maybe-missing" => found.unwritten.contains_key(&self.place()),
            "key-race" => found.races.iter().any(|(key, one, _)| name == Some(key) && *one == self.node),
            "output-missing" => name.is_some_and(|key| found.outputs.contains(key)),
            "loop-endless" => found.endless.contains(&self.node),
            "exit-outside-loop" => {
                found.outside.iter().any(|(step, to)| *step == self.node && to.as_deref() == name)
            }
            // Types are not what this test is about.
            "key-type" => true,
            _ => false,
        }
    }

    /// Whether of `key-missing`, `key-maybe-missing` and `key-race` it is the right one.
    fn is_the_right_word(&self, found: &Found) -> bool {
        let ever = found.unwritten.get(&self.place()).copied();
        let name = self.name.as_deref();
        let contested = found.contested.iter().any(|(key, reader)| name == Some(key) && *reader == self.node);
        match self.check {
            "key-missing" => ever == Some(false) && !contested,
            "key-maybe-missing" => ever == Some(true) && !contested,
            _ => true,
        }
    }

    /// The step and the key.
    fn place(&self) -> (String, &'static str) {
        let key =
            KEYS.iter().chain([&OWN, &&[ERROR][..]]).flat_map(|keys| keys.iter()).find(|key| self.is_of(key));
        (self.node.clone(), key.copied().unwrap_or_default())
    }
}

/// What happens and is not told: one message per key is enough.
fn missed(found: &Found, told: &[Told]) -> Result<(), String> {
    let is_told = |key: &str| told.iter().any(|told| told.is_of(key));
    for (step, key) in found.unwritten.keys() {
        if !is_told(key) {
            return Err(format!("nothing is said of `{step}`, which may read `{key}` unwritten"));
        }
    }
    for (key, one, other) in &found.races {
        if !is_told(key) {
            return Err(format!("nothing is said of `{one}` and `{other}`, which race for `{key}`"));
        }
    }
    for key in &found.outputs {
        if !is_told(key) {
            return Err(format!("nothing is said of the output `{key}`, which may be unwritten"));
        }
    }
    for name in &found.endless {
        if !told.iter().any(|told| told.check == "loop-endless" && told.node == *name) {
            return Err(format!("nothing is said of `{name}`, which never ends"));
        }
    }
    for (step, to) in &found.outside {
        let is_it =
            |told: &&Told| told.check == "exit-outside-loop" && told.node == *step && told.name == *to;
        if !told.iter().any(|told| is_it(&told)) {
            return Err(format!("nothing is said of `{step}`, which ends a loop outside of one"));
        }
    }
    Ok(())
}
