//! What the author of a store for `adk-workflow` needs: [`Event`], [`Session`](session::Session)
//! with its [`SessionStore`](session::SessionStore), the roles of an [`Engine`](engine::Engine),
//! [`ArtifactStore`] and [`MemoryService`](memory::MemoryService), and each of them in memory.
//!
//! Users of workflows depend on the crate `adk-workflow`, which re-exports these items.

pub mod __private;
mod artifacts;
pub mod engine;
mod event;
pub mod memory;
mod outbox;
mod panic;
pub mod session;
mod store;
mod task;
mod topology;

pub use artifacts::{ArtifactStore, FolderArtifacts, MemoryArtifacts, NoArtifacts, StoredPart};
pub use event::{
    AGENT_LIFECYCLE_KEY, ATTEMPT_KEY, Actions, BRANCH_ORDER_KEY, COST_KEY, Details, Event,
    EventCompaction, FailedAttempt, LEFT_OUT_KEY, LIFECYCLE_KEY, LOOP_ITERATION_KEY, Lifecycle,
    LifecycleOutcome, LifecyclePhase, MARKS_KEY, RareActions, STATE_UPDATE_KEY, StateDelta,
    UNWRITTEN_KEY, Unstamped, WINNER_KEY,
};
pub use store::{InMemoryStore, Store};
pub use topology::Topology;

use adk_model::__private::{depth, encode, id, secret, sync};
use adk_model::{
    At, Blob, BoxFuture, Content, Error, ErrorKind, EventId, Flow, FunctionCall, FunctionResponse,
    LoopEnd, LoopEndReason, Name, Part, Path, Result, Role, RunId, StoreErrorKind, model,
};
use adk_spec::spec::AnsweredBy;
