//! Models for tests: they say what the test tells them and remember what they were asked.

mod reply;
mod scripted;

pub use reply::Reply;
pub use scripted::ScriptedModel;
