//! [`Overlay`]: the boxes and colours that an audit adds to a diagram.

use super::dot::{self, DotLook};
use super::flow;
use super::graph::{Arrow, ArrowKind, DrawPart, FrameKind, Graph, Id, NodePaint, Point, Shape};
use super::mermaid;
use crate::spec::Spec;

/// What an audit adds to a diagram. Nodes are indices into [`Spec::nodes`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Overlay {
    boxes: Vec<OverlayBox>,
    painted: Vec<(usize, NodePaint)>,
}

/// A source or sink that is not a node.
#[derive(Clone, Debug)]
struct OverlayBox {
    paint: NodePaint,
    name: String,
    labels: Vec<&'static str>,
    nodes: Vec<usize>,
    is_refused: bool,
}

impl Overlay {
    /// Adds a label and nodes to the box of a source or sink.
    pub(crate) fn add(
        &mut self,
        paint: NodePaint,
        name: &str,
        label: &'static str,
        nodes: &[usize],
    ) {
        let is_same = |one: &OverlayBox| one.paint == paint && one.name == name;
        let at = self.boxes.iter().position(is_same).unwrap_or_else(|| {
            self.boxes.push(OverlayBox {
                paint,
                name: name.to_owned(),
                labels: Vec::new(),
                nodes: Vec::new(),
                is_refused: false,
            });
            self.boxes.len() - 1
        });
        let one = &mut self.boxes[at];
        if !one.labels.contains(&label) {
            one.labels.push(label);
        }
        for node in nodes {
            if !one.nodes.contains(node) {
                one.nodes.push(*node);
            }
        }
    }

    /// Marks the box of a sink as refused.
    pub(crate) fn refuse(&mut self, name: &str) {
        let sinks = self.boxes.iter_mut();
        for sink in sinks.filter(|one| one.paint == NodePaint::Sink && one.name == name) {
            sink.is_refused = true;
        }
    }

    pub(crate) fn paint(&mut self, nodes: &[usize], paint: NodePaint) {
        for node in nodes {
            match self.painted.iter_mut().find(|(known, _)| known == node) {
                Some((_, known)) => *known = paint.min(*known),
                None => self.painted.push((*node, paint)),
            }
        }
    }

    fn paint_of(&self, id: Id) -> Option<NodePaint> {
        let mut painted = self.painted.iter();
        let found = painted.find(|(node, _)| id == Id('n', *node));
        found.map(|(_, paint)| *paint)
    }

    /// Adds the boxes, their arrows and the legend, and paints nodes.
    fn apply(&self, graph: &mut Graph) {
        let (mut ids, mut used) = (Vec::new(), Vec::new());
        for part in &mut graph.parts {
            if let DrawPart::Point(point) = part {
                point.paint = self.paint_of(point.id);
                used.extend(point.paint);
                ids.push(point.id);
            }
        }
        for (at, one) in self.boxes.iter().enumerate() {
            let id = Id('o', at);
            let refused = one.is_refused.then(|| "refused".to_owned());
            let label = [format!("{} ({})", one.name, one.labels.join(", "))];
            let label = label.into_iter().chain(refused).collect();
            graph.parts.push(painted(id, one.paint, label));
            used.push(one.paint);
            let nodes = one.nodes.iter().map(|node| Id('n', *node));
            for node in nodes.filter(|node| ids.contains(node)) {
                let (from, to) = match one.paint {
                    NodePaint::Sink => (node, id),
                    NodePaint::Source | NodePaint::Cleaner => (id, node),
                };
                graph.arrows.push(Arrow {
                    from,
                    to,
                    label: String::new(),
                    kind: ArrowKind::Label,
                });
            }
        }
        if used.is_empty() {
            return;
        }
        graph.parts.push(DrawPart::Open {
            id: Id('l', 0),
            frame: FrameKind::Block,
            label: "legend".to_owned(),
        });
        let legend = [
            (NodePaint::Source, "source"),
            (NodePaint::Sink, "sink"),
            (NodePaint::Cleaner, "cleans"),
        ];
        for (at, (paint, word)) in legend.into_iter().enumerate() {
            if used.contains(&paint) {
                let id = Id('l', at + 1);
                graph.parts.push(painted(id, paint, vec![word.to_owned()]));
            }
        }
        graph.parts.push(DrawPart::Close);
    }
}

fn painted(id: Id, paint: NodePaint, label: Vec<String>) -> DrawPart {
    DrawPart::Point(Point {
        id,
        shape: Shape::Tool,
        label,
        description: String::new(),
        paint: Some(paint),
    })
}

impl Spec<'_> {
    /// Returns the diagram for Mermaid with an overlay.
    pub(crate) fn mermaid_over(&self, overlay: &Overlay) -> String {
        let mut graph = flow::graph(self);
        overlay.apply(&mut graph);
        mermaid::draw(&graph)
    }

    /// Returns the diagram for Graphviz with an overlay.
    pub(crate) fn dot_over(&self, overlay: &Overlay, look: &DotLook) -> String {
        let mut graph = flow::graph(self);
        overlay.apply(&mut graph);
        dot::draw(self.name, &graph, look)
    }
}
