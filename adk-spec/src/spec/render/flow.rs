//! The conversion of nodes to boxes and arrows: the steps that may follow each step.

use super::graph::{Arrow, ArrowKind, DrawPart, FrameKind, Graph, Id, Point, Shape};
use super::label;
use crate::spec::{Node, NodeKind, Spec};

/// An arrow whose target is not drawn yet. It leads to the next box.
#[derive(Clone, Debug)]
struct Loose {
    from: Id,
    label: String,
    kind: ArrowKind,
}

/// A node that is being drawn.
#[derive(Default)]
struct OpenNode {
    at: usize,
    /// The arrows from the ends of finished branches and arms.
    ends: Vec<Loose>,
    /// The arrows from the ends of an agent and of its transfer targets. Each of them leads to the
    /// next step.
    takers: Vec<Loose>,
    /// The number of open loops around a workflow. Exits inside the workflow do not end these
    /// loops.
    loops: usize,
}

/// A loop that is being drawn.
struct OpenLoop {
    at: usize,
    head: Option<Id>,
    exits: Vec<Loose>,
}

struct Draw<'n, 'a> {
    nodes: &'n [Node<'a>],
    graph: Graph,
    loose: Vec<Loose>,
    loops: Vec<OpenLoop>,
    /// The index of the outermost open loop that an exit may end.
    reach: usize,
}

/// Returns the boxes and arrows of a workflow.
pub(super) fn graph(spec: &Spec<'_>) -> Graph {
    let nodes = spec.nodes();
    let mut draw = Draw {
        nodes: &nodes,
        graph: Graph::default(),
        loose: Vec::new(),
        loops: Vec::new(),
        reach: 0,
    };
    draw.point(
        Id('s', 0),
        Shape::Terminal,
        vec![label::inputs(spec)],
        spec.description,
    );
    let mut open: Vec<OpenNode> = Vec::new();
    for (at, node) in nodes.iter().enumerate().skip(1) {
        while open.len() >= node.depth {
            draw.close_last(&mut open);
        }
        if let Some(around) = open.last_mut() {
            draw.connect(around, at);
        }
        open.push(draw.open(at));
    }
    while !open.is_empty() {
        draw.close_last(&mut open);
    }
    let outputs = label::outputs(spec).unwrap_or_else(|| "done".to_owned());
    draw.point(Id('s', 1), Shape::Terminal, vec![outputs], "");
    draw.graph
}

impl Draw<'_, '_> {
    /// Prepares the arrows from a node to its next child.
    fn connect(&mut self, around: &mut OpenNode, at: usize) {
        let (node, inner) = (&self.nodes[around.at], &self.nodes[at]);
        let to = |from, label, kind| vec![Loose { from, label, kind }];
        if inner.transfer {
            around.takers.append(&mut self.loose);
            self.loose = to(
                Id('n', around.at),
                "transfer".to_owned(),
                ArrowKind::Transfer,
            );
        } else if node.kind == NodeKind::Parallel {
            self.loose = to(Id('n', around.at), String::new(), ArrowKind::Next);
        } else if inner.kind == NodeKind::Else {
            around.ends.append(&mut self.loose);
            self.loose = to(Id('n', around.at), "else".to_owned(), ArrowKind::Exit);
        } else if node.kind == NodeKind::Match {
            let pattern = inner.pattern.unwrap_or_default().to_owned();
            self.loose = to(Id('n', around.at), pattern, ArrowKind::Next);
        }
    }

    fn open(&mut self, at: usize) -> OpenNode {
        let node = &self.nodes[at];
        let open = OpenNode {
            at,
            loops: self.reach,
            ..OpenNode::default()
        };
        match node.kind {
            NodeKind::Workflow if has_steps(self.nodes, node) => {
                self.frame(at, FrameKind::Workflow);
                self.reach = self.loops.len();
            }
            NodeKind::Workflow => self.agent(at, Shape::Workflow),
            NodeKind::Llm => self.agent(at, Shape::Llm),
            NodeKind::Function => self.agent(at, Shape::Function),
            NodeKind::Custom => self.agent(at, Shape::Custom),
            NodeKind::Await => self.agent(at, Shape::Await),
            NodeKind::Sequence if node.named => self.frame(at, FrameKind::Block),
            NodeKind::Sequence | NodeKind::Arm | NodeKind::Else => {}
            NodeKind::Parallel => {
                self.frame(at, FrameKind::Block);
                self.point(Id('n', at), Shape::Bar, Vec::new(), "");
            }
            NodeKind::Match | NodeKind::Try => {
                if node.named {
                    self.frame(at, FrameKind::Block);
                }
                self.point(
                    Id('n', at),
                    Shape::Match,
                    vec![label::head(node)],
                    node.description,
                );
            }
            NodeKind::Each => self.frame(at, FrameKind::Each),
            NodeKind::Loop => {
                self.frame(at, FrameKind::Loop);
                self.loops.push(OpenLoop {
                    at,
                    head: None,
                    exits: Vec::new(),
                });
            }
            NodeKind::Break => {
                self.point(Id('n', at), Shape::Break, vec![label::head(node)], "");
                self.exit(node.exits.first().copied(), Id('n', at), "");
                self.loose.clear();
            }
        }
        open
    }

    fn close_last(&mut self, open: &mut Vec<OpenNode>) {
        let Some(last) = open.pop() else { return };
        self.close(last);
        if let Some(around) = open.last_mut()
            && matches!(
                self.nodes[around.at].kind,
                NodeKind::Parallel | NodeKind::Match
            )
        {
            around.ends.append(&mut self.loose);
        }
    }

    fn close(&mut self, mut open: OpenNode) {
        let (at, node) = (open.at, &self.nodes[open.at]);
        self.reach = open.loops;
        let is_empty = node.children.is_empty();
        let is_framed = match node.kind {
            NodeKind::Workflow => has_steps(self.nodes, node),
            NodeKind::Sequence | NodeKind::Match | NodeKind::Try => node.named,
            NodeKind::Parallel | NodeKind::Each | NodeKind::Loop => true,
            _ => false,
        };
        match node.kind {
            NodeKind::Match if !is_empty => self.loose = open.ends,
            NodeKind::Try => self.loose.append(&mut open.ends),
            NodeKind::Parallel if !is_empty => {
                self.loose = open.ends;
                // If all branches have left the loop around the block, no arrow arrives at its end.
                if !self.loose.is_empty() {
                    self.point(Id('j', at), Shape::Bar, Vec::new(), "");
                }
            }
            NodeKind::Sequence | NodeKind::Each | NodeKind::Loop if is_empty => {
                self.point(Id('n', at), Shape::Dot, Vec::new(), "");
            }
            _ => {}
        }
        if !open.takers.is_empty() {
            open.takers.append(&mut self.loose);
            self.loose = open.takers;
        }
        if node.kind == NodeKind::Loop {
            self.round(at);
        }
        if is_framed {
            self.graph.parts.push(DrawPart::Close);
        }
    }
}

impl Draw<'_, '_> {
    fn agent(&mut self, at: usize, shape: Shape) {
        let node = &self.nodes[at];
        let mut lines = vec![label::title(node)];
        if !node.writes.is_empty() && shape != Shape::Await {
            lines.push(format!("→ {}", label::writes(node)));
        }
        if let Some(tools) = label::provider_tools(node) {
            lines.push(format!("by the provider: {tools}"));
        }
        self.point(Id('n', at), shape, lines, node.description);
        if node.may_exit {
            self.exit(None, Id('n', at), "exit");
        }
        for name in &*node.exits {
            self.exit(Some(name), Id('n', at), "exit");
        }
    }

    /// Draws a box. All loose arrows lead to the box, and a new loose arrow begins at it.
    fn point(&mut self, id: Id, shape: Shape, label: Vec<String>, description: &str) {
        for Loose { from, label, kind } in self.loose.drain(..) {
            self.graph.arrows.push(Arrow {
                from,
                to: id,
                label,
                kind,
            });
        }
        self.loose.push(Loose {
            from: id,
            label: String::new(),
            kind: ArrowKind::Next,
        });
        self.loops
            .iter_mut()
            .rev()
            .take_while(|round| round.head.is_none())
            .for_each(|round| round.head = Some(id));
        self.graph.parts.push(DrawPart::Point(Point {
            id,
            shape,
            label,
            description: description.to_owned(),
            paint: None,
        }));
    }

    fn frame(&mut self, at: usize, frame: FrameKind) {
        self.graph.parts.push(DrawPart::Open {
            id: Id('f', at),
            frame,
            label: label::title(&self.nodes[at]),
        });
    }

    /// Adds an arrow to the end of the innermost loop, or of the loop with a name. An exit without
    /// such a loop is drawn without an arrow, because a check reports it.
    fn exit(&mut self, target: Option<&str>, from: Id, label: &str) {
        let nodes = self.nodes;
        let own = |at: usize| nodes[at].name.rsplit("::").next();
        let found = self.loops[self.reach..]
            .iter_mut()
            .rev()
            .find(|round| target.is_none() || own(round.at) == target);
        if let Some(round) = found {
            round.exits.push(Loose {
                from,
                label: label.to_owned(),
                kind: ArrowKind::Exit,
            });
        }
    }

    /// Ends a round of a loop: an arrow leads back to the first step, and another one to the step
    /// after the loop.
    fn round(&mut self, at: usize) {
        let Some(OpenLoop { head, exits, .. }) = self.loops.pop() else {
            return;
        };
        let node = &self.nodes[at];
        let one =
            matches!(&self.loose[..], [one] if one.kind == ArrowKind::Next && one.label.is_empty());
        if !one && !self.loose.is_empty() {
            self.point(Id('r', at), Shape::Dot, Vec::new(), "");
        }
        if let (Some(last), Some(head)) = (self.loose.last(), head) {
            let (from, label) = (last.from, label::limits(node));
            self.graph.arrows.push(Arrow {
                from,
                to: head,
                label,
                kind: ArrowKind::Back,
            });
        }
        if node.max.is_none() && node.until.is_none() {
            self.loose.clear();
        }
        self.loose.extend(exits);
    }
}

/// Returns whether a workflow has steps, and not only transfer targets.
fn has_steps(nodes: &[Node<'_>], node: &Node<'_>) -> bool {
    node.children.iter().any(|&child| !nodes[child].transfer)
}

#[cfg(test)]
mod tests;
