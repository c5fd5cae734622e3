//! A dry run: a model that answers everything, costs nothing and says the same each time.

mod prompts;
mod sample;

use crate::content::{Content, FunctionCall, Part, Role};
use crate::models::model::{
    FinishReason, Model, ModelChunk, ModelRequest, ModelResponse, ModelStream, ToolDeclaration,
};
use crate::{At, Path};
use futures_util::stream;
use prompts::Prompt;
use sample::Sampler;
use std::fmt;
use std::sync::Arc;

/// A model for dry runs: a workflow runs as a whole before anything is paid for.
///
/// - An agent with an output type gets JSON that fits its schema, any other a short text that says who answers and in
///   which round.
/// - In a loop a tool that may end it is called in the [second](Self::rounds) round. Values move with the rounds as
///   well: in the last of them a `bool` is true and a number with limits is at its upper one, so that `until` and
///   thresholds are met; an enum shows one variant after the other.
/// - Other tools are not called, since they would do what they do; see [`with_tool_calls`](Self::with_tool_calls). Nobody
///   hands over; see [`with_transfers`](Self::with_transfers).
/// - It needs no network, counts no tokens, and gives the same answers to the same run.
///
/// ```
/// # use adk_core as adk;
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
    /// Loops end in their second round, and only tools that end a loop are called.
    pub fn new() -> Self {
        Self { rounds: 2, tool_calls: false, transfers: false, prompts: false }
    }

    /// In which round the loops end, counted from 1. A loop's own `max` may end it before.
    #[must_use]
    pub fn rounds(mut self, rounds: u32) -> Self {
        self.rounds = rounds.max(1);
        self
    }

    /// Calls each tool that an agent has, once per turn and all at once, with arguments that fit its schema. The tools
    /// do run: what they write and send is written and sent.
    #[must_use]
    pub fn with_tool_calls(mut self) -> Self {
        self.tool_calls = true;
        self
    }

    /// Agents that may hand over to others do so in their first call, to the first of them, beside the tools that they
    /// call; who was handed over to answers. Without this, nobody hands over.
    #[must_use]
    pub fn with_transfers(mut self) -> Self {
        self.transfers = true;
        self
    }

    /// Whether each call writes to standard error what the model is asked: the filled prompt, the results of tools, the tools
    /// that are offered and the schema of the answer. Of a text the first 2,000 characters are shown. Default `false`.
    #[must_use]
    pub fn prompts(mut self, shown: bool) -> Self {
        self.prompts = shown;
        self
    }

    fn answer(&self, request: &ModelRequest) -> Content {
        let info = &request.info;
        let sampler = Sampler { round: round(&info.path), rounds: self.rounds };
        let calls = self.calls(request);
        if !calls.is_empty() {
            let calls = calls.into_iter().map(|tool| Part::from(sampler.call(tool)));
            return Content::new(Role::Model, calls.collect());
        }
        match &request.response_schema {
            Some(schema) => Content::model(sampler.sample(schema, &info.agent).to_string()),
            None => Content::model(format!("(rehearsed answer of {})", Who(request))),
        }
    }

    /// The tools to call now: those that do something in the first call of a turn, then those that end the loop.
    fn calls<'a>(&self, request: &'a ModelRequest) -> Vec<&'a ToolDeclaration> {
        let transfers = self.transfers && !request.info.handed_over;
        let of = |escalates: bool| {
            let tools = request.tools.iter().filter(move |tool| tool.escalates == escalates);
            tools.filter(move |tool| match &*tool.name {
                "transfer_to_agent" => transfers,
                _ => self.tool_calls || escalates,
            })
        };
        let others: Vec<_> = of(false).collect();
        let ends = request.info.path.iteration().is_some_and(|round| round + 1 >= self.rounds);
        match request.info.turn {
            0 if !others.is_empty() => others,
            turn if ends && turn == u32::from(!others.is_empty()) => of(true).take(1).collect(),
            _ => Vec::new(),
        }
    }
}

/// The round of the innermost loop, counted from 1; 1 outside of loops.
fn round(path: &Path) -> u32 {
    path.iteration().map_or(1, |round| round + 1)
}

/// The agent and its round, such as `critic, round 2`.
struct Who<'a>(&'a ModelRequest);

impl fmt::Display for Who<'_> {
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
        FunctionCall { name: tool.name.to_string(), args, ..FunctionCall::default() }
    }
}

impl Model for Rehearsal {
    fn name(&self) -> &str {
        "rehearsal"
    }

    fn answers_in_schema_beside_tools(&self) -> bool {
        true
    }

    fn generate(&self, request: Arc<ModelRequest>) -> ModelStream {
        if self.prompts {
            eprintln!("{}", Prompt(&request));
        }
        let content = self.answer(&request);
        let mut chunks = Vec::new();
        if request.stream {
            let text = content.text();
            chunks.extend(text.split_inclusive(' ').map(|word| Ok(ModelChunk::Text(word.to_owned()))));
        }
        let mut response = ModelResponse::new(content);
        response.finish_reason = Some(FinishReason::Stop);
        chunks.push(Ok(ModelChunk::Done(response)));
        Box::pin(stream::iter(chunks))
    }
}

#[cfg(test)]
mod tests;
