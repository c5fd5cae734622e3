//! [`Topology`]: the shape of a workflow. A run keeps it, and can be resumed only by a workflow of
//! a fitting shape.

use adk_spec::spec::{AgentMeta, KeySpec, Node, NodeKind, Spec, ValueSchema};
use serde::de::IntoDeserializer;
use serde::de::value::StrDeserializer;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::any::TypeId;

/// The shape of a workflow: its nodes in source order with their depths and kinds, and the types of
/// their keys. It is stored and shown as one line for each node, indented by its depth.
///
/// The shape contains kinds, names and the nesting of nodes, the keys that workflows begin with
/// (inputs and `let`), and the keys that nodes write or decide by (as `match` and `until` do). It
/// does not contain prompts, descriptions, models, settings, tools, the values of `let` and of
/// defaults, nor the limits of rounds and branches: those may change while a run waits.
///
/// Types are part of the shape for inputs, for `let` and `state` keys, for the keys that nodes
/// write, and for the keys that functions and custom agents read. A type is compared as it is
/// written; a tree that was built at run time has the full name that the compiler gives the type.
/// An awaited value and the answer of a model must also have the same JSON schema, apart from
/// descriptions and order: one more field or variant is a change. The shape does not see such a
/// change in a type that only functions write.
///
/// A type may become wider: `Option<T>` accepts a former `T`, and `serde_json::Value` accepts any
/// former type, but not the reverse. A key that is read must keep its type. Reads may be added and
/// removed, because prompts may change. A shape that was recorded without types fits any types.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Topology(Vec<TopologyNode>);

impl Topology {
    /// Returns the shape of an agent. The shape of a workflow includes all nodes inside it.
    pub fn of(root: &AgentMeta<'_>) -> Self {
        // `built` leaves out the prefixes inside transfer targets, which stored shapes do not have.
        let mut nodes = Spec::new(root.name, "", root.steps).built().nodes();
        let own = &mut nodes[0];
        own.begins = root.begins();
        own.states = root.states;
        own.writes = root.writes.into();
        own.schema = root.schema;
        Self(nodes.iter().map(TopologyNode::from_node).collect())
    }

    /// Returns a hash of the shape (FNV-1a, 64 bits), equal in every build and on every machine.
    pub fn hash(&self) -> u64 {
        let texts = self.0.iter().map(|node| {
            let keys: Vec<_> = node.keys.iter().map(|key| format!("{key:?}")).collect();
            format!("{}\n{}", node.line(), keys.concat())
        });
        fnv(FNV, texts.flat_map(String::into_bytes))
    }

    /// Returns hashes of the shapes whose branches this shape can execute. The hashes are ordered
    /// by the number of steps at the end of the body; its own hash is last.
    ///
    /// The hashes are equal in every build and on every machine, and do not cover the types of
    /// keys. A remote branch finds a process that can execute it by such a hash. The list is empty
    /// for a shape without `parallel` and `each`.
    pub fn lineage(&self) -> Vec<u64> {
        let (mut all, mut hash, mut has_branches) = (Vec::new(), FNV, false);
        for (at, node) in self.0.iter().enumerate() {
            hash = fnv(hash, node.line().bytes().chain([b'\n']));
            has_branches |= matches!(node.kind, Some(NodeKind::Parallel | NodeKind::Each));
            let next = self.0.get(at + 1);
            let is_shape = next.is_none_or(|next| next.depth <= self.body());
            if has_branches && is_shape {
                all.push(hash);
            }
        }
        all
    }

    /// Returns true if a run of this shape can continue with the shape `now`: the shapes are equal
    /// and their types fit, or `now` has more steps at the end of the body. The body may be one
    /// sequence, as in trees that were built at run time.
    pub fn fits(&self, now: &Self) -> bool {
        let Some((own, added)) = now.0.split_at_checked(self.0.len()) else {
            return false;
        };
        self.0.iter().zip(own).all(|(then, now)| then.fits(now))
            && added.first().is_none_or(|node| node.depth <= now.body())
    }

    /// Returns the nesting depth at which the steps of the workflow's body are listed.
    fn body(&self) -> usize {
        let mut top = self.0.iter().filter(|node| node.depth == 1);
        let is_sequence = top
            .next()
            .is_some_and(|node| node.kind == Some(NodeKind::Sequence));
        if is_sequence && top.next().is_none() {
            2
        } else {
            1
        }
    }

    /// Describes the difference: removed lines begin with `-`, new lines with `+`. Lines are
    /// indented by their nesting, which shows a node that has moved into a block. Keys whose types
    /// do not fit begin with `~`.
    ///
    /// ```
    /// # use adk_build as adk;
    /// # use adk::spec::{Step, StepKind, Topology};
    /// # use adk::{AgentKind, AgentMeta};
    /// # const CRITIC: AgentMeta<'static> = AgentMeta::custom("critic");
    /// let steps = |name| [Step::new(name, StepKind::Agent { meta: &CRITIC, instance: false }, 0)];
    /// let (then, now) = (steps("critic"), steps("judge"));
    /// let meta = |steps| AgentMeta::new(AgentKind::Workflow, "writing").steps(steps);
    /// let shape = |steps| Topology::of(&meta(steps));
    /// assert_eq!(shape(&then).diff(&shape(&now)), "- custom critic\n+ custom judge");
    /// ```
    pub fn diff(&self, now: &Self) -> String {
        let (then, now) = (&self.0[..], &now.0[..]);
        let is_same = |(a, b): &(&TopologyNode, &TopologyNode)| a.is_same(b);
        let head = then.iter().zip(now).take_while(is_same).count();
        let rest = then[head..].iter().rev().zip(now[head..].iter().rev());
        let tail = rest.take_while(is_same).count();
        let kept = common_nodes(&then[head..then.len() - tail], &now[head..now.len() - tail]);
        let kept = (0..head)
            .map(|at| (at, at))
            .chain(kept.into_iter().map(|(a, b)| (head + a, head + b)));
        let tail = (0..=tail)
            .rev()
            .map(|back| (then.len() - back, now.len() - back));
        let (mut lines, mut from) = (Vec::new(), (0, 0));
        for (a, b) in kept.chain(tail) {
            lines.extend(then[from.0..a].iter().map(|node| node.diff_line('-')));
            lines.extend(now[from.1..b].iter().map(|node| node.diff_line('+')));
            if let (Some(then), Some(now)) = (then.get(a), now.get(b)) {
                for change in then.type_changes(now) {
                    // Several agents may write the key; report it once.
                    if !lines.contains(&change) {
                        lines.push(change);
                    }
                }
            }
            from = (a + 1, b + 1);
        }
        lines.join("\n")
    }
}

/// FNV-1a, 64 bits.
const FNV: u64 = 0xcbf2_9ce4_8422_2325;

fn fnv(hash: u64, bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(hash, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// A node with the types of its keys.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "TopologyLine", into = "TopologyLine")]
struct TopologyNode {
    depth: usize,
    /// The kind; `None` for a kind of a newer version.
    kind: Option<NodeKind>,
    /// The kind, the name, the choices and the keys of the node.
    text: String,
    keys: Vec<TopologyKey>,
}

/// The stored form of a node: one line, indented by its depth.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum TopologyLine {
    /// A node without keys, or one that was recorded before types were.
    Plain(String),
    Typed {
        line: String,
        keys: Vec<TopologyKey>,
    },
}

impl From<TopologyLine> for TopologyNode {
    fn from(stored: TopologyLine) -> Self {
        let (line, keys) = match stored {
            TopologyLine::Plain(line) => (line, Vec::new()),
            TopologyLine::Typed { line, keys } => (line, keys),
        };
        let text = line.trim_start_matches(' ');
        let kind = text.split(' ').next().unwrap_or_default();
        let kind: StrDeserializer<'_, serde::de::value::Error> = kind.into_deserializer();
        Self {
            depth: (line.len() - text.len()) / 2,
            kind: NodeKind::deserialize(kind).ok(),
            text: text.to_owned(),
            keys,
        }
    }
}

impl From<TopologyNode> for TopologyLine {
    fn from(node: TopologyNode) -> Self {
        let line = node.line();
        if node.keys.is_empty() {
            Self::Plain(line)
        } else {
            let keys = node.keys;
            Self::Typed { line, keys }
        }
    }
}

impl TopologyNode {
    fn from_node(node: &Node<'_>) -> Self {
        Self {
            depth: node.depth,
            kind: Some(node.kind),
            text: text(node),
            keys: keys(node),
        }
    }

    fn line(&self) -> String {
        format!("{}{}", "  ".repeat(self.depth), self.text)
    }

    /// Returns one line of a difference. The nodes of the body begin at the margin.
    fn diff_line(&self, sign: char) -> String {
        let indent = "  ".repeat(self.depth.saturating_sub(1));
        format!("{sign} {indent}{}", self.text)
    }

    /// Returns whether both nodes are equal apart from types.
    fn is_same(&self, other: &Self) -> bool {
        self.depth == other.depth && self.text == other.text
    }

    /// Returns the keys of both nodes whose types do not fit.
    fn mismatches<'a>(
        &'a self,
        now: &'a Self,
    ) -> impl Iterator<Item = (&'a TopologyKey, &'a TopologyKey)> {
        let both = self.keys.iter().filter_map(|then| {
            let is_same = |now: &&TopologyKey| now.role == then.role && now.name == then.name;
            Some((then, now.keys.iter().find(is_same)?))
        });
        both.filter(|(then, now)| !then.fits(now))
    }

    fn fits(&self, now: &Self) -> bool {
        self.is_same(now) && self.mismatches(now).next().is_none()
    }

    /// Describes the changes in the types of the keys, one line each.
    fn type_changes(&self, now: &Self) -> Vec<String> {
        let changes =
            self.mismatches(now)
                .map(|(then, now)| match (then.type_text(), now.type_text()) {
                    (then_type, now_type) if then_type == now_type => {
                        format!(
                            "~ {}: {now_type}, which has other fields or variants now",
                            now.name
                        )
                    }
                    (then_type, now_type) => format!("~ {}: {then_type} -> {now_type}", now.name),
                });
        changes.collect()
    }
}

/// A key of a node with its type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct TopologyKey {
    #[serde(rename = "as")]
    role: KeyRole,
    #[serde(rename = "key")]
    name: String,
    /// The type as it is written, without references and without an enclosing `Option`.
    #[serde(rename = "type")]
    ty: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    optional: bool,
    /// The hash of the JSON schema, for a value that a model or a person gives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    schema: Option<u64>,
}

/// The use that a node makes of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum KeyRole {
    Begins,
    Needs,
    Reads,
    Writes,
}

/// The type that takes any value.
const ANY: &str = "serde_json::Value";

impl TopologyKey {
    fn new(role: KeyRole, key: &KeySpec<'_>, schema: Option<u64>) -> Self {
        let (ty, is_option) = owned_type(key.ty);
        let is_any = key.any || key.type_id() == Some(TypeId::of::<Value>());
        let ty = if is_any { ANY.to_owned() } else { ty };
        // An input with a default has a value since the run began.
        let optional = is_option || key.optional && role != KeyRole::Begins;
        Self {
            role,
            name: key.name.to_owned(),
            ty,
            optional,
            schema,
        }
    }

    fn fits(&self, now: &Self) -> bool {
        let is_wider = now.ty == ANY || now.ty == self.ty && (now.optional || !self.optional);
        is_wider
            && self
                .schema
                .zip(now.schema)
                .is_none_or(|(then, now)| then == now)
    }

    fn type_text(&self) -> String {
        if self.optional {
            format!("Option<{}>", self.ty)
        } else {
            self.ty.clone()
        }
    }
}

/// Returns the owned type of a key, and true if the key is an `Option`.
fn owned_type(ty: &str) -> (String, bool) {
    let ty = ty.trim_start_matches('&');
    let options = ["Option<", "std::option::Option<", "core::option::Option<"];
    let inside = options
        .iter()
        .find_map(|option| ty.strip_prefix(option)?.strip_suffix('>'));
    let own = inside.unwrap_or(ty).trim_start_matches('&');
    let own = match own
        .strip_prefix('[')
        .and_then(|list| list.strip_suffix(']'))
    {
        _ if own == "str" => "String".to_owned(),
        // `[T; N]` is an owned type.
        Some(element) if !element.contains(';') => format!("Vec<{element}>"),
        _ => own.to_owned(),
    };
    (own, inside.is_some())
}

/// Returns the keys of a node, without those that prompts read: prompts may change.
fn keys(node: &Node<'_>) -> Vec<TopologyKey> {
    let reads = match node.kind {
        NodeKind::Function | NodeKind::Custom => &node.reads[..],
        _ => &[],
    };
    let schema = node.schema.map(ValueSchema::hash);
    let roles = [
        (KeyRole::Begins, &node.begins[..]),
        (KeyRole::Needs, node.states),
        (KeyRole::Reads, reads),
        (KeyRole::Writes, &node.writes[..]),
    ];
    let all = roles
        .into_iter()
        .flat_map(|(role, keys)| keys.iter().map(move |key| (role, key)));
    all.map(|(role, key)| TopologyKey::new(role, key, schema.filter(|_| role == KeyRole::Writes)))
        .collect()
}

/// The largest number of pairs that a difference compares. Above it, all nodes are reported.
const MAX_PAIRS: usize = 4_000_000;

/// Returns the positions of the longest common subsequence of two lists of nodes.
fn common_nodes(then: &[TopologyNode], now: &[TopologyNode]) -> Vec<(usize, usize)> {
    let is_same = |a: usize, b: usize| then[a].is_same(&now[b]);
    let width = now.len() + 1;
    if then.len().saturating_mul(now.len()) > MAX_PAIRS {
        return Vec::new();
    }
    // `common[a * width + b]` is the length of the longest common subsequence of `then[a..]` and
    // `now[b..]`.
    let mut common = vec![0_u32; (then.len() + 1) * width];
    for a in (0..then.len()).rev() {
        for b in (0..now.len()).rev() {
            common[a * width + b] = if is_same(a, b) {
                common[(a + 1) * width + b + 1] + 1
            } else {
                common[(a + 1) * width + b].max(common[a * width + b + 1])
            };
        }
    }
    let (mut a, mut b, mut places) = (0, 0, Vec::new());
    while a < then.len() && b < now.len() {
        if is_same(a, b) {
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

/// Returns the text of a node, which is equal in every version.
fn text(node: &Node<'_>) -> String {
    let mut text = String::from(match node.kind {
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
        NodeKind::Try => "try",
        NodeKind::Else => "else",
        NodeKind::Break => "break",
    });
    let first = node.first.then_some("first");
    let choices = [
        node.until,
        node.key,
        node.pattern,
        node.item,
        node.list,
        first,
    ];
    let words = std::iter::once(&*node.name)
        .chain(choices.into_iter().flatten())
        .chain(
            matches!(node.kind, NodeKind::Break)
                .then_some(&node.exits[..])
                .unwrap_or_default()
                .iter()
                .copied(),
        );
    for word in words.filter(|word| !word.is_empty()) {
        text.push(' ');
        text.push_str(word);
    }
    for key in &node.begins {
        text.push_str(" <- ");
        text.push_str(key.name);
    }
    // The root has no written keys in its text: its outputs are keys that its agents write.
    if node.depth > 0 {
        for key in &*node.writes {
            text.push_str(" -> ");
            text.push_str(key.name);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use adk_spec::spec::{AgentKind, Step, StepKind};

    fn shape(lines: &[&str]) -> Topology {
        Topology(
            lines
                .iter()
                .map(|line| TopologyLine::Plain((*line).to_owned()).into())
                .collect(),
        )
    }

    #[test]
    fn a_step_may_be_added_only_at_the_end_of_the_body() {
        let old = shape(&["workflow w", "  loop l", "    custom a"]);
        assert!(old.fits(&old));
        assert!(old.fits(&shape(&[
            "workflow w",
            "  loop l",
            "    custom a",
            "  custom b"
        ])));
        assert!(!old.fits(&shape(&[
            "workflow w",
            "  loop l",
            "    custom a",
            "    custom b"
        ])));
        assert!(!old.fits(&shape(&["workflow w", "  loop l"])));
        assert!(!old.fits(&shape(&[
            "workflow w",
            "  custom b",
            "  loop l",
            "    custom a"
        ])));
        // The body of a tree that was built is one sequence.
        let old = shape(&["workflow w", "  sequence w", "    loop l", "      custom a"]);
        let then = |more: &[&str]| {
            shape(
                &[
                    &["workflow w", "  sequence w", "    loop l", "      custom a"],
                    more,
                ]
                .concat(),
            )
        };
        assert!(
            old.fits(&then(&["    custom b"]))
                && old.fits(&then(&["    loop m", "      custom b"]))
        );
        assert!(
            !old.fits(&then(&["      custom b"]))
                && !old.fits(&then(&["      custom b", "    custom c"]))
        );
    }

    #[test]
    fn a_shape_has_the_hashes_of_the_shapes_that_it_fits() {
        let lines = [
            "workflow w",
            "  custom a",
            "  parallel p",
            "    custom b",
            "    custom c",
            "  loop l",
            "    each e",
        ];
        let whole = shape(&lines);
        let lineage = |len: usize| shape(&lines[..len]).lineage();
        assert!(lineage(2).is_empty());
        // Only the parts that end with a concurrent block count: up to `parallel p`, and up to
        // `loop l`, which contains the `each`.
        assert_eq!(whole.lineage(), [lineage(5)[0], lineage(7)[1]]);
        for len in 1..=lines.len() {
            let then = shape(&lines[..len]);
            let is_there = then
                .lineage()
                .last()
                .is_some_and(|own| whole.lineage().contains(own));
            assert_eq!(is_there, then.fits(&whole) && len > 2, "{len}");
        }
        let other = shape(&[
            "workflow w",
            "  custom a",
            "  parallel q",
            "    custom b",
            "    custom c",
        ]);
        assert_ne!(other.lineage(), lineage(5));
    }

    fn leak<T>(value: T) -> &'static T {
        Box::leak(Box::new(value))
    }

    /// A workflow with one agent.
    fn workflow_of(agent: AgentMeta<'static>) -> AgentMeta<'static> {
        let step = Step::new(
            agent.name,
            StepKind::Agent {
                meta: leak(agent),
                instance: false,
            },
            0,
        );
        AgentMeta::new(AgentKind::Workflow, "w").steps(leak([step]))
    }

    /// Returns the shape of a workflow whose agent reads one key and writes another.
    fn typed(reads: KeySpec<'static>, writes: KeySpec<'static>) -> Topology {
        let agent = AgentMeta::new(AgentKind::Function, "a")
            .reads(leak([reads]))
            .writes(leak([writes]));
        Topology::of(&workflow_of(agent))
    }

    #[test]
    fn a_type_may_only_become_wider() {
        let key = |ty| KeySpec::new("k", ty);
        let any = key("Value").of::<Value>();
        for (then, now, is_fit) in [
            (key("String"), key("String"), true),
            (key("String"), key("&str"), true),
            (key("Vec<Plan>"), key("&[Plan]"), true),
            (
                key("Option<&str>").optional(true),
                key("core::option::Option<String>"),
                true,
            ),
            (key("bool"), key("Decision"), false),
            (key("v1::Plan"), key("v2::Plan"), false),
            (key("Plan"), key("Option<Plan>"), true),
            (key("Plan"), key("Plan").optional(true), true),
            (key("Option<Plan>"), key("Plan"), false),
            (key("Plan"), any, true),
            (key("Plan"), key("Plan").any(true), true),
            (any, key("Plan"), false),
            (any, any, true),
        ] {
            let fixed = key("u8");
            assert_eq!(
                typed(then, fixed).fits(&typed(now, fixed)),
                is_fit,
                "reads {then:?}, then {now:?}"
            );
            assert_eq!(
                typed(fixed, then).fits(&typed(fixed, now)),
                is_fit,
                "writes {then:?}, then {now:?}"
            );
        }
        // An agent may read a different key after a change.
        assert!(
            typed(KeySpec::new("j", "bool"), key("u8"))
                .fits(&typed(KeySpec::new("k", "u8"), key("u8")))
        );
        let diff =
            typed(key("Option<Plan>"), key("bool")).diff(&typed(key("Plan"), key("Decision")));
        assert_eq!(diff, "~ k: Option<Plan> -> Plan\n~ k: bool -> Decision");
    }

    #[test]
    fn a_schema_is_a_part_of_the_type() {
        let asks = |schema: u64| {
            let mut meta =
                AgentMeta::new(AgentKind::Await, "a").writes(leak([KeySpec::new("k", "Plan")]));
            meta.schema = Some(ValueSchema::Hash(schema));
            Topology::of(&workflow_of(meta))
        };
        let (then, now) = (asks(1), asks(2));
        assert!(then.fits(&then) && !then.fits(&now) && then.hash() != now.hash());
        assert_eq!(
            then.diff(&now),
            "~ k: Plan, which has other fields or variants now"
        );
    }

    #[test]
    fn a_record_without_types_fits_any_and_one_with_types_is_read_again() {
        let now = typed(KeySpec::new("j", "bool"), KeySpec::new("k", "u8"));
        let old: Topology = serde_json::from_str(r#"["workflow w", "  function a -> k"]"#).unwrap();
        assert!(old.fits(&now));
        assert_eq!(old.diff(&now), "");
        let old: Topology = serde_json::from_str(r#"["workflow w", "  function a -> j"]"#).unwrap();
        assert!(!old.fits(&now));
        assert_eq!(old.diff(&now), "- function a -> j\n+ function a -> k");
        let again: Topology = serde_json::from_str(&serde_json::to_string(&now).unwrap()).unwrap();
        assert_eq!(again, now);
        // A kind of a newer version stays as it is.
        let newer = r#"["workflow w","  teleport a -> k"]"#;
        let read: Topology = serde_json::from_str(newer).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), newer);
        assert!(!read.fits(&now) && read.lineage().is_empty());
    }

    #[test]
    fn a_difference_shows_removed_and_new_lines() {
        let old = shape(&["workflow w", "  custom a", "  custom b", "  custom z"]);
        let new = shape(&["workflow w", "  custom c", "  custom z"]);
        assert_eq!(old.diff(&new), "- custom a\n- custom b\n+ custom c");
        assert_eq!(old.diff(&old), "");
        assert_ne!(old.hash(), new.hash());
    }

    #[test]
    fn a_difference_shows_only_changed_lines_and_their_nesting() {
        let old = shape(&[
            "workflow w",
            "  custom a",
            "  custom b",
            "  custom c",
            "  custom d",
        ]);
        let new = shape(&[
            "workflow w",
            "  custom x",
            "  custom b",
            "  loop l",
            "    custom c",
            "  custom d",
            "  custom e",
        ]);
        assert_eq!(
            old.diff(&new),
            "- custom a\n+ custom x\n- custom c\n+ loop l\n+   custom c\n+ custom e"
        );
        let swapped = shape(&[
            "workflow w",
            "  custom b",
            "  custom a",
            "  custom c",
            "  custom d",
        ]);
        assert_eq!(old.diff(&swapped), "- custom a\n+ custom a");
    }
}
