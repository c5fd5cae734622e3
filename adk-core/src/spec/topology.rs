//! The shape of a workflow, as it is kept with a run: what a run that is taken up again has to fit.

use super::{AgentKind, AgentMeta, KeySpec, Node, NodeKind, Spec};
use serde::{Deserialize, Serialize};

/// The shape of a workflow: its nodes in source order, one line each, indented by their depth.
///
/// In it are kinds, names, the keys that workflows begin with (inputs and `let`), that nodes write and choose by, and what
/// stands in what. Not in it are prompts, descriptions, models, settings, tools, the values of `let` and of defaults, and the
/// most rounds and branches: those may change while a run waits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Topology(Vec<String>);

impl Topology {
    /// The shape of an agent: for a workflow all that is in it.
    pub fn of(root: &AgentMeta<'_>) -> Self {
        let mut nodes = Spec::new(root.name, "", root.steps).nodes();
        nodes[0].begins = begins(root);
        Self(nodes.iter().map(line).collect())
    }

    /// A hash of it that is the same in every build and on every machine (FNV-1a, 64 bits).
    pub fn hash(&self) -> u64 {
        let bytes = self.0.iter().flat_map(|line| line.bytes().chain([b'\n']));
        bytes
            .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
    }

    /// Whether a run of this shape can go on with one of the other: they are equal, or the other has more steps at the
    /// end of the workflow's body, which may be one sequence, as in trees that were built at run time.
    pub fn fits(&self, now: &Self) -> bool {
        let Some(added) = now.0.strip_prefix(&self.0[..]) else { return false };
        added.first().is_none_or(|line| depth(line) <= now.body())
    }

    /// How deep the steps of the body stand.
    fn body(&self) -> usize {
        let mut top = self.0.iter().filter(|line| depth(line) == 1);
        let is_sequence = top.next().is_some_and(|line| line.trim_start().starts_with("sequence "));
        if is_sequence && top.next().is_none() { 2 } else { 1 }
    }

    /// What is different: lines that are gone begin with `-`, new ones with `+`. They are indented as they stand in each
    /// other, so that a node that has moved into a block shows it.
    ///
    /// ```
    /// # use adk_core as adk;
    /// # use adk::spec::{Step, StepKind, Topology};
    /// # use adk::{AgentKind, AgentMeta};
    /// # const CRITIC: AgentMeta<'static> = AgentMeta::custom("critic");
    /// let steps = |name| [Step::new(name, StepKind::Agent { meta: &CRITIC, instance: false }, 0)];
    /// let (then, now) = (steps("critic"), steps("judge"));
    /// let shape = |steps| Topology::of(&AgentMeta::new(AgentKind::Workflow, "writing").steps(steps));
    /// assert_eq!(shape(&then).diff(&shape(&now)), "- custom critic\n+ custom judge");
    /// ```
    pub fn diff(&self, now: &Self) -> String {
        let same = self.0.iter().zip(&now.0).take_while(|(a, b)| a == b).count();
        let (then, now) = (&self.0[same..], &now.0[same..]);
        let tail = then.iter().rev().zip(now.iter().rev()).take_while(|(a, b)| a == b).count();
        let (then, now) = (&then[..then.len() - tail], &now[..now.len() - tail]);
        let kept = kept(then, now);
        let (mut lines, mut from) = (Vec::new(), (0, 0));
        for (a, b) in kept.into_iter().chain([(then.len(), now.len())]) {
            lines.extend(then[from.0..a].iter().map(|line| shown('-', line)));
            lines.extend(now[from.1..b].iter().map(|line| shown('+', line)));
            from = (a + 1, b + 1);
        }
        lines.join("\n")
    }
}

/// The keys that a workflow begins with: a run that was begun without one of them has no value for it.
pub(super) fn begins<'a>(meta: &AgentMeta<'a>) -> Vec<&'a str> {
    if meta.kind != AgentKind::Workflow {
        return Vec::new();
    }
    // A tree that was built at run time reads what it needs of the session, and has no inputs.
    let is_state = |key: &KeySpec<'_>| meta.states.iter().any(|state| state.name == key.name);
    let inputs = meta.reads.iter().filter(|key| !is_state(key));
    let mut keys: Vec<_> = inputs.chain(meta.lets).map(|key| key.name).collect();
    // Their order is that of the source, and means nothing.
    keys.sort_unstable();
    keys
}

/// More pairs of lines than these are not compared: all of them are told.
const MOST: usize = 4_000_000;

/// The places of the longest list of lines that are in both, in this order.
fn kept(then: &[String], now: &[String]) -> Vec<(usize, usize)> {
    let width = now.len() + 1;
    if then.len().saturating_mul(now.len()) > MOST {
        return Vec::new();
    }
    // How many the rest of both has in common, from each place on.
    let mut common = vec![0_u32; (then.len() + 1) * width];
    for a in (0..then.len()).rev() {
        for b in (0..now.len()).rev() {
            common[a * width + b] = match then[a] == now[b] {
                true => common[(a + 1) * width + b + 1] + 1,
                false => common[(a + 1) * width + b].max(common[a * width + b + 1]),
            };
        }
    }
    let (mut a, mut b, mut places) = (0, 0, Vec::new());
    while a < then.len() && b < now.len() {
        if then[a] == now[b] {
            places.push((a, b));
            (a, b) = (a + 1, b + 1);
        } else if common[(a + 1) * width + b] >= common[a * width + b + 1] {
            a += 1;
        } else {
            b += 1;
        }
    }
    places
}

/// The nodes of the body stand at the margin.
fn shown(sign: char, line: &str) -> String {
    format!("{sign} {}", line.strip_prefix("  ").unwrap_or(line))
}

fn depth(line: &str) -> usize {
    (line.len() - line.trim_start().len()) / 2
}

fn line(node: &Node<'_>) -> String {
    let mut line = "  ".repeat(node.depth);
    line.push_str(match node.kind {
        NodeKind::Workflow => "workflow",
        NodeKind::Llm => "llm",
        NodeKind::Function => "function",
        NodeKind::Custom => "custom",
        NodeKind::Await => "await",
        NodeKind::Sequence => "sequence",
        NodeKind::Parallel => "parallel",
        NodeKind::Match => "match",
        NodeKind::Arm => "arm",
        NodeKind::Each => "each",
        NodeKind::Loop => "loop",
        NodeKind::Break => "break",
    });
    let choices = [node.until, node.key, node.pattern, node.item, node.list];
    let words = std::iter::once(&*node.name).chain(choices.into_iter().flatten()).chain(
        matches!(node.kind, NodeKind::Break).then_some(&node.exits[..]).unwrap_or_default().iter().copied(),
    );
    for word in words.filter(|word| !word.is_empty()) {
        line.push(' ');
        line.push_str(word);
    }
    for key in &node.begins {
        line.push_str(" <- ");
        line.push_str(key);
    }
    // The outputs of the root are what its agents write.
    if node.depth > 0 {
        for key in &*node.writes {
            line.push_str(" -> ");
            line.push_str(key.name);
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(lines: &[&str]) -> Topology {
        Topology(lines.iter().map(|line| (*line).to_owned()).collect())
    }

    #[test]
    fn a_step_may_be_added_at_the_end_of_the_body_alone() {
        let old = shape(&["workflow w", "  loop l", "    custom a"]);
        assert!(old.fits(&old));
        assert!(old.fits(&shape(&["workflow w", "  loop l", "    custom a", "  custom b"])));
        assert!(!old.fits(&shape(&["workflow w", "  loop l", "    custom a", "    custom b"])));
        assert!(!old.fits(&shape(&["workflow w", "  loop l"])));
        assert!(!old.fits(&shape(&["workflow w", "  custom b", "  loop l", "    custom a"])));
        // The body of a tree that was built is one sequence.
        let old = shape(&["workflow w", "  sequence w", "    loop l", "      custom a"]);
        let then = |more: &[&str]| {
            shape(&[&["workflow w", "  sequence w", "    loop l", "      custom a"], more].concat())
        };
        assert!(old.fits(&then(&["    custom b"])) && old.fits(&then(&["    loop m", "      custom b"])));
        assert!(
            !old.fits(&then(&["      custom b"])) && !old.fits(&then(&["      custom b", "    custom c"]))
        );
    }

    #[test]
    fn a_difference_shows_what_is_gone_and_what_is_new() {
        let old = shape(&["workflow w", "  custom a", "  custom b", "  custom z"]);
        let new = shape(&["workflow w", "  custom c", "  custom z"]);
        assert_eq!(old.diff(&new), "- custom a\n- custom b\n+ custom c");
        assert_eq!(old.diff(&old), "");
        assert_ne!(old.hash(), new.hash());
    }

    #[test]
    fn a_difference_shows_no_more_than_that_and_what_stands_in_what() {
        let old = shape(&["workflow w", "  custom a", "  custom b", "  custom c", "  custom d"]);
        let new = shape(&[
            "workflow w",
            "  custom x",
            "  custom b",
            "  loop l",
            "    custom c",
            "  custom d",
            "  custom e",
        ]);
        assert_eq!(old.diff(&new), "- custom a\n+ custom x\n- custom c\n+ loop l\n+   custom c\n+ custom e");
        let swapped = shape(&["workflow w", "  custom b", "  custom a", "  custom c", "  custom d"]);
        assert_eq!(old.diff(&swapped), "- custom a\n+ custom a");
    }
}
