//! Tools that the provider of a model runs itself: ADK's built-in tools.
//!
//! Such a tool is a name in the model request. It has no arguments, the runtime never calls it, and
//! the model that answers has already used it. Before the first step of a run, each model of the
//! agent accepts the tool, or the run fails with an error of kind `Config`.
//!
//! | tool | models |
//! |---|---|
//! | [`google_search`], [`code_execution`], [`url_context`] | Gemini 2 and later |
//! | [`web_search`] | OpenAI's responses API; Anthropic |
//!
//! Gemini does not accept these tools beside functions. Give the tool to an agent of its own, which
//! other agents use as a tool:
//!
//! ```ignore
//! /// Searches the web for current facts.
//! agent searcher {
//!     instruction: "Answer with what you find.",
//!     tools: [adk::llm::provider::google_search],
//! }
//!
//! /// Writes the report.
//! agent writer -> report: String {
//!     instruction: "Write about {topic}.",
//!     tools: [agent(searcher), save],
//!     max_turns: 8,
//! }
//! ```

use super::agent::LlmAgent;
use super::toolbox::is_function;
use crate::model::ToolDeclaration;
use crate::runtime::agent::DynAgent as _;
use crate::runtime::run::ModelChain;
use crate::runtime::tool::{Tool, ToolArgs, ToolContext, ToolError, without_arguments};
use crate::spec::{Labels, ToolMeta};
use crate::{Error, ErrorKind, Result};
use serde_json::Value;
use std::sync::LazyLock;

/// What a search asks for leaves, and strangers wrote what it finds.
const OPEN_WORLD: Labels = Labels::UNTRUSTED.and(Labels::SENDS);

macro_rules! provider_tools {
    ($($(#[$doc:meta])* $name:ident = $description:literal, $labels:expr;)*) => {$(
        $(#[$doc])*
        #[allow(non_camel_case_types, reason = "the name that it has in `tools`")]
        #[derive(Clone, Copy, Debug, Default)]
        pub struct $name {}

        impl Tool for $name {
            const META: ToolMeta<'static> = ToolMeta::new(stringify!($name), $description)
                .at_provider(true)
                .labels($labels);

            fn declaration(&self) -> &ToolDeclaration {
                static DECLARATION: LazyLock<ToolDeclaration> =
                    LazyLock::new(|| without_arguments(&$name::META));
                &DECLARATION
            }

            async fn call(&self, _: ToolArgs, _: &mut ToolContext) -> Result<Value, ToolError> {
                Err(ToolError::failed(concat!(
                    "`",
                    stringify!($name),
                    "` cannot be called: the provider runs it"
                )))
            }
        }
    )*};
}

provider_tools! {
    /// Google's search. The event of the answer has the sources in
    /// [`grounding_metadata`](crate::Details::grounding_metadata), as in ADK.
    google_search = "Searches the web with Google.", OPEN_WORLD;
    /// Python code that the model writes, and that the provider runs: ADK's
    /// `BuiltInCodeExecutor`. The answer has the code and its output as parts `executableCode` and
    /// `codeExecutionResult`.
    code_execution = "Runs Python code that the model writes.", Labels::LOCAL;
    /// Pages whose addresses are in the conversation.
    url_context = "Reads the pages at addresses in the conversation.", OPEN_WORLD;
    /// The search of OpenAI and of Anthropic. The sources are only in the text of the answer.
    web_search = "Searches the web.", OPEN_WORLD;
}

impl LlmAgent {
    /// Checks that each model of the agent has the tools that its provider has to run.
    pub(super) fn check_provider_tools(
        &self,
        models: Option<&ModelChain>,
        is_target: bool,
    ) -> Result<()> {
        let at_provider = || {
            let tools = self.tools().map(|tool| tool.meta());
            tools.filter(|tool| tool.at_provider)
        };
        let Some(models) = models.filter(|_| at_provider().next().is_some()) else {
            return Ok(());
        };
        let meta = self.meta();
        let hands_over =
            !meta.transfer.is_empty() || is_target && self.disallow_transfer != (true, true);
        let answers_by_tool = self.schema().is_some()
            && !models
                .iter()
                .all(|model| model.answers_in_schema_beside_tools());
        let beside_functions = hands_over
            || answers_by_tool
            || self.tools().any(|tool| is_function(&**tool))
            || self.toolsets().next().is_some();
        for tool in at_provider() {
            for model in models.iter() {
                if let Err(refused) = model.check_provider_tool(tool.name, beside_functions) {
                    let error = Error::new(ErrorKind::Config, refused.message());
                    return Err(match refused.help() {
                        Some(help) => error.with_help(help),
                        None => error,
                    });
                }
            }
        }
        Ok(())
    }
}
