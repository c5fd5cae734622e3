//! Answers that do not fit their type: the model hears what is wrong and where, and is asked again.

use super::output::Misfit;
use super::respond::{self, RESPOND};
use super::{LlmAgent, RETRY_KEY, call, no_answer};
use crate::Result;
use crate::content::{Content, Part};
use crate::models::model::ModelResponse;
use crate::runtime::run::Context;
use crate::store::engine::CallKind;
use crate::store::event::Event;
use serde_json::{Value, json};

/// The answers of one turn that did not fit. Nothing of them is stored: the record of each call has its answer.
#[derive(Default)]
pub(super) struct Repair {
    attempts: u32,
    /// Each answer, and what was said about it.
    said: Vec<Content>,
}

impl Repair {
    /// What follows the conversation in the request of the next call.
    pub(super) fn contents(&self) -> impl Iterator<Item = Content> {
        self.said.iter().cloned()
    }

    /// An answer did not fit, and the model is asked again. Where the record holds the next answer, it always is.
    ///
    /// # Errors
    /// What is wrong with it, when there were enough, `is_last`, or when no other answer is to be expected.
    pub(super) async fn refuse(
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
        let is_last =
            is_cut_off || is_last || !cx.config().repair_answers || self.attempts >= agent.answer_attempts;
        if is_last && !cx.is_recorded(CallKind::Model, &call::MODEL) {
            return Err(misfit.error(finish, self.attempts));
        }
        let told = json!({"attempt": self.attempts, "waitMs": 0, "error": misfit.why});
        let mut event = Event::new().with_metadata(RETRY_KEY, told);
        event.partial = true;
        cx.emit(event).await?;
        self.said.extend([answer.content, Content::user(misfit.request())]);
        Ok(())
    }

    /// The model has called tools, so what was said before is over. `answer` is what it gave to `set_model_response`: one that
    /// was refused there counts as well, and the model has read why.
    ///
    /// # Errors
    /// When there were enough of them.
    pub(super) fn called(
        &mut self,
        agent: &LlmAgent,
        answer: Option<String>,
        responses: &Content,
        cx: &Context,
    ) -> Result<()> {
        self.said.clear();
        let refused = responses.parts.iter().find_map(|part| match part {
            Part::FunctionResponse(response) if response.name == RESPOND => response.response.get("error"),
            _ => None,
        });
        let (Some(answer), Some(why)) = (answer, refused.and_then(Value::as_str)) else { return Ok(()) };
        self.attempts += 1;
        // In ADK it may be called any number of times.
        let is_last = self.attempts >= agent.answer_attempts
            && cx.config().repair_answers
            && !cx.is_recorded(CallKind::Model, &call::MODEL);
        match agent.output.as_ref().filter(|_| is_last) {
            Some(output) => Err(Misfit::new(output, answer, respond::reason(why)).error(None, self.attempts)),
            None => Ok(()),
        }
    }
}
