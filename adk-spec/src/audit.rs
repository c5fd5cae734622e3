//! [`Audit`]: how text of strangers and private data flow through a workflow, and what stops them.
//!
//! An audit reads the walk of the checks, so both have one analysis.

mod nodes;
mod read;
#[cfg(test)]
mod tests;
mod text;

use crate::spec::{DotLook, Guards, Overlay, SourcePlace, Spec};
use serde::ser::{Serialize, SerializeStruct, Serializer};

/// The report of [`Spec::audit`].
///
/// `Display` writes it as a table. As JSON it has the fields `workflow`, `guards`, `sources`,
/// `sinks`, `cleaners`, `notSeen` and `findings`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Audit<'a> {
    /// The sources, first those of text that strangers wrote.
    pub sources: Vec<AuditSource>,
    /// The tools and functions that act or send.
    pub sinks: Vec<AuditSink>,
    /// The steps and tools that keep text or data out of later steps.
    pub cleaners: Vec<AuditCleaner>,
    /// The code that the audit does not see: functions, then tools, then callbacks.
    pub not_seen: Vec<Unseen>,
    /// The messages of the checks `untrusted-action` and `lethal-trifecta`.
    pub findings: Vec<String>,
    spec: Spec<'a>,
    is_strict: bool,
    overlay: Overlay,
}

/// A source of text that strangers wrote, or of private data.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AuditSource {
    /// The key, the tool or the function; `user` for the message of the run, `..` for tools that
    /// only the run knows.
    pub name: String,
    /// `untrusted` or `private`.
    pub label: &'static str,
    /// The agents that get it first hand. An agent that reads what such an agent writes is not in
    /// the list; [`AuditSink::marks`] has the marks that arrive.
    pub seen_by: Vec<String>,
    #[serde(skip)]
    kind: SourceKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SourceKind {
    Input,
    Key,
    Message,
    Labelled,
    Unlabelled,
}

/// A tool or function that acts or sends.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AuditSink {
    /// The tool or the function; `..` for tools that only the run knows.
    pub name: String,
    /// `acts` or `sends`.
    pub label: &'static str,
    /// The agent that may call it; a function is its own agent.
    pub held_by: String,
    /// The marks of the context in which it may be called: `untrusted`, `private`.
    pub marks: Vec<&'static str>,
    #[serde(skip)]
    is_unlabelled: bool,
    #[serde(skip)]
    confirms: Confirms,
}

impl AuditSink {
    /// Returns whether the marks allow no call without a person.
    fn is_reached(&self) -> bool {
        let has = |mark| self.marks.contains(&mark);
        has("untrusted") && (self.label == "acts" || has("private"))
    }

    /// Returns whether a check refuses the sink.
    pub fn is_refused(&self) -> bool {
        self.is_reached() && self.confirms == Confirms::Nothing
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Confirms {
    Nothing,
    Selected,
    All,
}

/// A step or tool that keeps text or data out of later steps.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AuditCleaner {
    /// `type`, `trusts`, `await`, `confirm`, or `predicate` for `confirm = PREDICATE`.
    pub by: &'static str,
    /// The agent, function or `await`.
    pub at: String,
    /// The cleaned key; for `confirm` and `predicate` the tool.
    pub key: String,
    /// The explanation in the report as text.
    #[serde(skip)]
    why: String,
    /// The type of the key.
    #[serde(skip)]
    ty: String,
}

/// Code that the audit does not see.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unseen {
    /// The body of a function.
    Function(String),
    /// The body of an `impl Agent`.
    Agent(String),
    /// The body of a tool.
    Tool(String),
    /// The tools of an agent that only the run knows.
    UnknownTools(String),
    /// The callbacks of an agent or a block, and functions that make the instruction.
    Callbacks(String),
}

/// Serializes the name. Unknown tools and callbacks begin with `tools of` and `callbacks of`.
impl Serialize for Unseen {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Function(name) | Self::Agent(name) | Self::Tool(name) => {
                serializer.serialize_str(name)
            }
            Self::UnknownTools(agent) => serializer.collect_str(&format_args!("tools of {agent}")),
            Self::Callbacks(name) => serializer.collect_str(&format_args!("callbacks of {name}")),
        }
    }
}

impl<'a> Spec<'a> {
    /// Returns how text of strangers and private data flow: sources, sinks, what cleans, and what
    /// the checks do not see.
    ///
    /// ```
    /// # use adk_spec as adk;
    /// use adk::spec::{AgentKind, AgentMeta, Labels, Spec, Step, StepKind, ToolMeta};
    /// const READER: AgentMeta<'static> = AgentMeta::new(AgentKind::Llm, "reader")
    ///     .tools(&[ToolMeta::new("fetch_page", "").labels(Labels::UNTRUSTED)]);
    /// let steps = [Step::new("reader", StepKind::Agent { meta: &READER, instance: false }, 0)];
    /// assert_eq!(Spec::new("reading", "", &steps).audit().to_string(), "\
    /// reading   no guards
    ///   sources    fetch_page (untrusted)        reader
    ///   not seen   the body of 1 tool
    ///   refused    nothing");
    /// ```
    pub fn audit(&self) -> Audit<'a> {
        read::audit(self, false)
    }
}

impl Audit<'_> {
    /// Returns the audit of the same workflow as if its guards had `strict`.
    #[must_use]
    pub fn strict(&self) -> Self {
        read::audit(&self.spec, true)
    }

    /// Returns whether the checks find nothing.
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }

    /// Returns whether the workflow has guards, or any source or sink.
    pub fn has_labels(&self) -> bool {
        self.spec.guards.is_some() || !self.sources.is_empty() || !self.sinks.is_empty()
    }

    /// Returns the diagram of [`Spec::mermaid`] with sources in red, sinks in orange and cleaners
    /// in green.
    pub fn mermaid(&self) -> String {
        self.spec.mermaid_over(&self.overlay)
    }

    /// Returns the same diagram for Graphviz, as [`Spec::dot`].
    pub fn dot(&self) -> String {
        self.dot_with(&DotLook::default())
    }

    /// Returns the diagram of [`dot`](Self::dot) in another look.
    pub fn dot_with(&self, look: &DotLook) -> String {
        self.spec.dot_over(&self.overlay, look)
    }

    /// Returns the place of the definition of the workflow.
    pub fn place(&self) -> Option<SourcePlace<'_>> {
        self.spec.definition.map(|(_, place)| place)
    }

    fn guards(&self) -> Guards<'_> {
        let guards = self.spec.guards.copied().unwrap_or(Guards::NONE);
        guards.strict(guards.strict || self.is_strict)
    }
}

impl Serialize for Audit<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut audit = serializer.serialize_struct("Audit", 7)?;
        audit.serialize_field("workflow", self.spec.name)?;
        audit.serialize_field("guards", &self.guards())?;
        audit.serialize_field("sources", &self.sources)?;
        audit.serialize_field("sinks", &self.sinks)?;
        audit.serialize_field("cleaners", &self.cleaners)?;
        audit.serialize_field("notSeen", &self.not_seen)?;
        audit.serialize_field("findings", &self.findings)?;
        audit.end()
    }
}
