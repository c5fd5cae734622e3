//! Messages that a task waits for.

use super::error::RpcRefusal;
use super::send::{Sent, message_key, no_files};
use super::task::WAIT;
use super::updates::Heard;
use super::{Call, json};
use crate::follow::stored;
use crate::keys::{another_request, bind, digest, scope};
use crate::refuse::short;
use crate::routes::{go_on, with_status};
use adk_a2a::rpc::ErrorCode;
use adk_a2a::{Message, PartContent};
use adk_core::ErrorKind;
use adk_core::engine::{KeyBinding, RequestKey, RunInfo, RunStatus, Waiting};
use serde_json::Value;
use std::time::Duration;

impl Call {
    /// Gives a task what it waits for, and lets it go on.
    pub(super) async fn continue_with(&self, message: &Message) -> Result<Sent, RpcRefusal> {
        let run = self.run(&message.task_id).await?;
        if !message.context_id.is_empty() && message.context_id != run.session.id {
            let fact = "the task is one of another context";
            return Err(RpcRefusal::new(ErrorCode::InvalidParams, fact, "leave out `contextId`"));
        }
        let open = self.waiting(&run).await?;
        let wait = match wait_for(message, &open) {
            Ok(wait) => wait,
            Err(_) if self.has_answered(message, &run).await? => return Ok(self.heard(run)),
            Err((code, fact)) => {
                let help = if run.status.is_open() {
                    "`SubscribeToTask` says when it waits for one"
                } else {
                    "leave out `taskId` to begin another"
                };
                return Err(RpcRefusal::new(code, fact, help));
            }
        };
        wait.check_answerer(&self.caller.answerer())?;
        // A message that comes again, since its answer was lost, does not answer what is asked next. Whatever came with its id
        // before has answered nothing if the same wait is still open.
        let bound = self.bind_answer(message, &run, &wait.id, Some(&wait.id), self.app.key_lifetime).await?;
        if bound != wait.id {
            return Ok(self.heard(run));
        }
        self.answer_wait(message, run, wait).await
    }

    /// Binds a message to a wait, and returns the wait that it is bound to.
    async fn bind_answer(
        &self,
        message: &Message,
        run: &RunInfo,
        wait: &str,
        replaces: Option<&str>,
        lifetime: Duration,
    ) -> Result<String, RpcRefusal> {
        let scope = scope(&format!("a2a answer {}", run.run_id), &self.caller);
        let key = RequestKey::new(self.runner.app_name(), scope, message_key(&message.message_id));
        let binding = KeyBinding::new(wait, digest(json(&message.parts)));
        let bound = bind(&self.runner, &key, &binding, replaces, lifetime).await?;
        if bound.digest != binding.digest {
            return Err(another_request().into());
        }
        Ok(bound.target)
    }

    /// Whether a message came before and answered a wait, which is not open any more.
    async fn has_answered(&self, message: &Message, run: &RunInfo) -> Result<bool, RpcRefusal> {
        // Without a lifetime a free key stays free.
        let bound = self.bind_answer(message, run, "", None, Duration::ZERO).await?;
        Ok(!bound.is_empty())
    }

    fn heard(&self, run: RunInfo) -> Sent {
        let heard = Heard::Stored(self.app.runs.listen(run.run_id));
        Sent { run, heard }
    }

    async fn answer_wait(&self, message: &Message, run: RunInfo, wait: &Waiting) -> Result<Sent, RpcRefusal> {
        let before = stored(&self.runner, &run, None).await?.last().map(|event| event.id);
        let mut refused = None;
        for value in answers(message, wait)? {
            match self.runner.answer_as(&wait.id, value, &self.caller.answerer()).await {
                Ok(()) => {
                    // The answer is stored, and a watch resumes the run where this fails.
                    let listener = go_on(&self.app, &self.runner, run.run_id).await.ok().flatten();
                    let heard = match listener {
                        Some(listener) => Heard::All(listener, before),
                        None => Heard::Stored(self.app.runs.listen(run.run_id)),
                    };
                    let now = self.run(&message.task_id).await;
                    let run = now.unwrap_or_else(|_| with_status(run, RunStatus::Running));
                    return Ok(Sent { run, heard });
                }
                Err(error) if error.kind() == ErrorKind::AnswerInvalid => {
                    refused.get_or_insert(error);
                }
                // The same message at the same time.
                Err(error) if error.kind() == ErrorKind::Answered => return Ok(self.heard(run)),
                Err(error) => return Err(error.into()),
            }
        }
        let error = refused.unwrap_or_else(|| adk_core::Error::new(ErrorKind::AnswerInvalid, "it is empty"));
        let fact = format!("the message is no answer to the task: {}", error.message());
        Err(RpcRefusal::new(ErrorCode::InvalidParams, fact, "its status message has the schema of an answer"))
    }
}

fn wait_for<'w>(message: &Message, open: &'w [Waiting]) -> Result<&'w Waiting, (ErrorCode, String)> {
    let named = message.metadata.get(WAIT).and_then(Value::as_str);
    match (named, open) {
        (_, []) => Err((ErrorCode::UnsupportedOperation, "the task waits for no message".to_owned())),
        (None, [one]) => Ok(one),
        (None, _) => {
            let ids: Vec<_> = open.iter().map(|wait| format!("`{}`", wait.id)).collect();
            let fact = format!(
                "the task waits for several answers; the metadata `{WAIT}` names one of {}",
                ids.join(", ")
            );
            Err((ErrorCode::InvalidParams, fact))
        }
        (Some(named), _) => open.iter().find(|wait| wait.id == named).ok_or_else(|| {
            let fact = format!("the task does not wait under the id `{}`", short(named));
            (ErrorCode::InvalidParams, fact)
        }),
    }
}

/// The values that a message may mean, in the order in which they are tried: data as it is; a text as a text, or as the JSON that
/// it holds.
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
