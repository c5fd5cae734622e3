//! [`Rehearsal`]: a model for dry runs that answers every request at no cost, the same in each run.

mod prompts;
mod sample;

use crate::content::{Content, FunctionCall, Part, Role};
use crate::model::{
    FinishReason, Model, ModelChunk, ModelError, ModelRequest, ModelResponse, ModelStream,
    ToolDeclaration,
};
use crate::{At, Path};
use futures_util::stream;
use prompts::PrintedRequest;
use sample::Sampler;
use std::fmt;
use std::sync::Arc;

/// A model for dry runs. A workflow runs completely before its model calls cost money.
///
/// - An agent with an output type gets JSON that fits its schema. Another agent gets a short text
///   with its name and round.
/// - In a loop, a tool that may end the loop is called in the [second](Self::rounds) round. Values
///   change with the rounds: in the last round a `bool` is true and a number with limits has its
///   upper limit, so that `until` conditions and thresholds are met. An enum shows one variant
///   after the other.
/// - Other tools are not called, because their effects would be real; see
///   [`with_tool_calls`](Self::with_tool_calls). Agents do not hand over; see
///   [`with_transfers`](Self::with_transfers).
/// - The model needs no network, counts no tokens, and gives equal answers in equal runs.
///
/// ```
/// # use adk_build as adk;
/// use adk::Rehearsal;
/// use adk::model::ModelRef;
///
/// let model = ModelRef::from(Rehearsal::new().rounds(3));
/// // Runner::builder().model(model) ...
/// ```
#[derive(Clone, Debug)]
pub struct Rehearsal {
    rounds: u32,
    tool_calls: bool,
    transfers: bool,
    prompts: bool,
}

impl Default for Rehearsal {
    fn default() -> Self {
        Self::new()
    }
}

impl Rehearsal {
    /// Creates a model that ends loops in their second round and calls only tools that end a loop.
    pub fn new() -> Self {
        Self {
            rounds: 2,
            tool_calls: false,
            transfers: false,
            prompts: false,
        }
    }

    /// Sets the round in which loops end, counted from 1. A loop's own `max` may end the loop
    /// earlier.
    #[must_use]
    pub fn rounds(mut self, rounds: u32) -> Self {
        self.rounds = rounds.max(1);
        self
    }

    /// Calls each tool of an agent once per turn, all in one reply, with arguments that fit the
    /// schema. The tools really execute, with all their effects.
    #[must_use]
    pub fn with_tool_calls(mut self) -> Self {
        self.tool_calls = true;
        self
    }

    /// Lets agents hand over in their first call, to the first permitted agent, next to their tool
    /// calls. Without this setting no agent hands over.
    #[must_use]
    pub fn with_transfers(mut self) -> Self {
        self.transfers = true;
        self
    }

    /// Sets whether each call prints its request to standard error: the filled prompt, the results
    /// of tools, the offered tools and the schema of the answer. Texts are cut after 2,000
    /// characters. Default `false`.
    #[must_use]
    pub fn prompts(mut self, shown: bool) -> Self {
        self.prompts = shown;
        self
    }

    fn answer(&self, request: &ModelRequest) -> Content {
        let info = &request.info;
        let sampler = Sampler {
            round: round(&info.path),
            rounds: self.rounds,
        };
        let calls = self.calls(request);
        if !calls.is_empty() {
            let calls = calls.into_iter().map(|tool| Part::from(sampler.call(tool)));
            return Content::new(Role::Model, calls.collect());
        }
        match &request.response_schema {
            Some(schema) => Content::model(sampler.sample(schema, &info.agent).to_string()),
            None => Content::model(format!("(rehearsed answer of {})", AgentInRound(request))),
        }
    }

    /// Returns the tools to call now: in the first call of a turn the tools with effects, then the
    /// tools that end the loop.
    fn calls<'a>(&self, request: &'a ModelRequest) -> Vec<&'a ToolDeclaration> {
        let transfers = self.transfers && !request.info.handed_over;
        let select = |escalates: bool| {
            let tools = request
                .tools
                .iter()
                .filter(move |tool| tool.escalates == escalates);
            tools.filter(move |tool| match &*tool.name {
                "transfer_to_agent" => transfers,
                _ => self.tool_calls || escalates,
            })
        };
        let others: Vec<_> = select(false).collect();
        let ends = request
            .info
            .path
            .iteration()
            .is_some_and(|round| round + 1 >= self.rounds);
        match request.info.turn {
            0 if !others.is_empty() => others,
            turn if ends && turn == u32::from(!others.is_empty()) => select(true).take(1).collect(),
            _ => Vec::new(),
        }
    }
}

/// Returns the round of the innermost loop, counted from 1; returns 1 outside of loops.
fn round(path: &Path) -> u32 {
    path.iteration().map_or(1, |round| round + 1)
}

/// Displays the agent and its round, such as `critic, round 2`.
struct AgentInRound<'a>(&'a ModelRequest);

impl fmt::Display for AgentInRound<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let info = &self.0.info;
        f.write_str(&info.agent)?;
        let mut node = Some(&info.path);
        while let Some(path) = node {
            match path.at() {
                At::Once | At::Turn(_) => node = path.parent(),
                At::Round(round) => return write!(f, ", round {round}"),
                At::Item(item) => return write!(f, ", item {item}"),
            }
        }
        Ok(())
    }
}

impl Sampler {
    fn call(&self, tool: &ToolDeclaration) -> FunctionCall {
        let args = match self.sample(&tool.parameters, &tool.name) {
            serde_json::Value::Object(args) => args,
            _ => serde_json::Map::new(),
        };
        FunctionCall {
            name: tool.name.to_string(),
            args,
            ..FunctionCall::default()
        }
    }
}

impl Model for Rehearsal {
    fn name(&self) -> &str {
        "rehearsal"
    }

    fn answers_in_schema_beside_tools(&self) -> bool {
        true
    }

    /// Accepts all tools. None is run.
    fn check_provider_tool(&self, _: &str, _: bool) -> Result<(), ModelError> {
        Ok(())
    }

    fn generate(&self, request: Arc<ModelRequest>) -> ModelStream {
        if self.prompts {
            eprintln!("{}", PrintedRequest(&request));
        }
        let content = self.answer(&request);
        let mut chunks = Vec::new();
        if request.stream {
            let text = content.text();
            chunks.extend(
                text.split_inclusive(' ')
                    .map(|word| Ok(ModelChunk::Text(word.to_owned()))),
            );
        }
        let mut response = ModelResponse::new(content);
        response.finish_reason = Some(FinishReason::Stop);
        chunks.push(Ok(ModelChunk::Done(response)));
        Box::pin(stream::iter(chunks))
    }
}

#[cfg(test)]
mod tests;
