//! The tree as text.

use super::label;
use crate::spec::{Node, NodeKind, Spec};
use std::fmt;

/// Writes the tree as text.
///
/// ```
/// # use adk_spec as adk;
/// use adk::spec::{Spec, Step, StepKind};
/// # use adk::AgentMeta;
/// # const CRITIC: AgentMeta<'static> = AgentMeta::custom("critic");
/// let steps = [
///     Step::new("refinement", StepKind::Loop { max: Some(5), until: None }, 3),
///     Step::new("critic", StepKind::Agent { meta: &CRITIC, instance: false }, 1),
///     Step::new("", StepKind::Break { target: None }, 2),
///     Step::new("", StepKind::End, 3),
/// ];
/// assert_eq!(Spec::new("writing", "", &steps).to_string(), "\
/// writing()
/// └─ refinement: loop(max = 5)
///    ├─ critic
///    └─ break");
/// ```
impl fmt::Display for Spec<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nodes = self.nodes();
        f.write_str(&label::to_line(&label::inputs(self)))?;
        if let Some(outputs) = label::outputs(self) {
            write!(f, " -> {}", label::to_line(&outputs))?;
        }
        // `left` is the text at the start of a line, such as `│  ├─ `. `until` holds, for each
        // enclosing node, the length of `left` that belongs to it.
        let (mut left, mut until) = (String::new(), vec![0]);
        let mut drawn_with_arm = None;
        for (at, node) in nodes.iter().enumerate().skip(1) {
            let Some(parent) = node.parent.map(|parent| &nodes[parent]) else {
                continue;
            };
            until.truncate(node.depth);
            left.truncate(until.last().copied().unwrap_or_default());
            if drawn_with_arm.take() != Some(at) {
                let is_last = parent.children.last() == Some(&at);
                let (branch, below) = if is_last {
                    ("└─ ", "   ")
                } else {
                    ("├─ ", "│  ")
                };
                write!(f, "\n{left}{branch}{}", label::to_line(&line(node)))?;
                left.push_str(below);
            }
            until.push(left.len());
            if node.kind == NodeKind::Arm {
                match node.children[..] {
                    [] => f.write_str(" ()")?,
                    [only] => {
                        write!(f, " {}", label::to_line(&line(&nodes[only])))?;
                        drawn_with_arm = Some(only);
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }
}

fn line(node: &Node<'_>) -> String {
    let mut line = if node.transfer {
        "transfer to ".to_owned()
    } else {
        String::new()
    };
    line.push_str(&label::title(node));
    if label::is_agent(node) && !node.writes.is_empty() {
        line.extend([" -> ", &label::writes(node)]);
    }
    if let Some(tools) = label::provider_tools(node) {
        line.extend([" (by the provider: ", &tools, ")"]);
    }
    line
}
