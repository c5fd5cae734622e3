//! A [`Spec`](super::Spec) as a tree of nodes, for people and programs that look at a workflow.
