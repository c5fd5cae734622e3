//! Builders of agent trees at run time, and the fluent [`AgentBuilder`](fluent::AgentBuilder).

pub mod build;
pub mod fluent;
