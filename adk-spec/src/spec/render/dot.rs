//! The diagram for Graphviz.

use super::flow::graph;
use super::graph::{Arrow, ArrowKind, DrawPart, FrameKind, Graph, Id, NodePaint, Point, Shape};
use super::label;
use crate::spec::Spec;
use std::fmt::Write;

const SETTINGS: &str = concat!(
    r##"    graph [fontname="Helvetica", fontsize=11, labeljust=l, style=rounded, "##,
    r##"color="#9aa0a6", ranksep=0.4]
    node [fontname="Helvetica", fontsize=11, shape=box, style=filled, "##,
    r##"margin="0.15,0.08", height=0.4]
    edge [fontname="Helvetica", fontsize=10, color="#5f6368", arrowsize=0.7]
"##
);

const DARK: &str = r##"    graph [bgcolor="#0f172a", fontcolor="#e8eaed"]
    edge [fontcolor="#e8eaed", color="#9aa0a6"]
"##;

const MARKED: &str = r##"fillcolor="#0f5223", color="#69cb87", fontcolor=white, penwidth=3"##;

/// The look of a diagram by [`Spec::dot_with`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DotLook {
    /// Whether the background is dark.
    pub is_dark: bool,
    /// The marked boxes, as indices into [`Spec::nodes`]. Blocks are frames and cannot be marked.
    pub marked: Vec<usize>,
}

impl DotLook {
    /// Creates a look for a light or a dark background.
    pub fn new(is_dark: bool) -> Self {
        Self {
            is_dark,
            marked: Vec::new(),
        }
    }

    /// Marks a box.
    #[must_use]
    pub fn mark(mut self, node: usize) -> Self {
        self.marked.push(node);
        self
    }
}

impl Spec<'_> {
    /// Returns a diagram for [Graphviz](https://graphviz.org), in its language DOT: `dot -Tsvg`
    /// draws it.
    ///
    /// The diagram contains the same parts as [`mermaid`](Self::mermaid), with the descriptions as
    /// tooltips.
    ///
    /// ```
    /// # use adk_spec as adk;
    /// use adk::spec::{Spec, Step, StepKind};
    /// # use adk::AgentMeta;
    /// # const CRITIC: AgentMeta<'static> = AgentMeta::custom("critic");
    /// let steps = [Step::new("critic", StepKind::Agent { meta: &CRITIC, instance: false }, 0)];
    /// let diagram = Spec::new("writing", "", &steps).dot();
    /// assert!(diagram.starts_with("digraph \"writing\" {"));
    /// ```
    pub fn dot(&self) -> String {
        self.dot_with(&DotLook::default())
    }

    /// Returns the diagram of [`dot`](Self::dot) in another look.
    pub fn dot_with(&self, look: &DotLook) -> String {
        draw(self.name, &graph(self), look)
    }
}

/// Returns the diagram of boxes and arrows.
pub(super) fn draw(name: &str, graph: &Graph, look: &DotLook) -> String {
    let mut out = format!("digraph {} {{\n{SETTINGS}", quote_label([name]));
    if look.is_dark {
        out.push_str(DARK);
    }
    let mut depth = 1;
    for part in &graph.parts {
        let indent = "    ".repeat((depth - usize::from(matches!(part, DrawPart::Close))).min(12));
        // Writing to a string cannot fail.
        let _ = match part {
            DrawPart::Open { id, frame, label } => {
                depth += 1;
                let look = match frame {
                    FrameKind::Block => r##"style=rounded, color="#9aa0a6", penwidth=1"##,
                    FrameKind::Loop => r##"style="rounded,dashed", color="#4285f4", penwidth=1"##,
                    FrameKind::Each => r##"style=rounded, color="#9aa0a6", penwidth=3"##,
                    FrameKind::Workflow => r##"style=rounded, color="#a142f4", penwidth=1"##,
                };
                writeln!(
                    out,
                    "{indent}subgraph cluster_{id} {{ graph [label={}, {look}]",
                    quote_label([label])
                )
            }
            DrawPart::Point(point) => writeln!(out, "{indent}{}", shape(point)),
            DrawPart::Close => {
                depth -= 1;
                writeln!(out, "{indent}}}")
            }
        };
    }
    for Arrow {
        from,
        to,
        label,
        kind,
    } in &graph.arrows
    {
        let style = match kind {
            ArrowKind::Exit | ArrowKind::Transfer => ", style=dashed",
            ArrowKind::Label => ", style=bold",
            ArrowKind::Next | ArrowKind::Back => "",
        };
        let _ = writeln!(
            out,
            "    {from} -> {to} [label={}{style}]",
            quote_label([label])
        );
    }
    for node in &look.marked {
        let id = Id('n', *node);
        if graph
            .parts
            .iter()
            .any(|part| matches!(part, DrawPart::Point(point) if point.id == id))
        {
            // A second statement about a node adds its attributes to the node.
            let _ = writeln!(out, "    {id} [{MARKED}]");
        }
    }
    out + "}\n"
}

fn shape(
    Point {
        id,
        shape,
        label,
        description,
        paint,
    }: &Point,
) -> String {
    let form = match shape {
        Shape::Terminal => r##"shape=box, style="rounded,filled", "##,
        Shape::Llm => r##"style="rounded,filled", "##,
        Shape::Function | Shape::Tool => "",
        Shape::Custom => "shape=hexagon, ",
        Shape::Await => "shape=parallelogram, ",
        Shape::Workflow => "peripheries=2, ",
        Shape::Match => "shape=diamond, ",
        Shape::Break => "shape=oval, ",
        Shape::Bar => "",
        Shape::Dot => "shape=circle, ",
    };
    let look = match paint {
        None => look(*shape),
        Some(NodePaint::Source) => {
            r##"fillcolor="#fce8e6", color="#d93025", fontcolor="#a50e0e", penwidth=3"##
        }
        Some(NodePaint::Sink) => {
            r##"fillcolor="#ffe0c2", color="#e8710a", fontcolor="#8a3b00", penwidth=3"##
        }
        Some(NodePaint::Cleaner) => {
            r##"fillcolor="#ceead6", color="#188038", fontcolor="#0d652d", penwidth=3"##
        }
    };
    let tooltip = if description.is_empty() {
        String::new()
    } else {
        format!(", tooltip={}", quote_label(description.lines()))
    };
    format!("{id} [label={}, {form}{look}{tooltip}]", quote_label(label))
}

/// Returns the colours of a box that an audit does not paint, and its size.
fn look(shape: Shape) -> &'static str {
    match shape {
        Shape::Terminal => r##"fillcolor="#f1f3f4", color="#5f6368""##,
        Shape::Llm => r##"fillcolor="#e8f0fe", color="#4285f4", fontcolor="#174ea6""##,
        Shape::Function | Shape::Tool => {
            r##"fillcolor="#e6f4ea", color="#34a853", fontcolor="#0d652d""##
        }
        Shape::Custom | Shape::Await => {
            r##"fillcolor="#fef7e0", color="#f9ab00", fontcolor="#7a4f00""##
        }
        Shape::Workflow => r##"fillcolor="#f3e8fd", color="#a142f4", fontcolor="#681da8""##,
        Shape::Match => r##"fillcolor=white, color="#5f6368", margin=0"##,
        Shape::Break => r##"fillcolor="#fce8e6", color="#ea4335", fontcolor="#a50e0e""##,
        Shape::Bar => r##"fillcolor="#5f6368", color="#5f6368", height=0.06, width=0.9, margin=0"##,
        Shape::Dot => {
            r##"fillcolor="#5f6368", color="#5f6368", height=0.12, width=0.12, margin=0"##
        }
    }
}

/// Formats lines of any text as a label. Graphviz reads a backslash as an escape, and `&` as the
/// beginning of an HTML entity.
fn quote_label<S: AsRef<str>>(lines: impl IntoIterator<Item = S>) -> String {
    let mut out = String::from("\"");
    for (n, line) in lines.into_iter().enumerate() {
        if n > 0 {
            out.push_str("\\n");
        }
        for char in label::shorten(line.as_ref()).chars() {
            match char {
                '"' | '\\' => out.extend(['\\', char]),
                '&' => out.push_str("&amp;"),
                _ => out.push(char),
            }
        }
    }
    out.push('"');
    out
}
