//! The runtime of `adk-workflow`; users depend on that crate and write `use adk::...`.

mod agent;
mod agent_tool;
mod ask;
#[doc(hidden)]
pub mod bare;
pub mod build;
pub mod callback;
mod content;
mod depth;
mod encode;
pub mod engine;
mod error;
mod event;
mod flow;
pub mod fluent;
#[doc(hidden)]
pub mod function;
mod id;
mod live;
pub mod llm;
mod made;
pub mod model;
mod outbox;
mod panic;
#[doc(hidden)]
pub mod parts;
mod path;
mod probe;
mod rehearsal;
mod run;
pub mod runner;
pub mod session;
pub mod spec;
mod sync;
pub mod testing;
pub mod tool;
pub mod tools;
#[doc(hidden)]
pub mod typed;
pub mod workflow;

pub use adk_spec::{Name, check};
#[doc(hidden)]
pub use agent::Handover;
pub use agent::{Agent, DynAgent, WithCallbacks};
pub use agent_tool::AgentTool;
#[doc(hidden)]
pub use agent_tool::AgentTooling;
pub use ask::{Await, AwaitBuilder};
pub use build::{
    BuildError, IntoAgent, IntoAgents, LoopAgent, ParallelAgent, Registry, SequentialAgent, Tree,
};
pub use callback::{CallbackContext, Plugin};
pub use content::{Blob, Content, FileData, FunctionCall, FunctionResponse, Part, Role, Thought};
pub use depth::MAX_DEPTH;
pub use error::{BoxError, Error, ErrorKind, NoAnswerKind, Result, StoreErrorKind};
pub use event::{Actions, Details, Event, LOOP_ITERATION_KEY, STATE_UPDATE_KEY, StateDelta, Unstamped};
pub use flow::Flow;
pub use fluent::AgentBuilder;
pub use id::{EventId, RunId};
pub use live::LiveQueue;
pub use path::{At, Path, PathError};
pub use rehearsal::Rehearsal;
pub use run::{
    AGENT_LIFECYCLE_KEY, ArtifactStore, Artifacts, Context, FolderArtifacts, History, LIFECYCLE_KEY,
    Lifecycle, LifecycleOutcome, LifecyclePhase, LoopEnd, LoopEndReason, MemoryArtifacts, NoArtifacts,
    Outcome, Prepare, ReadonlyContext, RunConfig, State, StoredPart, Waiting,
};
pub use runner::{IntoInput, RunEnd, RunRequest, RunStream, Runner, Watch};
pub use spec::{AgentKind, AgentMeta, KeySpec, Spec, ToolMeta};
pub use tool::{DynTool, Tool, ToolArgs, ToolContext, ToolError};
pub use workflow::Workflow;

/// A boxed future that can be sent between threads.
pub type BoxFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A boxed stream that can be sent between threads.
pub type BoxStream<'a, T> = std::pin::Pin<Box<dyn futures_core::Stream<Item = T> + Send + 'a>>;

/// What the macros' output refers to. Not for users: it changes without notice.
#[doc(hidden)]
pub mod __private {
    pub use crate::made::{MadeByMacro, MadeWorkflow, Making};
    pub use crate::probe::{OfFlow, OfResult, Otherwise, Probe, refuse};
    pub use crate::{bare, function, parts, tool::args, typed};
    pub use {schemars, serde, serde_json};
}
