//! [`TreeGuards`]: the rules of a tree about text that strangers wrote.

use super::item::Item;
use adk_core::__private::build::TreeRules;
use adk_core::spec::{AgentKind, AgentMeta};

/// The rules of a tree about text that strangers wrote: what `#[guards(...)]` says for a workflow
/// of `workflow!`. `true` stands for no rules, and `false` turns the checks of labels off.
///
/// The rules of a part count for the whole tree around it.
///
/// ```
/// # use adk_build as adk;
/// use adk::build::TreeGuards;
/// use adk::llm::LlmAgent;
/// use adk::spec::Labels;
/// use adk::tool::FunctionTool;
///
/// let send = FunctionTool::new("send", "Sends a mail.", |(): (), _| "sent");
/// let clerk = LlmAgent::builder("clerk")
///     .instruction("Answer {ticket}.")
///     .tool(send.labels(Labels::ACTS))
///     .guards(TreeGuards::new().untrusted("ticket").fresh(true));
/// let error = clerk.build().unwrap_err().to_string();
/// assert!(error.contains("untrusted-action: agent `clerk` may call `send`"), "{error}");
/// ```
#[derive(Clone, Debug)]
pub struct TreeGuards {
    /// Whether the checks of labels reject a tree.
    pub(super) checks: bool,
    /// The rules; `None` for a tree without `guards`.
    pub(super) rules: Option<TreeRules>,
}

impl Default for TreeGuards {
    fn default() -> Self {
        Self::from(true)
    }
}

impl From<bool> for TreeGuards {
    fn from(checks: bool) -> Self {
        Self {
            checks,
            rules: None,
        }
    }
}

impl TreeGuards {
    /// Creates guards without rules, like `#[guards()]`.
    pub fn new() -> Self {
        Self {
            checks: true,
            rules: Some(TreeRules::default()),
        }
    }

    /// Returns whether there are rules.
    pub(crate) fn has_rules(&self) -> bool {
        self.rules.is_some()
    }

    fn with(mut self, change: impl FnOnce(&mut TreeRules)) -> Self {
        change(self.rules.get_or_insert_default());
        self
    }

    /// Adds a session key that may hold text that strangers wrote; `user` is the message of the
    /// run.
    #[must_use]
    pub fn untrusted(self, key: impl Into<String>) -> Self {
        self.with(|rules| rules.untrusted.push(key.into()))
    }

    /// Adds a session key with data that must not leave.
    #[must_use]
    pub fn private(self, key: impl Into<String>) -> Self {
        self.with(|rules| rules.private.push(key.into()))
    }

    /// Sets whether each run needs a session of its own. The runner refuses a session with events.
    /// Default: `false`.
    #[must_use]
    pub fn fresh(self, yes: bool) -> Self {
        self.with(|rules| rules.fresh = yes)
    }

    /// Sets whether everything without a label counts as everything that a label can say. Default:
    /// `false`.
    #[must_use]
    pub fn strict(self, yes: bool) -> Self {
        self.with(|rules| rules.strict = yes)
    }
}

/// Returns the rules of a tree: its own, and those of its parts.
pub(super) fn rules_of(own: Option<&TreeRules>, root: &Item) -> Option<TreeRules> {
    let mut rules = own.cloned();
    add_item(&mut rules, root);
    rules
}

fn add_item(rules: &mut Option<TreeRules>, item: &Item) {
    match item {
        Item::Agent(placed) => add_agent(rules, placed.agent.meta()),
        Item::Block(block) => {
            if let Some(more) = &block.guards {
                rules.get_or_insert_default().add(more.get());
            }
            block.items.iter().for_each(|item| add_item(rules, item));
        }
    }
}

/// Adds the rules of an LLM agent and of the agents that it uses. A workflow keeps its own rules:
/// the checks enter it.
fn add_agent(rules: &mut Option<TreeRules>, meta: &AgentMeta<'_>) {
    if meta.kind != AgentKind::Llm {
        return;
    }
    if let Some(more) = meta.guards {
        rules.get_or_insert_default().add(more);
    }
    let used = meta.tools.iter().filter_map(|tool| tool.agent);
    for agent in meta.transfer.iter().copied().chain(used) {
        add_agent(rules, agent);
    }
}
