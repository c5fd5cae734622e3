//! [`Repair`]: corrections of answers that do not fit their type. The model reads the reason and
//! the position of the error, and answers again.

use super::call::{self, RETRY_KEY};
use super::misfit::Misfit;
use super::no_answer;
use crate::Result;
use crate::agents::llm::agent::LlmAgent;
use crate::agents::llm::toolbox::respond::{self, RESPOND};
use crate::model::ModelResponse;
use crate::runtime::run::Context;
use crate::store::engine::CallKind;
use crate::store::event::Event;
use crate::{Content, Part};
use serde_json::{Value, json};

/// The answers of one turn that did not fit. They are not recorded separately, because the record
/// of each model call contains its answer.
#[derive(Default)]
pub(in crate::agents::llm) struct Repair {
    attempts: u32,
    /// Each answer, followed by its correction request.
    messages: Vec<Content>,
}

impl Repair {
    /// Returns the messages that follow the conversation in the next request.
    pub(in crate::agents::llm) fn contents(&self) -> impl Iterator<Item = Content> {
        self.messages.iter().cloned()
    }

    /// Requests another answer for an answer that did not fit. If the journal contains a further
    /// answer, this function never fails, because the recorded run has continued.
    ///
    /// # Errors
    /// Returns the misfit if this was the last permitted attempt, if `is_last` is set, or if the
    /// reply was cut off.
    pub(in crate::agents::llm) async fn refuse(
        &mut self,
        agent: &LlmAgent,
        answer: ModelResponse,
        misfit: Misfit,
        is_last: bool,
        cx: &mut Context,
    ) -> Result<()> {
        self.attempts += 1;
        let finish = answer.finish_reason.as_ref();
        let is_cut_off = no_answer::ended_early(finish).is_some();
        let is_last = is_cut_off
            || is_last
            || !cx.config().repair_answers
            || self.attempts >= agent.answer_attempts;
        if is_last && !cx.is_recorded(CallKind::Model, &call::MODEL) {
            return Err(misfit.error(finish, self.attempts));
        }
        let metadata = json!({"attempt": self.attempts, "waitMs": 0, "error": misfit.why});
        let mut event = Event::new().with_metadata(RETRY_KEY, metadata);
        event.partial = true;
        cx.emit(event).await?;
        self.messages
            .extend([answer.content, Content::user(misfit.request())]);
        Ok(())
    }

    /// Forgets the corrections, because the model has called tools. `answer` is the argument of
    /// `set_model_response`. A refused argument counts as an attempt, and the model has read the
    /// reason.
    ///
    /// # Errors
    /// Fails if this was the last permitted attempt.
    pub(in crate::agents::llm) fn note_tool_calls(
        &mut self,
        agent: &LlmAgent,
        answer: Option<String>,
        responses: &Content,
        cx: &Context,
    ) -> Result<()> {
        self.messages.clear();
        let refused = responses.parts.iter().find_map(|part| match part {
            Part::FunctionResponse(response) if response.name == RESPOND => {
                response.response.get("error")
            }
            _ => None,
        });
        let (Some(answer), Some(why)) = (answer, refused.and_then(Value::as_str)) else {
            return Ok(());
        };
        self.attempts += 1;
        // ADK permits any number of calls.
        let is_last = self.attempts >= agent.answer_attempts
            && cx.config().repair_answers
            && !cx.is_recorded(CallKind::Model, &call::MODEL);
        match agent.output.as_ref().filter(|_| is_last) {
            Some(output) => {
                Err(Misfit::new(output, answer, respond::reason(why)).error(None, self.attempts))
            }
            None => Ok(()),
        }
    }
}
