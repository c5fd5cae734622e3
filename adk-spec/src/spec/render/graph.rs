//! [`Graph`]: a workflow as boxes and arrows, the common part of Mermaid and Graphviz.

use std::fmt;

/// Boxes, frames around them, and arrows.
#[derive(Debug, Default)]
pub(super) struct Graph {
    pub(super) parts: Vec<DrawPart>,
    pub(super) arrows: Vec<Arrow>,
}

/// A part of the drawing, in order. A frame is opened, contains the following parts, and is closed.
#[derive(Debug)]
pub(super) enum DrawPart {
    Open {
        id: Id,
        frame: FrameKind,
        label: String,
    },
    Point(Point),
    Close,
}

/// A box.
#[derive(Debug)]
pub(super) struct Point {
    pub(super) id: Id,
    pub(super) shape: Shape,
    /// The lines of the label.
    pub(super) label: Vec<String>,
    pub(super) description: String,
    /// The colour of an audit.
    pub(super) paint: Option<NodePaint>,
}

/// The identifier of a box or frame in the diagram. Users do not choose identifiers, so they need
/// no escapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Id(pub(super) char, pub(super) usize);

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.0, self.1)
    }
}

/// The kind of node that a frame encloses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FrameKind {
    Block,
    Loop,
    Each,
    Workflow,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// The start or end of the workflow.
    Terminal,
    Llm,
    Function,
    Custom,
    Await,
    /// A workflow whose steps are unknown.
    Workflow,
    Match,
    Break,
    /// The two bars of a parallel.
    Bar,
    /// The start of a loop to which several arrows lead, or an empty block.
    Dot,
    /// A source or sink of an audit.
    Tool,
}

#[derive(Debug)]
pub(super) struct Arrow {
    pub(super) from: Id,
    pub(super) to: Id,
    pub(super) label: String,
    pub(super) kind: ArrowKind,
}

/// The colour of a box in an audit. The first colour wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum NodePaint {
    Source,
    Sink,
    Cleaner,
}

/// The reason why a box follows another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArrowKind {
    Next,
    /// The next round of a loop.
    Back,
    /// An exit to the step after the loop.
    Exit,
    /// A handover to another agent.
    Transfer,
    /// The way from a source of an audit or to a sink.
    Label,
}
