//! The runtime of `adk-workflow`; users depend on that crate and write `use adk::...`.

pub mod __private;
mod agents;
mod runtime;
pub mod spec;

use adk_journal::__private as store;
use adk_journal::__private::{panic, task};
use adk_model::__private::{depth, encode, id, limit, schema, secret, sync};

pub use adk_journal::engine::Answerer;
pub use adk_journal::{
    AGENT_LIFECYCLE_KEY, ATTEMPT_KEY, Actions, ArtifactStore, BRANCH_ORDER_KEY, Details, Event,
    EventCompaction, FailedAttempt, FolderArtifacts, InMemoryStore, LEFT_OUT_KEY, LIFECYCLE_KEY,
    LOOP_ITERATION_KEY, Lifecycle, LifecycleOutcome, LifecyclePhase, MARKS_KEY, MemoryArtifacts,
    NoArtifacts, RareActions, STATE_UPDATE_KEY, StateDelta, Store, StoredPart, UNWRITTEN_KEY,
    Unstamped, WINNER_KEY, engine, memory, session,
};
pub use adk_model::{
    At, Blob, BoxError, BoxFuture, BoxStream, Content, Error, ErrorKind, EventId, FileData, Flow,
    FunctionCall, FunctionResponse, LoopEnd, LoopEndReason, MAX_DEPTH, Name, NoAnswerKind, Part,
    Path, PathError, Rehearsal, RemoteErrorKind, Result, Role, RunId, Secret, StoreErrorKind,
    Thought, ToolsetErrorKind, model, testing,
};
pub use adk_spec::check;
pub use agents::agent_tool::AgentTool;
pub use agents::ask::{Await, AwaitBuilder};
pub use agents::llm::ToolWorkflow;
pub use agents::{llm, tools};
pub use runtime::agent::{Agent, AnnouncedKeys, DynAgent, Handover, WithCallbacks};
pub use runtime::callback::{CallbackContext, Plugin};
pub use runtime::live::LiveQueue;
pub use runtime::resources::{Gives, Needs, NoResources, Resources};
pub use runtime::run::{
    Artifacts, Context, History, Out, Outcome, Prepare, ReadonlyContext, RunConfig, SessionTurns,
    State, TraceCarrier, Waiting, set_trace_carrier,
};
pub use runtime::runner::{IntoInput, RunEnd, RunRequest, RunStream, Runner, Watch};
pub use runtime::tool::{DynTool, ProcessRequest, Tool, ToolArgs, ToolContext, ToolError, Toolset};
pub use runtime::workflow::Workflow;
pub use runtime::{callback, runner, tool, workflow};
pub use spec::{AgentKind, AgentMeta, AnsweredBy, KeySpec, Spec, ToolMeta};
