//! What the author of a model provider for `adk-workflow` needs: [`Content`], the trait
//! [`Model`](model::Model) with its requests and responses, [`Error`], and models for tests.
//!
//! Users of workflows depend on the crate `adk-workflow`, which re-exports these items.

pub mod __private;
mod content;
mod depth;
mod encode;
mod error;
mod flow;
mod id;
mod limit;
pub mod model;
mod model_error;
mod path;
mod rehearsal;
mod schema;
mod secret;
mod sync;
pub mod testing;

pub use adk_spec::Name;
pub use content::{Blob, Content, FileData, FunctionCall, FunctionResponse, Part, Role, Thought};
pub use depth::MAX_DEPTH;
pub use error::{
    BoxError, Error, ErrorKind, NoAnswerKind, RemoteErrorKind, Result, StoreErrorKind,
    ToolsetErrorKind,
};
pub use flow::{Flow, LoopEnd, LoopEndReason};
pub use id::{EventId, RunId};
pub use path::{At, Path, PathError};
pub use rehearsal::Rehearsal;
pub use secret::Secret;

/// A boxed future that can be sent between threads.
pub type BoxFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A boxed stream that can be sent between threads.
pub type BoxStream<'a, T> = std::pin::Pin<Box<dyn futures_core::Stream<Item = T> + Send + 'a>>;
