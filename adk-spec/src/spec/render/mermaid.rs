//! The diagram for Mermaid.

use super::flow::graph;
use super::graph::{Arrow, ArrowKind, DrawPart, FrameKind, Graph, NodePaint, Point, Shape};
use super::label;
use crate::spec::Spec;
use std::fmt::Write;

/// Settings that leave room for the title of a frame, and for long names on one line.
const SETTINGS: &str = concat!(
    r#"%%{init: {"flowchart": {"wrappingWidth": 600, "#,
    r#""subGraphTitleMargin": {"top": 4, "bottom": 14}}}}%%"#
);

/// Colours that are readable on white and on black.
const CLASSES: &[(&str, &str)] = &[
    ("terminal", "fill:#f1f3f4,stroke:#5f6368,color:#202124"),
    ("llm", "fill:#e8f0fe,stroke:#4285f4,color:#174ea6"),
    ("function", "fill:#e6f4ea,stroke:#34a853,color:#0d652d"),
    ("custom", "fill:#fef7e0,stroke:#f9ab00,color:#7a4f00"),
    ("await", "fill:#fef7e0,stroke:#f9ab00,color:#7a4f00"),
    ("workflow", "fill:#f3e8fd,stroke:#a142f4,color:#681da8"),
    ("match", "fill:#fff,stroke:#5f6368,color:#202124"),
    ("break", "fill:#fce8e6,stroke:#ea4335,color:#a50e0e"),
    ("bar", "fill:#5f6368,stroke:#5f6368"),
    ("block", "fill:none,stroke:#9aa0a6"),
    ("loop", "fill:none,stroke:#4285f4,stroke-dasharray:6 4"),
    ("each", "fill:none,stroke:#9aa0a6,stroke-width:4px"),
    ("inner", "fill:none,stroke:#a142f4"),
    (
        "source",
        "fill:#fce8e6,stroke:#d93025,stroke-width:3px,color:#a50e0e",
    ),
    (
        "sink",
        "fill:#ffe0c2,stroke:#e8710a,stroke-width:3px,color:#8a3b00",
    ),
    (
        "cleaner",
        "fill:#ceead6,stroke:#188038,stroke-width:3px,color:#0d652d",
    ),
];

impl Spec<'_> {
    /// Returns a diagram for [Mermaid](https://mermaid.js.org), which many sites render from a
    /// Markdown block of the language `mermaid`.
    ///
    /// Blue boxes are agents that ask a model, green boxes are functions, yellow boxes are an `impl
    /// Agent` by hand, and slanted boxes wait for a person. An arrow back carries the limits of its
    /// loop. A dashed arrow is an exit, a `break` or a transfer. Mermaid rejects more than 500
    /// arrows or 50,000 characters unless its `maxEdges` and `maxTextSize` are raised.
    ///
    /// ```
    /// # use adk_spec as adk;
    /// use adk::spec::{Spec, Step, StepKind};
    /// # use adk::AgentMeta;
    /// # const CRITIC: AgentMeta<'static> = AgentMeta::custom("critic");
    /// let steps = [Step::new("critic", StepKind::Agent { meta: &CRITIC, instance: false }, 0)];
    /// let diagram = Spec::new("writing", "", &steps).mermaid();
    /// assert!(diagram.contains(r#"n1{{"critic"}}"#));
    /// ```
    pub fn mermaid(&self) -> String {
        draw(&graph(self))
    }
}

/// Returns the diagram of boxes and arrows.
pub(super) fn draw(graph: &Graph) -> String {
    let mut out = format!("{SETTINGS}\nflowchart TB\n");
    let (mut depth, mut members) = (1, Vec::new());
    // Writing to a string cannot fail, so the results are ignored.
    for part in &graph.parts {
        let _ = match part {
            DrawPart::Open { id, frame, label } => {
                members.push((class_of_frame(*frame), *id));
                depth += 1;
                writeln!(
                    out,
                    "{}subgraph {id}[{}]",
                    indent(depth - 1),
                    quote_label([label])
                )
            }
            DrawPart::Point(point) => {
                members.push((class_of_point(point), point.id));
                writeln!(out, "{}{}", indent(depth), shape(point))
            }
            DrawPart::Close => {
                depth -= 1;
                writeln!(out, "{}end", indent(depth))
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
        let line = match kind {
            ArrowKind::Next | ArrowKind::Back => "-->",
            ArrowKind::Exit | ArrowKind::Transfer => "-.->",
            ArrowKind::Label => "==>",
        };
        let label = if label.is_empty() {
            String::new()
        } else {
            format!("|{}|", quote_label([label]))
        };
        let _ = writeln!(out, "    {from} {line}{label} {to}");
    }
    for (class, look) in CLASSES {
        let ids = members
            .iter()
            .filter(|(member, _)| member == class)
            .map(|(_, id)| id.to_string());
        let ids = ids.collect::<Vec<_>>().join(",");
        if !ids.is_empty() {
            let _ = writeln!(out, "    classDef {class} {look}\n    class {ids} {class}");
        }
    }
    out
}

/// Returns the indentation at a depth. The indentation is limited, because deep trees would consist
/// mostly of blanks.
fn indent(depth: usize) -> String {
    "    ".repeat(depth.min(12))
}

fn shape(
    Point {
        id, shape, label, ..
    }: &Point,
) -> String {
    let label = quote_label(label);
    match shape {
        Shape::Terminal | Shape::Break => format!("{id}([{label}])"),
        Shape::Llm => format!("{id}({label})"),
        Shape::Function | Shape::Tool => format!("{id}[{label}]"),
        Shape::Custom => format!("{id}{{{{{label}}}}}"),
        Shape::Await => format!("{id}[/{label}/]"),
        Shape::Workflow => format!("{id}[[{label}]]"),
        Shape::Match => format!("{id}{{{label}}}"),
        Shape::Bar => format!("{id}@{{ shape: fork }}"),
        Shape::Dot => format!("{id}@{{ shape: f-circ }}"),
    }
}

fn class_of_point(point: &Point) -> &'static str {
    match point.paint {
        Some(NodePaint::Source) => return "source",
        Some(NodePaint::Sink) => return "sink",
        Some(NodePaint::Cleaner) => return "cleaner",
        None => {}
    }
    match point.shape {
        Shape::Terminal => "terminal",
        Shape::Llm => "llm",
        Shape::Function | Shape::Tool => "function",
        Shape::Custom => "custom",
        Shape::Await => "await",
        Shape::Workflow => "workflow",
        Shape::Match => "match",
        Shape::Break => "break",
        Shape::Bar | Shape::Dot => "bar",
    }
}

fn class_of_frame(frame: FrameKind) -> &'static str {
    match frame {
        FrameKind::Block => "block",
        FrameKind::Loop => "loop",
        FrameKind::Each => "each",
        FrameKind::Workflow => "inner",
    }
}

/// Formats lines of any text as a label. Mermaid interprets quoted text as Markdown and HTML, and
/// searches for directives everywhere, so all characters except letters, digits and a few harmless
/// signs are written as numbers.
fn quote_label<S: AsRef<str>>(lines: impl IntoIterator<Item = S>) -> String {
    let mut out = String::from("\"");
    for (n, line) in lines.into_iter().enumerate() {
        if n > 0 {
            out.push_str("<br>");
        }
        let line = label::shorten(line.as_ref());
        let mut before = ' ';
        let mut rest = line.chars().peekable();
        while let Some(char) = rest.next() {
            let is_inside =
                before.is_alphanumeric() && rest.peek().is_some_and(|next| next.is_alphanumeric());
            match char {
                _ if char.is_alphanumeric() || !char.is_ascii() => out.push(char),
                ' ' | '(' | ')' | ',' | ':' | '=' => out.push(char),
                // Markdown interprets an underscore only at the edge of a word.
                '_' if is_inside => out.push(char),
                _ => {
                    let _ = write!(out, "#{};", u32::from(char));
                }
            }
            before = char;
        }
    }
    // An empty label does not parse.
    out.push_str(if out.len() == 1 { " \"" } else { "\"" });
    out
}
