//! Messages that answer a wait of a task.

use super::error::RpcRefusal;
use super::send::{StartedTask, message_key, no_files};
use super::task::WAIT;
use super::updates::EventSource;
use super::{RpcCall, json};
use crate::app::{another_request, bind, digest, scope, stored_events, with_status};
use crate::refuse::short;
use adk_a2a::rpc::ErrorCode;
use adk_a2a::{Message, PartContent};
use adk_core::ErrorKind;
use adk_core::engine::{KeyBinding, RequestKey, RunInfo, RunStatus, Waiting};
use serde_json::Value;
use std::time::Duration;

impl RpcCall {
    /// Answers a wait of a task and resumes the task.
    pub(super) async fn continue_with(&self, message: &Message) -> Result<StartedTask, RpcRefusal> {
        let run = self.run(&message.task_id).await?;
        if !message.context_id.is_empty() && message.context_id != run.session.id {
            let fact = "the task belongs to another context";
            return Err(RpcRefusal::new(
                ErrorCode::InvalidParams,
                fact,
                "omit `contextId`",
            ));
        }
        let open = self.waiting(&run).await?;
        let wait = match wait_for(message, &open) {
            Ok(wait) => wait,
            Err(_) if self.has_answered(message, &run).await? => return Ok(self.stored_task(run)),
            Err((code, fact)) => {
                let help = if run.status.is_open() {
                    "wait until the task requires input, for example with `SubscribeToTask`"
                } else {
                    "omit `taskId` to start another task"
                };
                return Err(RpcRefusal::new(code, fact, help));
            }
        };
        wait.check_answerer(&self.caller.answerer())?;
        // A repeated message, whose response was lost, must not answer the next wait. While the
        // same wait is open, no earlier message with this id has answered it.
        let bound = self
            .bind_answer(
                message,
                &run,
                &wait.id,
                Some(&wait.id),
                self.app.key_lifetime(),
            )
            .await?;
        if bound != wait.id {
            return Ok(self.stored_task(run));
        }
        self.answer_wait(message, run, wait).await
    }

    /// Binds a message to a wait. Returns the wait that the message is bound to.
    async fn bind_answer(
        &self,
        message: &Message,
        run: &RunInfo,
        wait: &str,
        replaces: Option<&str>,
        lifetime: Duration,
    ) -> Result<String, RpcRefusal> {
        let scope = scope(&format!("a2a answer {}", run.run_id), &self.caller);
        let key = RequestKey::new(
            self.runner.app_name(),
            scope,
            message_key(&message.message_id),
        );
        let binding = KeyBinding::new(wait, digest(json(&message.parts)));
        let bound = bind(&self.runner, &key, &binding, replaces, lifetime).await?;
        if bound.digest != binding.digest {
            return Err(another_request().into());
        }
        Ok(bound.target)
    }

    /// Returns whether an earlier copy of the message has answered a wait.
    async fn has_answered(&self, message: &Message, run: &RunInfo) -> Result<bool, RpcRefusal> {
        // A binding with a lifetime of zero leaves a free key free.
        let bound = self
            .bind_answer(message, run, "", None, Duration::ZERO)
            .await?;
        Ok(!bound.is_empty())
    }

    fn stored_task(&self, run: RunInfo) -> StartedTask {
        let source = EventSource::Stored(self.app.listen(run.run_id));
        StartedTask { run, source }
    }

    async fn answer_wait(
        &self,
        message: &Message,
        run: RunInfo,
        wait: &Waiting,
    ) -> Result<StartedTask, RpcRefusal> {
        let before = stored_events(&self.runner, &run, None)
            .await?
            .last()
            .map(|event| event.id);
        let mut first_error = None;
        for value in answers(message, wait)? {
            match self
                .app
                .answer(&self.runner, run.run_id, &wait.id, value, &self.caller)
                .await
            {
                Ok(()) => {
                    // The answer is stored. If resuming fails here, a watch resumes the run.
                    let listener = self
                        .app
                        .resume(&self.runner, run.run_id)
                        .await
                        .ok()
                        .flatten();
                    let source = match listener {
                        Some(listener) => EventSource::All(listener, before),
                        None => EventSource::Stored(self.app.listen(run.run_id)),
                    };
                    let now = self.run(&message.task_id).await;
                    let run = now.unwrap_or_else(|_| with_status(run, RunStatus::Running));
                    return Ok(StartedTask { run, source });
                }
                Err(error) if error.kind() == ErrorKind::AnswerInvalid => {
                    first_error.get_or_insert(error);
                }
                // A concurrent copy of the message has answered.
                Err(error) if error.kind() == ErrorKind::Answered => {
                    return Ok(self.stored_task(run));
                }
                Err(error) => return Err(error.into()),
            }
        }
        let error = first_error.unwrap_or_else(|| {
            adk_core::Error::new(ErrorKind::AnswerInvalid, "the message is empty")
        });
        let fact = format!("the message does not answer the task: {}", error.message());
        Err(RpcRefusal::new(
            ErrorCode::InvalidParams,
            fact,
            "send an answer that fits the schema in the status message",
        ))
    }
}

fn wait_for<'w>(
    message: &Message,
    open: &'w [Waiting],
) -> Result<&'w Waiting, (ErrorCode, String)> {
    let named = message.metadata.get(WAIT).and_then(Value::as_str);
    match (named, open) {
        (_, []) => Err((
            ErrorCode::UnsupportedOperation,
            "the task does not wait for a message".to_owned(),
        )),
        (None, [one]) => Ok(one),
        (None, _) => {
            let ids: Vec<_> = open.iter().map(|wait| format!("`{}`", wait.id)).collect();
            let fact = format!(
                "the task waits for several answers; set the metadata `{WAIT}` to one of {}",
                ids.join(", ")
            );
            Err((ErrorCode::InvalidParams, fact))
        }
        (Some(named), _) => open.iter().find(|wait| wait.id == named).ok_or_else(|| {
            let fact = format!("the task has no wait with the id `{}`", short(named));
            (ErrorCode::InvalidParams, fact)
        }),
    }
}

/// Returns the possible answers of a message in the order in which they are tried: data as it is;
/// text as a string, or as the JSON in the text.
fn answers(message: &Message, wait: &Waiting) -> Result<Vec<Value>, RpcRefusal> {
    let (mut text, mut data) = (String::new(), None);
    for part in &message.parts {
        match &part.content {
            PartContent::Text(more) => text.push_str(more),
            PartContent::Data(value) => data = Some(value.clone()),
            PartContent::Raw(_) | PartContent::Url(_) => return Err(no_files()),
        }
    }
    if let Some(data) = data {
        return Ok(vec![data]);
    }
    let json = serde_json::from_str(text.trim()).ok();
    let text = Value::String(text);
    Ok(match json {
        None => vec![text],
        Some(_) if wait.schema.get("type").is_some_and(|kind| kind == "string") => vec![text],
        Some(json) => vec![json, text],
    })
}
