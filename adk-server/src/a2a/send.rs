//! Messages that begin a run.

use super::Call;
use super::error::RpcRefusal;
use super::updates::{Heard, Updates};
use crate::refuse::Refusal;
use crate::routes::{begun, begun_before, found, key_session};
use crate::runs::Started;
use adk_a2a::rpc::ErrorCode;
use adk_a2a::{Message, PartContent, Role, SendMessageRequest, StreamResponse, Task};
use adk_core::engine::{RunInfo, RunStatus};
use adk_core::{Content, RunId};
use futures_util::stream::BoxStream;
use serde_json::{Map, Value};

/// A run that a message has begun or answered.
pub(super) struct Sent {
    pub(super) run: RunInfo,
    pub(super) heard: Heard,
}

impl Call {
    /// Answers with the task as it ends or waits, or as it begins.
    pub(super) async fn send(&self, request: SendMessageRequest) -> Result<StreamResponse, RpcRefusal> {
        let configuration = request.configuration.clone().unwrap_or_default();
        let Sent { run, heard } = self.sent(request, configuration.return_immediately).await?;
        let history = configuration.history_length;
        let task: Task = if configuration.return_immediately {
            self.task(&run, None, history).await?
        } else {
            Updates::new(self, run, None, heard).settled(history).await?
        };
        Ok(StreamResponse::Task(Box::new(task)))
    }

    /// Answers with the task, and what happens to it until it ends or waits.
    pub(super) async fn send_streaming(
        &self,
        request: SendMessageRequest,
    ) -> Result<BoxStream<'static, Result<StreamResponse, Refusal>>, RpcRefusal> {
        let history = request.configuration.as_ref().and_then(|configuration| configuration.history_length);
        let Sent { run, heard } = self.sent(request, true).await?;
        Ok(self.watched(run, heard, history).await?)
    }

    /// Begins or answers a run, whose models are asked for pieces of their answers if the client may watch.
    async fn sent(&self, request: SendMessageRequest, is_watched: bool) -> Result<Sent, RpcRefusal> {
        let SendMessageRequest { message, configuration, .. } = request;
        let push = configuration.and_then(|configuration| configuration.task_push_notification_config);
        if let Some(push) = &push {
            self.check_push(push)?;
        }
        check(&message)?;
        let sent = if message.task_id.is_empty() {
            self.begin(&message, is_watched).await?
        } else {
            self.continue_with(&message).await?
        };
        if let Some(push) = push {
            self.keep_push(&sent.run, push).await?;
        }
        Ok(sent)
    }

    async fn begin(&self, message: &Message, is_watched: bool) -> Result<Sent, RpcRefusal> {
        let input = self.input(message)?;
        let faults = self.workflow.check(&input);
        if !faults.is_empty() {
            return Err(Refusal::input(faults).help("the card of the agent says what it takes").into());
        }
        let user = self.caller.acts_for(None)?;
        let (name, id) = (self.workflow.name(), RunId::new());
        // A message that comes again, since its answer was lost, begins no second run; what has failed is tried again.
        let key = message_key(&message.message_id);
        let mut before = begun_before(&self.runner, &user, name, &key, id).await?;
        if before
            .as_ref()
            .is_some_and(|run| matches!(run.status, RunStatus::Failed(_) | RunStatus::Cancelled))
        {
            key_session(&self.runner, &user, name, &key).delete().await?;
            before = begun_before(&self.runner, &user, name, &key, id).await?;
        }
        if let Some(run) = before {
            let heard = Heard::Stored(self.app.runs.listen(run.run_id));
            return Ok(Sent { run, heard });
        }
        let handle = match &*message.context_id {
            "" => self.runner.new_session(&user),
            context => self.runner.session(&user, context),
        };
        let config = self.runner.config().clone();
        let streams = config.streaming || is_watched;
        let request = handle.run_by_name(name, input)?.run_id(id).config(config.streaming(streams));
        let key = key_session(&self.runner, &user, name, &key);
        let Started { run, listener } =
            begun(self.app.runs.start(handle.key(), request).await, Some(key)).await?;
        let run = found(&self.runner, &self.caller, run).await?;
        Ok(Sent { run, heard: Heard::All(listener, None) })
    }

    /// The input that a message says: its data, field by field, beside what its text says.
    fn input(&self, message: &Message) -> Result<Value, RpcRefusal> {
        let (mut text, mut fields) = (String::new(), Map::new());
        for part in &message.parts {
            match &part.content {
                PartContent::Text(more) | PartContent::Data(Value::String(more)) => text.push_str(more),
                PartContent::Data(Value::Object(more)) => fields.extend(more.clone()),
                // It is no object, so it is the one input.
                PartContent::Data(value) => text = value.to_string(),
                PartContent::Raw(_) | PartContent::Url(_) => return Err(no_files()),
            }
        }
        if text.is_empty() {
            return Ok(Value::Object(fields));
        }
        Ok(match self.workflow.input_of(&Content::user(text)) {
            Value::Object(mut input) => {
                input.extend(fields);
                Value::Object(input)
            }
            // The text is for people: it describes the data.
            _ if !fields.is_empty() => Value::Object(fields),
            input => input,
        })
    }
}

/// The key of a message by its id, which may be long.
pub(super) fn message_key(id: &str) -> String {
    format!("a2a {:032x}", RunId::of_text(id).as_u128())
}

fn check(message: &Message) -> Result<(), RpcRefusal> {
    let invalid = |fact: &str, help: &str| Err(RpcRefusal::new(ErrorCode::InvalidParams, fact, help));
    if message.message_id.is_empty() {
        return invalid("the message has no id", "give it a `messageId` of its own");
    }
    if message.role != Role::User {
        return invalid("the message is one of the agent", "give it the role `ROLE_USER`");
    }
    if message.parts.is_empty() {
        return invalid("the message has no parts", "give it a part with `text` or `data`");
    }
    Ok(())
}

pub(super) fn no_files() -> RpcRefusal {
    let fact = "a part of the message is a file, which no workflow takes as input";
    RpcRefusal::new(ErrorCode::ContentTypeNotSupported, fact, "send parts with `text` or `data`")
}
