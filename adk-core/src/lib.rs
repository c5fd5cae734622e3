//! The runtime of `adk-workflow`; users depend on that crate and write `use adk::...`.

#[doc(hidden)]
pub mod __private;
mod agents;
mod builders;
mod content;
mod depth;
mod encode;
mod error;
mod flow;
mod id;
mod model_error;
mod models;
mod panic;
mod path;
mod runtime;
mod secret;
pub mod spec;
mod store;
mod sync;
mod task;

pub use adk_spec::{Name, check};
pub use agents::agent_tool::AgentTool;
pub use agents::ask::{Await, AwaitBuilder};
pub use agents::llm::ToolWorkflow;
pub use agents::{llm, tools};
pub use builders::build::{
    BuildError, IntoAgent, IntoAgents, LoopAgent, ParallelAgent, Registry, SequentialAgent, Tree,
};
pub use builders::fluent::AgentBuilder;
pub use builders::{build, fluent};
pub use content::{Blob, Content, FileData, FunctionCall, FunctionResponse, Part, Role, Thought};
pub use depth::MAX_DEPTH;
pub use error::{
    BoxError, Error, ErrorKind, NoAnswerKind, RemoteErrorKind, Result, StoreErrorKind,
    ToolsetErrorKind,
};
pub use flow::Flow;
pub use id::{EventId, RunId};
pub use models::rehearsal::Rehearsal;
pub use models::{model, testing};
pub use path::{At, Path, PathError};
pub use runtime::agent::{Agent, AnnouncedKeys, DynAgent, Handover, WithCallbacks};
pub use runtime::callback::{CallbackContext, Plugin};
pub use runtime::live::LiveQueue;
pub use runtime::resources::{Gives, Needs, NoResources, Resources};
pub use runtime::run::memory;
pub use runtime::run::{
    AGENT_LIFECYCLE_KEY, ATTEMPT_KEY, ArtifactStore, Artifacts, Context, FailedAttempt,
    FolderArtifacts, History, LIFECYCLE_KEY, Lifecycle, LifecycleOutcome, LifecyclePhase, LoopEnd,
    LoopEndReason, MemoryArtifacts, NoArtifacts, Out, Outcome, Prepare, ReadonlyContext, RunConfig,
    SessionTurns, State, StoredPart, TraceCarrier, WINNER_KEY, Waiting, set_trace_carrier,
};
pub use runtime::runner::{
    InMemoryStore, IntoInput, RunEnd, RunRequest, RunStream, Runner, Store, Watch,
};
pub use runtime::tool::{DynTool, ProcessRequest, Tool, ToolArgs, ToolContext, ToolError, Toolset};
pub use runtime::workflow::Workflow;
pub use runtime::{callback, runner, tool, workflow};
pub use secret::Secret;
pub use spec::{AgentKind, AgentMeta, AnsweredBy, KeySpec, Spec, ToolMeta};
pub use store::engine::Answerer;
pub use store::event::{
    Actions, BRANCH_ORDER_KEY, Details, Event, EventCompaction, LEFT_OUT_KEY, LOOP_ITERATION_KEY,
    RareActions, STATE_UPDATE_KEY, StateDelta, UNWRITTEN_KEY, Unstamped,
};
pub use store::{engine, session};

/// A boxed future that can be sent between threads.
pub type BoxFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A boxed stream that can be sent between threads.
pub type BoxStream<'a, T> = std::pin::Pin<Box<dyn futures_core::Stream<Item = T> + Send + 'a>>;
