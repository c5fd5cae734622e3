//! Agent workflows that rustc checks.
//!
//! A workflow of LLM agents and plain functions is one macro, [`workflow!`]. Functions become
//! agents with [`#[agent]`](macro@agent) and tools with [`#[tool]`](macro@tool). Your types become
//! data that models read and write with [`#[data]`](macro@data). A [`Runner`] runs the workflow:
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
//!             instruction: "Write about {topic}. The text so far: {text?}",
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
//! | topic | items |
//! |---|---|
//! | the language | [`workflow!`], [`llm::agent!`](macro@llm::agent) |
//! | agents | [`#[agent]`](macro@agent), [`Agent`], [`Context`] |
//! | tools | [`#[tool]`](macro@tool), [`ToolContext`], [`tools`] |
//! | trees that are built at run time | [`build`], [`AgentBuilder`], [`llm::LlmAgent`] |
//! | their blocks | [`SequentialAgent`], [`LoopAgent`], [`ParallelAgent`] |
//! | their tools | [`tool::FunctionTool`](struct@tool::FunctionTool) |
//! | runs | [`Runner`], [`RunRequest`], [`RunStream`], [`Outcome`], [`RunConfig`] |
//! | events | [`Event`], [`Content`], [`Part`], [`Actions`] |
//! | stores | [`session`], [`ArtifactStore`], [`memory`], [`engine`] |
//! | models | [`model`], [`Rehearsal`], [`testing::ScriptedModel`]; all providers by `genai` |
//! | a workflow as data | [`spec`], [`check`] |
//! | compile errors | [`checks`], with a page for each |
//! | run-time errors | [`Error`], [`ErrorKind`] |
//!
//! # Through another crate
//!
//! The macros' output names this crate, as `adk` or by its name in your manifest. A crate that
//! re-exports all of it (`pub use adk::*`) works too if it is called `adk`: by `adk = { package =
//! "my-facade", ... }` in the manifest, or by `extern crate my_facade as adk;` at the root of your
//! crate.

// Makes the macros' absolute paths valid in this crate's own tests and docs.
#[allow(unused_extern_crates, reason = "the macros' paths begin with it")]
extern crate self as adk;

pub mod prelude;

pub use adk_build::{
    AGENT_LIFECYCLE_KEY, ATTEMPT_KEY, Actions, Agent, AgentKind, AgentMeta, AgentTool,
    AnnouncedKeys, AnsweredBy, Answerer, ArtifactStore, Artifacts, At, Await, AwaitBuilder,
    BRANCH_ORDER_KEY, Blob, BoxError, BoxFuture, BoxStream, BuildError, CallbackContext, Content,
    Context, Details, DynAgent, DynTool, Error, ErrorKind, Event, EventCompaction, EventId,
    FailedAttempt, FileData, Flow, FolderArtifacts, FunctionCall, FunctionResponse, Gives,
    Handover, History, InMemoryStore, IntoAgent, IntoAgents, IntoInput, KeySpec, LEFT_OUT_KEY,
    LIFECYCLE_KEY, LOOP_ITERATION_KEY, Lifecycle, LifecycleOutcome, LifecyclePhase, LiveQueue,
    LoopAgent, LoopEnd, LoopEndReason, MARKS_KEY, MAX_DEPTH, MemoryArtifacts, Name, Needs,
    NoAnswerKind, NoArtifacts, NoResources, Out, Outcome, ParallelAgent, Part, Path, PathError,
    Plugin, Prepare, ProcessRequest, RareActions, ReadonlyContext, Registry, Rehearsal,
    RemoteErrorKind, Resources, Result, Role, RunConfig, RunEnd, RunId, RunRequest, RunStream,
    STATE_UPDATE_KEY, Secret, SequentialAgent, SessionTurns, Spec, State, StateDelta, Store,
    StoreErrorKind, StoredPart, Thought, Tool, ToolArgs, ToolContext, ToolError, ToolMeta,
    ToolWorkflow, Toolset, ToolsetErrorKind, Tree, UNWRITTEN_KEY, Unstamped, WINNER_KEY, Waiting,
    Watch, WithCallbacks, Workflow,
};
pub use adk_build::{
    build, callback, check, engine, fluent, memory, model, runner, session, spec, tool, tools,
    workflow,
};
pub use adk_macros::{Resources, agent, data, tool, workflow};
/// JSON values, for data without a type.
pub use serde_json::{Value, json};

/// Tests without a model, and with the feature `testing` tests of recorded runs.
pub mod testing {
    pub use adk_build::testing::*;
    #[cfg(feature = "testing")]
    pub use adk_testing::*;

    /// Begins a golden test: see [`Golden`]. `name` is the path of its two files without an ending,
    /// relative to the folder of `Cargo.toml`. To record, models are found by name as a
    /// [`Runner`](crate::Runner) finds them.
    #[cfg(feature = "testing")]
    pub fn golden(name: impl Into<String>) -> Golden {
        adk_testing::golden(name)
            .model_provider(|| std::sync::Arc::<crate::DefaultProvider>::default())
    }
}

#[cfg(feature = "testing")]
pub use adk_testing::explore;

/// Evals with the files and numbers of google-adk.
#[cfg(feature = "eval")]
pub use adk_eval as eval;
// The function has the name of the module: `adk::eval("evals/desk.evalset.json")`.
#[cfg(feature = "eval")]
pub use adk_eval::eval;

/// Agents that ask a language model.
pub mod llm {
    pub use adk_build::llm::*;
    // `#[agent]` and `agent!` cannot share one module, because attributes and function-like macros
    // have one namespace. A program that imports both by name has both, because rustc selects the
    // macro by the kind of its use.
    pub use adk_macros::llm_agent as agent;
}

/// The provider by which a [`Runner`] finds models by name: every provider of the `genai`
/// crate.
#[cfg(feature = "genai")]
pub use adk_genai::{self as genai, Genai as DefaultProvider};

/// Tools of MCP servers.
#[cfg(feature = "mcp")]
pub use adk_mcp as mcp;

/// Sessions and runs that survive the process, in a SQLite file.
#[cfg(feature = "sqlite")]
pub use adk_sqlite as sqlite;

/// Sessions and runs that survive the process, in a Postgres database that many processes
/// share.
#[cfg(feature = "postgres")]
pub use adk_postgres as postgres;
#[cfg(feature = "restate")]
pub use adk_restate as restate;

#[cfg(feature = "server")]
pub mod server;
#[cfg(feature = "server")]
pub use server::serve;

/// Agents of other programs as steps, over A2A.
#[cfg(feature = "a2a")]
pub use adk_a2a as a2a;

/// Traces and metrics, exported over OTLP.
#[cfg(feature = "otel")]
pub use adk_otel as otel;

/// The provider by which a [`Runner`] finds models by name: without the feature `genai`, it
/// finds none.
#[cfg(not(feature = "genai"))]
pub use adk_build::model::NoProvider as DefaultProvider;

/// A runner of workflows, with models, stores and settings. Cheap to clone. `R` is the type of the
/// resources for tools and agents: [`NoResources`], or a struct with
/// [`#[derive(Resources)]`](derive@Resources).
pub type Runner<R = NoResources> = adk_build::Runner<DefaultProvider, R>;

/// A builder that goes from an agent to an answer in one chain: agent, runner and session.
pub type AgentBuilder = adk_build::AgentBuilder<DefaultProvider>;

/// Items that the macros' output refers to. Not for users: the module changes without notice.
#[doc(hidden)]
pub mod __private {
    pub use adk_build::__private::*;
}

#[cfg(any(doc, doctest))]
mod docs;
#[cfg(any(doc, doctest))]
pub use docs::checks;

/// The code of the macros' documentation, compiled and run. Not in the crate of the macros,
/// because Cargo would build this crate and all its dependencies a second time for that crate.
#[cfg(doctest)]
#[doc = include_str!("../adk-macros/docs/agent.md")]
#[doc = include_str!("../adk-macros/docs/tool.md")]
#[doc = include_str!("../adk-macros/docs/data.md")]
#[doc = include_str!("../adk-macros/docs/resources.md")]
#[doc = include_str!("../adk-macros/docs/language.md")]
#[doc = include_str!("../adk-macros/docs/llm_agent.md")]
pub struct Macros;

/// The code of the README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;

/// The code of the guide for users of ADK, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../docs/from-adk.md")]
pub struct FromAdk;

/// The code of the page about errors, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../docs/errors.md")]
pub struct Errors;

/// The code of the guide to running workflows, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../docs/running.md")]
pub struct Running;

/// The code of the page about text of strangers, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../docs/guide/strangers.md")]
pub struct Strangers;

/// The code of the page about providers, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../docs/providers.md")]
pub struct Providers;
