//! Models for tests. They follow a script and record their requests.

mod reply;
mod scripted;

pub use reply::Reply;
pub use scripted::ScriptedModel;
