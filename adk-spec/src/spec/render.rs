//! Diagrams of a [`Spec`](super::Spec): a tree in text, and diagrams for Mermaid and Graphviz.

mod dot;
mod flow;
mod graph;
mod label;
mod mermaid;
mod text;

pub use dot::DotLook;

#[cfg(test)]
mod tests;
