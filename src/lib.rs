//! Agent workflows that rustc checks.
//!
//! A workflow of LLM agents and plain functions is one macro, [`workflow!`]. Functions become agents with
//! [`#[agent]`](macro@agent) and tools with [`#[tool]`](macro@tool); types of your own become data that models read and
//! write with [`#[data]`](macro@data). A [`Runner`] runs it:
//!
//! ```
//! use adk::prelude::*;
//!
//! /// Ends the loop once the text is long enough.
//! #[agent]
//! fn long_enough(text: &str) -> Flow {
//!     Flow::exit_if(text.len() > 20)
//! }
//!
//! workflow! {
//!     /// Writes about a topic, longer and longer.
//!     pub Writing(topic: String) -> text: String {
//!         /// Writes.
//!         agent writer -> text: String {
//!             instruction: "Write about {topic}. What is there so far: {text?}",
//!         }
//!
//!         growing: loop(max = 5) < writer; long_enough >
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> adk::Result<()> {
//! let runner = Runner::builder().model(Rehearsal::new()).build()?;
//! let outcome = runner.run(&Writing::default(), "cats").await?;
//! println!("{} after {} rounds", outcome.output, outcome.loops[0].rounds);
//! # Ok(())
//! # }
//! ```
//!
//! | what | where |
//! |---|---|
//! | the language | [`workflow!`], [`llm::agent!`](macro@llm::agent) |
//! | agents and tools | [`#[agent]`](macro@agent), [`#[tool]`](macro@tool), [`Agent`], [`Context`], [`ToolContext`], [`tools`] |
//! | trees made at run time | [`build`], [`LoopAgent`], [`SequentialAgent`], [`ParallelAgent`], [`llm::LlmAgent`], [`tool::FunctionTool`](struct@tool::FunctionTool), [`AgentBuilder`] |
//! | running | [`Runner`], [`RunRequest`], [`RunStream`], [`Outcome`], [`RunConfig`] |
//! | what happens | [`Event`], [`Content`], [`Part`], [`Actions`] |
//! | what lasts | [`session`], [`ArtifactStore`], [`memory`], [`engine`] |
//! | models | [`model`], [`Rehearsal`], [`testing::ScriptedModel`], and with the feature `genai` those of every provider |
//! | a workflow as data | [`spec`], [`check`] |
//! | what does not compile | [`checks`], a page for each |
//! | what goes wrong | [`Error`], [`ErrorKind`] |
//!
//! # Through another crate
//!
//! What the macros write names this crate, as `adk` or as your manifest calls it. A crate that re-exports all of it (`pub use adk::*`) serves
//! as well where it is called `adk`: by `adk = { package = "my-facade", ... }` in the manifest, or by `extern crate my_facade as adk;` at the
//! root of your crate.

// So that the macros' absolute paths hold in this crate's own tests and docs as well.
#[allow(unused_extern_crates, reason = "the macros' paths begin with it")]
extern crate self as adk;

pub mod prelude;

pub use adk_core::{
    AGENT_LIFECYCLE_KEY, ATTEMPT_KEY, Actions, Agent, AgentKind, AgentMeta, AgentTool, AnnouncedKeys,
    AnsweredBy, Answerer, ArtifactStore, Artifacts, At, Await, AwaitBuilder, BRANCH_ORDER_KEY, Blob,
    BoxError, BoxFuture, BoxStream, BuildError, CallbackContext, Content, Context, Details, DynAgent,
    DynTool, Error, ErrorKind, Event, EventCompaction, EventId, FailedAttempt, FileData, Flow,
    FolderArtifacts, FunctionCall, FunctionResponse, Gives, Handover, History, InMemoryStore, IntoAgent,
    IntoAgents, IntoInput, KeySpec, LEFT_OUT_KEY, LIFECYCLE_KEY, LOOP_ITERATION_KEY, Lifecycle,
    LifecycleOutcome, LifecyclePhase, LiveQueue, LoopAgent, LoopEnd, LoopEndReason, MAX_DEPTH,
    MemoryArtifacts, Name, Needs, NoAnswerKind, NoArtifacts, NoResources, Out, Outcome, ParallelAgent, Part,
    Path, PathError, Plugin, Prepare, ProcessRequest, RareActions, ReadonlyContext, Registry, Rehearsal,
    RemoteErrorKind, Resources, Result, Role, RunConfig, RunEnd, RunId, RunRequest, RunStream,
    STATE_UPDATE_KEY, Secret, SequentialAgent, SessionTurns, Spec, State, StateDelta, Store, StoreErrorKind,
    StoredPart, Thought, Tool, ToolArgs, ToolContext, ToolError, ToolMeta, ToolWorkflow, Toolset,
    ToolsetErrorKind, Tree, UNWRITTEN_KEY, Unstamped, WINNER_KEY, Waiting, Watch, WithCallbacks, Workflow,
};
pub use adk_core::{
    build, callback, check, engine, fluent, memory, model, runner, session, spec, testing, tool, tools,
    workflow,
};
pub use adk_macros::{Resources, agent, data, tool, workflow};
/// JSON values, for what has no type of its own.
pub use serde_json::{Value, json};

/// Agents that ask a language model.
pub mod llm {
    pub use adk_core::llm::*;
    // `#[agent]` and `agent!` cannot share one module: attributes and function-like macros have one namespace. A
    // program that imports both by name still has both, since rustc looks for the kind that is used.
    pub use adk_macros::llm_agent as agent;
}

/// Where a [`Runner`] looks for models by name: every provider of the `genai` crate.
#[cfg(feature = "genai")]
pub use adk_genai::{self as genai, Genai as DefaultProvider};

/// Tools of MCP servers.
#[cfg(feature = "mcp")]
pub use adk_mcp as mcp;

/// Sessions and runs that survive the process, in a SQLite file.
#[cfg(feature = "sqlite")]
pub use adk_sqlite as sqlite;

/// Sessions and runs that survive the process, in a Postgres database that many processes share.
#[cfg(feature = "postgres")]
pub use adk_postgres as postgres;
#[cfg(feature = "restate")]
pub use adk_restate as restate;

/// Workflows as a service over HTTP.
#[cfg(feature = "server")]
pub use adk_server::{self as server, serve};

/// Agents of other programs as steps, over A2A.
#[cfg(feature = "a2a")]
pub use adk_a2a as a2a;

/// Traces and metrics, exported over OTLP.
#[cfg(feature = "otel")]
pub use adk_otel as otel;

/// Where a [`Runner`] looks for models by name: nowhere, without the feature `genai`.
#[cfg(not(feature = "genai"))]
pub use adk_core::model::NoProvider as DefaultProvider;

/// Runs workflows: models, stores and settings. Cheap to clone. `R` is what it gives to tools and agents: nothing, or a struct
/// with [`#[derive(Resources)]`](derive@Resources).
pub type Runner<R = NoResources> = adk_core::Runner<DefaultProvider, R>;

/// The short way from an agent to an answer: an agent, its runner and its session in one chain.
pub type AgentBuilder = adk_core::AgentBuilder<DefaultProvider>;

/// What the macros' output refers to. Not for users: it changes without notice.
#[doc(hidden)]
pub mod __private {
    pub use adk_core::__private::*;
}

#[cfg(any(doc, doctest))]
mod docs;
#[cfg(any(doc, doctest))]
pub use docs::checks;

/// The code of the README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;

/// The code of the guide for people who come from ADK, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../docs/from-adk.md")]
pub struct FromAdk;

/// The code of the guide to running workflows, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../docs/running.md")]
pub struct Running;
