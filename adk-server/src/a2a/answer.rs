//! Messages that a task waits for.

use super::Call;
use super::error::RpcRefusal;
use super::send::{Sent, message_key, no_files};
use super::task::WAIT;
use super::updates::Heard;
use crate::follow::stored;
use crate::refuse::short;
use crate::routes::{go_on, key_session};
use adk_a2a::rpc::ErrorCode;
use adk_a2a::{Message, PartContent};
use adk_core::engine::{RunInfo, Waiting};
use adk_core::{ErrorKind, StateDelta, StoreErrorKind};
use serde_json::Value;

impl Call {
    /// Gives a task what it waits for, and lets it go on.
    pub(super) async fn continue_with(&self, message: &Message) -> Result<Sent, RpcRefusal> {
        let run = self.run(&message.task_id).await?;
        if !message.context_id.is_empty() && message.context_id != run.session.id {
            let fact = "the task is one of another context";
            return Err(RpcRefusal::new(ErrorCode::InvalidParams, fact, "leave out `contextId`"));
        }
        // A message that comes again, since its answer was lost, does not answer what is asked next.
        let key = message_key(&format!("{} {}", run.run_id, message.message_id));
        let key = key_session(&self.runner, &run.session.user, self.workflow.name(), &key);
        match key.create(StateDelta::default()).await {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::Store(StoreErrorKind::Exists) => {
                let heard = Heard::Stored(self.app.runs.listen(run.run_id));
                return Ok(Sent { run, heard });
            }
            Err(error) => return Err(error.into()),
        }
        let answered = self.answered(message, run).await;
        if answered.is_err() {
            key.delete().await?;
        }
        answered
    }

    async fn answered(&self, message: &Message, run: RunInfo) -> Result<Sent, RpcRefusal> {
        let open = self.waiting(&run).await?;
        let wait = wait_for(message, &open).map_err(|(code, fact)| {
            let help = if run.status.is_open() {
                "`SubscribeToTask` says when it waits for one"
            } else {
                "leave out `taskId` to begin another"
            };
            RpcRefusal::new(code, fact, help)
        })?;
        let before = stored(&self.runner, &run, None).await?.last().map(|event| event.id);
        let mut refused = None;
        for value in answers(message, wait)? {
            match self.runner.answer(&wait.id, value).await {
                Ok(()) => {
                    let listener = go_on(&self.app, &self.runner, run.run_id).await?;
                    let heard = match listener {
                        Some(listener) => Heard::All(listener, before),
                        None => Heard::Stored(self.app.runs.listen(run.run_id)),
                    };
                    return Ok(Sent { run: self.run(&message.task_id).await?, heard });
                }
                Err(error) if error.kind() == ErrorKind::AnswerInvalid => {
                    refused.get_or_insert(error);
                }
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
