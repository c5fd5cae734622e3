//! Diagrams of a [`Spec`](super::Spec): a tree in text, and diagrams for Mermaid and Graphviz.

mod dot;
mod flow;
mod graph;
mod label;
mod mermaid;
mod overlay;
mod text;

pub use dot::DotLook;
pub(crate) use graph::NodePaint;
pub(crate) use overlay::Overlay;

#[cfg(test)]
mod tests;
