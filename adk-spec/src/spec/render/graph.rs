//! A workflow as boxes and arrows: the common part of Mermaid and Graphviz.

use std::fmt;

/// Boxes, frames around them, and arrows.
#[derive(Debug, Default)]
pub(super) struct Graph {
    pub(super) parts: Vec<DrawPart>,
    pub(super) arrows: Vec<Arrow>,
}

/// What is drawn, in order; a frame is opened, holds what follows, and is closed.
#[derive(Debug)]
pub(super) enum DrawPart {
    Open { id: Id, frame: FrameKind, label: String },
    Point(Point),
    Close,
}

/// A box.
#[derive(Debug)]
pub(super) struct Point {
    pub(super) id: Id,
    pub(super) shape: Shape,
    /// One line each.
    pub(super) label: Vec<String>,
    pub(super) description: String,
}

/// The name of a box or frame in the picture: none that a user has chosen, so that it needs no escape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Id(pub(super) char, pub(super) usize);

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.0, self.1)
    }
}

/// What a frame is around.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FrameKind {
    Block,
    Loop,
    Each,
    Workflow,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Where the workflow begins or ends.
    Terminal,
    Llm,
    Function,
    Custom,
    Await,
    /// A workflow whose steps are not known.
    Workflow,
    Match,
    Break,
    /// The two bars of a parallel.
    Bar,
    /// Where a loop begins anew, when several ways lead there; an empty block.
    Dot,
}

#[derive(Debug)]
pub(super) struct Arrow {
    pub(super) from: Id,
    pub(super) to: Id,
    pub(super) label: String,
    pub(super) kind: ArrowKind,
}

/// Why something follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArrowKind {
    Next,
    /// The next round.
    Back,
    /// Behind the loop.
    Exit,
    /// An agent hands over to another.
    Transfer,
}
