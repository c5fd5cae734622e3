//! Messages that begin a run.

use super::Call;
use super::error::RpcRefusal;
use super::task::bare;
use super::updates::{Heard, Updates};
use crate::keys::{Beginning, Begun, Key, scope};
use crate::refuse::Refusal;
use adk_a2a::rpc::ErrorCode;
use adk_a2a::{Message, PartContent, Role, SendMessageRequest, StreamResponse, Task, TaskState};
use adk_core::engine::RunInfo;
use adk_core::runner::SessionHandle;
use adk_core::{Content, RunId};
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use serde_json::{Map, Value};
use std::future::ready;

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
        let task: Task = match heard {
            Heard::Nothing => bare(&run, TaskState::Submitted),
            _ if configuration.return_immediately => self.task_begun(&run, None, history).await?,
            heard => Updates::new(self, run, None, heard).settled(history).await?,
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
        if matches!(heard, Heard::Nothing) {
            let task = Box::new(bare(&run, TaskState::Submitted));
            return Ok(stream::once(ready(Ok(StreamResponse::Task(task)))).boxed());
        }
        match self.watched(run.clone(), heard, history).await {
            Err(refusal) if refusal.is_of_store() => {
                let task = Box::new(bare(&run, TaskState::Working));
                Ok(stream::once(ready(Ok(StreamResponse::Task(task)))).boxed())
            }
            watched => Ok(watched?),
        }
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
            self.keep_push(&sent.run, push).await.map_err(|refusal| refusal.of_begun(&sent.run))?;
        }
        Ok(sent)
    }

    async fn begin(&self, message: &Message, is_watched: bool) -> Result<Sent, RpcRefusal> {
        let (input, said) = self.input(message)?;
        let faults = self.workflow.check(&input);
        if !faults.is_empty() {
            return Err(Refusal::input(faults).help("the card of the agent says what it takes").into());
        }
        let input = self.workflow.complete(input);
        let user = self.caller.acts_for(None)?;
        let config = self.runner.config().clone();
        let streams = config.streaming || is_watched;
        let config = config.streaming(streams);
        let workflow = self.workflow.name();
        // A message that comes again, since its answer was lost, begins no second run; what has failed is tried again.
        let scope = scope(&format!("a2a {workflow}"), &self.caller);
        let key = Some(Key { scope, key: message_key(&message.message_id), begins_again: true });
        let session = Some(&*message.context_id).filter(|context| !context.is_empty());
        let beginning =
            Beginning { runner: &self.runner, user: &user, workflow, session, input: &input, key };
        let request = |session: &SessionHandle| {
            let request = session.run_by_name(workflow, input.clone())?.config(config.clone());
            Ok(match &said {
                Some(said) => request.message(said.clone()),
                None => request,
            })
        };
        let (run, heard) = match self.app.begin(&beginning, request).await? {
            Begun::Now(run, listener) => (run, Heard::All(listener, None)),
            Begun::Before(run) => {
                let heard = Heard::Stored(self.app.runs.listen(run.run_id));
                (run, heard)
            }
            Begun::Unknown(run) => (run, Heard::Nothing),
        };
        Ok(Sent { run, heard })
    }

    /// The input that a message gives, which is its data, field by field, beside what its text says; and its text.
    fn input(&self, message: &Message) -> Result<(Value, Option<Content>), RpcRefusal> {
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
            return Ok((Value::Object(fields), None));
        }
        let said = Content::user(text);
        let input = match self.workflow.input_of(&said) {
            Value::Object(mut input) => {
                input.extend(fields);
                Value::Object(input)
            }
            // The text is for people: it describes the data.
            _ if !fields.is_empty() => Value::Object(fields),
            input => input,
        };
        Ok((input, Some(said)))
    }
}

/// The key of a message by its id, which may be long.
pub(super) fn message_key(id: &str) -> String {
    format!("{:032x}", RunId::of_text(id).as_u128())
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
