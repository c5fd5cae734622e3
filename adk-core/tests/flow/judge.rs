//! Compares the findings of the checker with the possible executions of a workflow.

use super::grow::agents::waits;
use super::reference::{EXACT, Found, Relaxed, look};
use super::spec::{Store, spec};
use super::tree::{Block, ERROR, Flow, KEYS, Key, Kind, Node, OWN, all_written, has_prefix};
use adk_build::check::{Diagnostic, faults};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

/// The result of a comparison.
#[derive(Debug, Default)]
pub struct Verdict {
    /// Whether the checker finds nothing.
    pub is_accepted: bool,
    /// Whether no execution fails.
    pub is_sound: bool,
    /// The rules that explain findings without a failing execution, and their frequencies.
    pub rules: BTreeMap<&'static str, usize>,
    /// The number of faults of each check.
    pub checks: BTreeMap<&'static str, usize>,
}

/// The rules that make the checker stricter than the executions, each with its relaxation.
const RULES: &[(&str, Relaxed)] = &[
    (
        "an agent that may end a loop may end it before its own write (rule 4)",
        Relaxed {
            early_exits: true,
            ..EXACT
        },
    ),
    (
        "unreachable code counts for races and exits (rule 5 covers keys only)",
        Relaxed {
            dead_code: true,
            ..EXACT
        },
    ),
    (
        "a nested workflow reads its `state` keys",
        Relaxed {
            states_are_read: true,
            ..EXACT
        },
    ),
    (
        "a nested workflow writes its outputs, even those that exist from the start",
        Relaxed {
            outputs_are_written: true,
            ..EXACT
        },
    ),
    (
        "the enclosing workflow does not declare a `state` key of a nested workflow",
        Relaxed {
            states_inside: true,
            ..EXACT
        },
    ),
    (
        "writes of a nested workflow to the session are conditional",
        Relaxed {
            session_perhaps: true,
            ..EXACT
        },
    ),
    (
        "a renaming claims that the key exists, so the workflow must write it",
        RENAMINGS,
    ),
    (
        "rounds are not counted",
        Relaxed {
            more_rounds: true,
            ..EXACT
        },
    ),
    ("several of these rules together", ALL),
];
const RENAMINGS: Relaxed = Relaxed {
    renamings_count: true,
    ..EXACT
};
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

/// Compares checker and executions. An error is a disagreement that no rule explains.
pub fn judge(flow: &Flow) -> Result<Verdict, String> {
    let store = Store::default();
    let spec = spec(flow, &store);
    let reports: Vec<_> = faults(&spec).into_iter().map(Reported::new).collect();
    let found = look(flow, EXACT);
    // Renaming two keys of a nested workflow to one key is an error of the enclosing workflow.
    let made_one = reports.iter().any(|reports| {
        reports.check == "field-unknown" || reports.message.contains(", and also uses the key `")
    });
    for (key, what) in &found.inside {
        if !made_one && !reports.iter().any(|reports| reports.is_of(key)) {
            return Err(format!(
                "nothing is reported for a nested workflow, but {what}"
            ));
        }
    }
    missed(&found, &reports)?;
    let kept = undeclared_states(flow);
    if let Some(key) = kept
        .iter()
        .find(|key| !reports.iter().any(|reports| reports.is_of(key)))
    {
        return Err(format!(
            "nothing is reported for `{key}`, which a workflow inside keeps in the session"
        ));
    }
    // A renaming that claims a missing key must be reported, wherever the rule `renamings_count`
    // applies.
    missed(&look(flow, RENAMINGS), &reports)?;
    let (is_accepted, is_sound) = (reports.is_empty(), found == Found::default());
    let mut verdict = Verdict {
        is_accepted,
        is_sound,
        ..Verdict::default()
    };
    let relaxed: Vec<_> = RULES.iter().map(|_| OnceCell::new()).collect();
    let mut explain = |reports: &Reported, holds: &dyn Fn(&Found) -> bool| -> Result<(), String> {
        if reports.check == "wait-in-tool" && waits_in_tool(flow) {
            return Ok(());
        }
        let is_kept = reports.check == "key-duplicate" && kept.iter().any(|key| reports.is_of(key));
        if is_kept || holds(&found) {
            return Ok(());
        }
        if made_one
            && (reports.check == "field-unknown"
                || reports.message.contains(", and also uses the key `"))
        {
            *verdict
                .rules
                .entry("two keys of a nested workflow must not get one name")
                .or_default() += 1;
            return Ok(());
        }
        for ((rule, relax), cell) in RULES.iter().zip(&relaxed) {
            if holds(cell.get_or_init(|| look(flow, *relax))) {
                *verdict.rules.entry(rule).or_default() += 1;
                return Ok(());
            }
        }
        Err(format!("no rule explains: {}", reports.message))
    };
    for reports in &reports {
        explain(reports, &|found| reports.holds(found))?;
        explain(reports, &|found| reports.is_right_check(found))?;
    }
    for reports in &reports {
        *verdict.checks.entry(reports.check).or_default() += 1;
    }
    Ok(verdict)
}

/// Whether any step waits in a workflow that is a tool.
pub fn waits_in_tool(flow: &Flow) -> bool {
    let mut found = flow.definitions().iter().any(|inner| waits_in_tool(inner));
    flow.each(&mut |node| {
        found |=
            matches!(node, Node::Run(agent) if agent.called().any(|nested| waits(&nested.flow)));
    });
    found
}

/// Returns the keys that a nested workflow declares as `state` but this workflow does not.
fn undeclared_states(flow: &Flow) -> BTreeSet<Key> {
    let mut own: BTreeSet<_> = flow
        .inputs
        .iter()
        .map(|(key, _)| *key)
        .chain(flow.lets.clone())
        .collect();
    own.extend(all_written(&flow.body).iter().chain(&flow.outputs));
    own.extend(touched(&flow.body));
    let inside = flow
        .definitions()
        .into_iter()
        .flat_map(|inner| inner.states.clone());
    inside
        .filter(|key| own.contains(key) && !has_prefix(key) && !flow.states.contains(key))
        .collect()
}

/// Returns the keys that nodes read, except items, and the items that nested workflows declare as
/// `state`.
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
            Node::Nested(nested) => {
                keys.extend(nested.flow.inputs.iter().map(|(key, _)| nested.read(key)))
            }
            Node::Block(Block { kind, inside, .. }) => {
                let mut inner = touched(inside);
                match kind {
                    Kind::Match { key } => keys.push(key),
                    Kind::Loop { until, .. } => keys.extend(until),
                    Kind::Each { item, list, .. } => {
                        keys.push(list);
                        inner.retain(|key| key != item);
                        let body = Flow {
                            body: inside.clone(),
                            ..Flow::default()
                        };
                        let keeps = body
                            .definitions()
                            .iter()
                            .any(|inner| inner.states.contains(item));
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

/// A fault with its parsed parts.
struct Reported {
    check: &'static str,
    node: String,
    /// The key, or the loop that an exit targets.
    name: Option<String>,
    message: String,
}

impl Reported {
    fn new(fault: Diagnostic) -> Self {
        let before: &[&str] = match fault.check.name() {
            "key-missing" | "key-maybe-missing" | "key-race" => &[" reads `", " writes `"],
            "key-duplicate" => &[" keeps `", " reads `", "output `"],
            "key-type" => &[" reads `", " writes `", "output `", "but `", " in "],
            "output-missing" => &["output `"],
            "exit-outside-loop" => &["ends loop `", "may end loop `"],
            _ => &[],
        };
        let found = before
            .iter()
            .filter_map(|word| Some(fault.message.find(word)? + word.len()))
            .min();
        let name = found
            .and_then(|at| fault.message[at..].split('`').next())
            .map(str::to_owned);
        Self {
            check: fault.check.name(),
            node: fault.node,
            name,
            message: fault.message,
        }
    }

    /// Whether the fault is about this key. The name in a fault about an exit is a loop, not a key.
    fn is_of(&self, key: &str) -> bool {
        self.check != "exit-outside-loop" && self.name.as_deref() == Some(key)
    }

    /// Whether some execution shows the fault.
    fn holds(&self, found: &Found) -> bool {
        let name = self.name.as_deref();
        match self.check {
            "key-missing" | "key-maybe-missing" => found.unwritten.contains_key(&self.place()),
            "key-race" => found
                .races
                .iter()
                .any(|(key, one, _)| name == Some(key) && *one == self.node),
            "output-missing" => name.is_some_and(|key| found.outputs.contains(key)),
            "loop-endless" => found.endless.contains(&self.node),
            "exit-outside-loop" => found
                .outside
                .iter()
                .any(|(step, to)| *step == self.node && to.as_deref() == name),
            // This test does not cover types.
            "key-type" => true,
            _ => false,
        }
    }

    /// Whether the fault is the right one of `key-missing`, `key-maybe-missing` and `key-race`.
    fn is_right_check(&self, found: &Found) -> bool {
        let ever = found.unwritten.get(&self.place()).copied();
        let name = self.name.as_deref();
        let contested = found
            .contested
            .iter()
            .any(|(key, reader)| name == Some(key) && *reader == self.node);
        match self.check {
            "key-missing" => ever == Some(false) && !contested,
            "key-maybe-missing" => ever == Some(true) && !contested,
            _ => true,
        }
    }

    /// Returns the step and the key.
    fn place(&self) -> (String, &'static str) {
        let key = KEYS
            .iter()
            .chain([&OWN, &&[ERROR][..]])
            .flat_map(|keys| keys.iter())
            .find(|key| self.is_of(key));
        (self.node.clone(), key.copied().unwrap_or_default())
    }
}

/// Returns the first failure without a report. One report per key is enough.
fn missed(found: &Found, reports: &[Reported]) -> Result<(), String> {
    let is_reported = |key: &str| reports.iter().any(|reports| reports.is_of(key));
    for (step, key) in found.unwritten.keys() {
        if !is_reported(key) {
            return Err(format!(
                "nothing is reported for `{step}`, which may read `{key}` unwritten"
            ));
        }
    }
    for (key, one, other) in &found.races {
        if !is_reported(key) {
            return Err(format!(
                "nothing is reported for `{one}` and `{other}`, which race for `{key}`"
            ));
        }
    }
    for key in &found.outputs {
        if !is_reported(key) {
            return Err(format!(
                "nothing is reported for the output `{key}`, which may be unwritten"
            ));
        }
    }
    for name in &found.endless {
        if !reports
            .iter()
            .any(|reports| reports.check == "loop-endless" && reports.node == *name)
        {
            return Err(format!(
                "nothing is reported for `{name}`, which never ends"
            ));
        }
    }
    for (step, to) in &found.outside {
        let is_it = |reports: &&Reported| {
            reports.check == "exit-outside-loop" && reports.node == *step && reports.name == *to
        };
        if !reports.iter().any(|reports| is_it(&reports)) {
            return Err(format!(
                "nothing is reported for `{step}`, which ends a loop outside of one"
            ));
        }
    }
    Ok(())
}
