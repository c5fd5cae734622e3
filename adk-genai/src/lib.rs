//! Placeholder docs
mod adapter;
mod endpoint;
mod error;
mod frames;
mod model;
mod names;
mod plan;
mod provider;
mod repair;
mod request;
mod response;
mod retry_after;
mod schema;

pub use adapter::Adapter;
pub use model::GenaiModel;
pub use provider::{Genai, GenaiBuilder};
