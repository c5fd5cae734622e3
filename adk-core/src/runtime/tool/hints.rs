//! [`ToolHints`]: what a server says of the effects of a tool.

use crate::spec::Labels;
use adk_spec::setters;
use serde::{Deserialize, Serialize};

/// The annotations of a tool of an MCP server: what the server says of the effects of the tool.
/// `None` is an annotation that the server does not send.
///
/// Annotations never set labels in a run, because a server may say anything. `adk mcp pull`
/// proposes labels from them, and a run fails before its first step when they differ from the file
/// of its toolset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ToolHints {
    /// Whether the tool changes nothing.
    #[serde(rename = "readOnlyHint", skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    /// Whether a change of the tool may destroy something.
    #[serde(rename = "destructiveHint", skip_serializing_if = "Option::is_none")]
    pub destructive: Option<bool>,
    /// Whether a repeated call has no further effect.
    #[serde(rename = "idempotentHint", skip_serializing_if = "Option::is_none")]
    pub idempotent: Option<bool>,
    /// Whether the tool reaches an open world, such as the web.
    #[serde(rename = "openWorldHint", skip_serializing_if = "Option::is_none")]
    pub open_world: Option<bool>,
    /// Whether the tool returns private data, a proposal for MCP (SEP-1913).
    #[serde(rename = "privateHint", skip_serializing_if = "Option::is_none")]
    pub private: Option<bool>,
}

impl ToolHints {
    setters! { [const]
        /// Sets whether the tool changes nothing.
        read_only(hint: Option<bool>) = hint;
        /// Sets whether a change of the tool may destroy something.
        destructive(hint: Option<bool>) = hint;
        /// Sets whether a repeated call has no further effect.
        idempotent(hint: Option<bool>) = hint;
        /// Sets whether the tool reaches an open world.
        open_world(hint: Option<bool>) = hint;
        /// Sets whether the tool returns private data.
        private(hint: Option<bool>) = hint;
    }

    /// Returns whether the server sends no annotation.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the labels that `adk mcp pull` proposes: an absent annotation counts as the worst
    /// value.
    pub fn proposed_labels(&self) -> Labels {
        let sends = Labels::UNTRUSTED.and(Labels::SENDS);
        if self.is_empty() {
            return sends.and(Labels::PRIVATE).and(Labels::ACTS);
        }
        let mut labels = if self.open_world == Some(false) {
            Labels::PRIVATE
        } else {
            sends
        };
        if self.private == Some(true) {
            labels = labels.and(Labels::PRIVATE);
        }
        if self.read_only != Some(true) {
            labels = labels.and(Labels::ACTS);
        }
        labels
    }

    fn all(&self) -> [(&'static str, Option<bool>); 5] {
        [
            ("readOnlyHint", self.read_only),
            ("destructiveHint", self.destructive),
            ("idempotentHint", self.idempotent),
            ("openWorldHint", self.open_world),
            ("privateHint", self.private),
        ]
    }

    /// Describes each annotation that differs: `readOnlyHint: true is now false`.
    pub(super) fn changes(&self, new: &Self) -> impl Iterator<Item = String> {
        let changes = self.all().into_iter().zip(new.all());
        let changes = changes.filter(|((_, old), (_, new))| old != new);
        changes.map(|((name, old), (_, new))| format!("{name}: {} is now {}", text(old), text(new)))
    }
}

fn text(hint: Option<bool>) -> &'static str {
    match hint {
        None => "not set",
        Some(true) => "true",
        Some(false) => "false",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_annotations_propose_the_worst() {
        let hints = ToolHints::default();
        let (yes, no) = (Some(true), Some(false));
        for (hints, words) in [
            (hints, "untrusted private acts sends"),
            (hints.destructive(no), "untrusted acts sends"),
            (hints.read_only(no), "untrusted acts sends"),
            (hints.read_only(yes), "untrusted sends"),
            (hints.read_only(yes).open_world(yes), "untrusted sends"),
            (hints.open_world(no), "private acts"),
            (hints.read_only(yes).open_world(no), "private"),
            (hints.read_only(yes).private(yes), "untrusted private sends"),
            (hints.read_only(yes).open_world(no).private(no), "private"),
        ] {
            let proposed: Vec<_> = hints.proposed_labels().words().collect();
            assert_eq!(proposed.join(" "), words, "{hints:?}");
        }
    }

    #[test]
    fn changes_name_the_annotation_before_and_now() {
        let old = ToolHints::default().read_only(Some(true));
        let new = old.read_only(Some(false)).open_world(Some(false));
        let changes: Vec<_> = old.changes(&new).collect();
        let expected = [
            "readOnlyHint: true is now false",
            "openWorldHint: not set is now false",
        ];
        assert_eq!(changes, expected);
        assert_eq!(old.changes(&old).count(), 0);
    }
}
