//! The labels of nodes, in the words of the workflow language.

use crate::spec::{Node, NodeKind, OnError, Over, Spec};
use std::fmt::Write;

/// Converts a text to one line: white space becomes a blank, and invisible characters are escaped.
pub(super) fn to_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            _ if char.is_whitespace() => {
                if !line.ends_with(' ') {
                    line.push(' ');
                }
            }
            _ if is_hidden(char) => line.extend(char.escape_unicode()),
            _ => line.push(char),
        }
    }
    line.trim().to_owned()
}

/// Returns whether a character is a control character, changes the direction of the text, or is not
/// a valid character.
fn is_hidden(char: char) -> bool {
    char.is_control()
        || matches!(
            char,
            '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
        || (u32::from(char) & 0xfffe) == 0xfffe
}

/// Truncates a text so that it fits into a box.
pub(super) fn shorten(text: &str) -> String {
    const MOST: usize = 80;
    let mut line = to_line(text);
    if let Some((at, _)) = line.char_indices().nth(MOST) {
        line.truncate(at);
        line.push('…');
    }
    line
}

/// Returns the name and the inputs of the workflow.
pub(super) fn inputs(spec: &Spec<'_>) -> String {
    let keys: Vec<_> = spec
        .inputs
        .iter()
        .map(|input| format!("{}: {}", input.name, input.ty))
        .collect();
    format!("{}({})", spec.name, keys.join(", "))
}

pub(super) fn outputs(spec: &Spec<'_>) -> Option<String> {
    let keys: Vec<_> = spec
        .outputs
        .iter()
        .map(|key| format!("{}: {}", key.name, key.ty))
        .collect();
    match &keys[..] {
        [] => None,
        [one] => Some(one.clone()),
        all => Some(format!("({})", all.join(", "))),
    }
}

/// Returns the keyword of a block with its limits and keys: `loop(max = 5)`.
pub(super) fn head(node: &Node<'_>) -> String {
    let mut head = match node.kind {
        NodeKind::Sequence => "sequence",
        NodeKind::Parallel => "parallel",
        NodeKind::Match => "match",
        NodeKind::Each => "each",
        NodeKind::Loop => "loop",
        NodeKind::Try => "try",
        NodeKind::Else => "else",
        NodeKind::Break => "break",
        NodeKind::Arm => return format!("{} =>", node.pattern.unwrap_or_default()),
        NodeKind::Workflow | NodeKind::Llm | NodeKind::Function | NodeKind::Custom => {
            return agent(node);
        }
        NodeKind::Await => return awaits(node),
    }
    .to_owned();
    let limits = limits(node);
    if !limits.is_empty() {
        let _ = write!(head, "({limits})");
    }
    let keys = match (node.kind, &node.exits[..]) {
        (NodeKind::Match, _) => node.key.map(str::to_owned),
        (NodeKind::Each, _) => node
            .item
            .zip(node.list)
            .map(|(item, list)| format!("{item} in {list}")),
        (NodeKind::Break, [target]) => Some((*target).to_owned()),
        _ => None,
    };
    keys.into_iter().for_each(|keys| head.extend([" ", &keys]));
    head
}

/// Returns the limits of a block: `max = 5, until = done`.
pub(super) fn limits(node: &Node<'_>) -> String {
    let attempts = node.attempts.as_ref();
    let limits = [
        node.first.then(|| "first".to_owned()),
        attempts.map(|attempts| format!("attempts = {}", attempts.most)),
        attempts.and_then(|attempts| Some(format!("timeout = {:?}", attempts.timeout?))),
        attempts.and_then(|attempts| Some(format!("delay = {:?}", attempts.delay?))),
        attempts
            .filter(|attempts| attempts.all)
            .map(|_| "on = all".to_owned()),
        node.max.map(|max| format!("max = {max}")),
        (node.over == Over::Cut).then(|| "over = cut".to_owned()),
        node.until.map(|key| format!("until = {key}")),
        node.max_concurrency
            .map(|most| format!("max_concurrency = {most}")),
        match node.on_error {
            OnError::Fail => None,
            OnError::Skip => Some("on_error = skip".to_owned()),
            OnError::SkipAtMost(most) => Some(format!("on_error = skip(max = {most})")),
        },
    ];
    limits.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

pub(super) fn title(node: &Node<'_>) -> String {
    let is_block = !matches!(
        node.kind,
        NodeKind::Break | NodeKind::Arm | NodeKind::Else | NodeKind::Await
    ) && !is_agent(node);
    if is_block && node.named && !node.name.is_empty() {
        format!("{}: {}", node.name, head(node))
    } else {
        head(node)
    }
}

pub(super) fn is_agent(node: &Node<'_>) -> bool {
    matches!(
        node.kind,
        NodeKind::Workflow | NodeKind::Llm | NodeKind::Function | NodeKind::Custom
    )
}

/// Returns the label of an `await`: `await decision`, `review: await decision`.
fn awaits(node: &Node<'_>) -> String {
    let own = node.name.rsplit("::").next().unwrap_or_default();
    match node.writes.first() {
        Some(key) if key.name.rsplit(':').next() == Some(own) => format!("await {}", key.name),
        Some(key) => format!("{}: await {}", node.name, key.name),
        None => format!("await {}", node.name),
    }
}

/// Returns an agent as it is placed: `critic(draft = essay) as second`.
fn agent(node: &Node<'_>) -> String {
    let own = node.name.rsplit("::").next().unwrap_or_default();
    let instance = node.instance && own != node.definition && !node.definition.is_empty();
    let mut text = if instance {
        node.definition.to_owned()
    } else {
        node.name.clone().into_owned()
    };
    if !node.renames.reads.is_empty() {
        let reads: Vec<_> = node
            .renames
            .reads
            .iter()
            .map(|(key, read)| format!("{key} = {read}"))
            .collect();
        let _ = write!(text, "({})", reads.join(", "));
    }
    if instance {
        let _ = write!(text, " as {}", node.name);
    }
    text
}

/// Returns the tools that the model's provider runs: `google_search`.
pub(super) fn provider_tools(node: &Node<'_>) -> Option<String> {
    let tools = node.tools.iter().filter(|tool| tool.at_provider);
    let names: Vec<_> = tools.map(|tool| tool.name).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

pub(super) fn writes(node: &Node<'_>) -> String {
    node.writes
        .iter()
        .map(|key| key.name)
        .collect::<Vec<_>>()
        .join(", ")
}
