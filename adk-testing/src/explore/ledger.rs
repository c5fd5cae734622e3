//! [`Ledger`]: the calls of a history, which no death undoes.

use super::gates::lock;
use super::world::Call;
use adk_core::engine::{CallKind, StepKey};
use adk_core::model::{Model, ModelError, ModelProvider, ModelRequest, ModelStream};
use adk_core::testing::{Reply, ScriptedModel};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// The calls of one history, of all its processes. Clones share them.
#[derive(Clone, Default)]
pub(super) struct Ledger(Arc<Mutex<LedgerState>>);

#[derive(Default)]
struct LedgerState {
    calls: Vec<Call>,
    /// The number of the answer of each model call that was made, by the place of the call.
    answers: HashMap<String, usize>,
}

impl Ledger {
    /// Notes that a call is made, and returns its number. A model gives the chosen answer.
    pub(super) fn begin(&self, key: &StepKey, place: &str, answer: usize) -> usize {
        let mut state = lock(&self.0);
        if let CallKind::Model | CallKind::Summary = key.kind {
            state.answers.insert(place.to_owned(), answer);
        }
        let name = match key.kind {
            CallKind::Function => key.path.name(),
            _ => &key.name,
        };
        state.calls.push(Call {
            kind: key.kind,
            name: name.to_string(),
            path: key.path.to_string(),
            place: place.to_owned(),
            index: key.index,
            is_recorded: false,
            args: Value::Null,
        });
        state.calls.len() - 1
    }

    /// Notes that the result of a call is recorded.
    pub(super) fn end(&self, number: Option<usize>) {
        if let Some(number) = number
            && let Some(call) = lock(&self.0).calls.get_mut(number)
        {
            call.is_recorded = true;
        }
    }

    /// Returns the calls in the order in which they were made.
    pub(super) fn calls(&self) -> Vec<Call> {
        lock(&self.0).calls.clone()
    }

    fn answer_at(&self, place: &str) -> usize {
        lock(&self.0).answers.get(place).copied().unwrap_or(0)
    }
}

/// Another answer of a model at a place.
#[derive(Clone, Debug)]
pub(super) struct OtherAnswer {
    /// The key of the call, or the path of the agent for its first call.
    pub(super) place: String,
    pub(super) reply: Reply,
}

/// Returns the other answers of a call.
pub(super) fn other_answers<'a>(
    all: &'a [OtherAnswer],
    place: &'a str,
) -> impl Iterator<Item = &'a OtherAnswer> {
    all.iter().filter(move |other| {
        other.place == place || place.strip_prefix(&*other.place) == Some(":model@0")
    })
}

/// A model that gives the answer that the search has chosen. As a provider it is every model.
#[derive(Clone)]
pub(super) struct ChosenModel {
    pub(super) answers: Arc<dyn Model>,
    pub(super) others: Arc<[OtherAnswer]>,
    pub(super) ledger: Ledger,
}

impl Model for ChosenModel {
    fn name(&self) -> &str {
        self.answers.name()
    }

    fn provider(&self) -> &str {
        self.answers.provider()
    }

    fn answers_in_schema_beside_tools(&self) -> bool {
        self.answers.answers_in_schema_beside_tools()
    }

    fn output_limit(&self, limit: u32) -> u32 {
        self.answers.output_limit(limit)
    }

    fn check_provider_tool(&self, tool: &str, beside_functions: bool) -> Result<(), ModelError> {
        self.answers.check_provider_tool(tool, beside_functions)
    }

    fn generate(&self, request: Arc<ModelRequest>) -> ModelStream {
        let place = format!("{}:model@{}", request.info.path, request.info.turn);
        let other = match self.ledger.answer_at(&place) {
            0 => None,
            number => other_answers(&self.others, &place).nth(number - 1),
        };
        match other {
            Some(other) => {
                let one = ScriptedModel::new().reply(other.reply.clone());
                one.repeat_last().generate(request)
            }
            None => self.answers.generate(request),
        }
    }
}

/// The provider of every model that an agent names.
pub(super) struct OneModel(pub(super) ChosenModel);

impl ModelProvider for OneModel {
    fn model(&self, _: &str) -> Result<Arc<dyn Model>, ModelError> {
        Ok(Arc::new(self.0.clone()))
    }
}
