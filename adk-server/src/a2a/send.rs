//! Messages that start a run.

use super::RpcCall;
use super::error::RpcRefusal;
use super::task::minimal_task;
use super::updates::{EventSource, Updates};
use crate::app::{Key, RunStart, StartOutcome, scope};
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

/// A run that a message has started or answered.
pub(super) struct StartedTask {
    pub(super) run: RunInfo,
    pub(super) source: EventSource,
}

impl RpcCall {
    /// Returns the task when it ends or waits, or at once if the client asks for that.
    pub(super) async fn send(
        &self,
        request: SendMessageRequest,
    ) -> Result<StreamResponse, RpcRefusal> {
        let configuration = request.configuration.clone().unwrap_or_default();
        let StartedTask { run, source } = self
            .deliver(request, configuration.return_immediately)
            .await?;
        let history = configuration.history_length;
        let task: Task = match source {
            EventSource::Nothing => minimal_task(&run, TaskState::Submitted),
            _ if configuration.return_immediately => self.started_task(&run, None, history).await?,
            source => {
                Updates::new(self, run, None, source)
                    .settled_task(history)
                    .await?
            }
        };
        Ok(StreamResponse::Task(Box::new(task)))
    }

    /// Streams the task and its updates until it ends or waits.
    pub(super) async fn send_streaming(
        &self,
        request: SendMessageRequest,
    ) -> Result<BoxStream<'static, Result<StreamResponse, Refusal>>, RpcRefusal> {
        let history = request
            .configuration
            .as_ref()
            .and_then(|configuration| configuration.history_length);
        let StartedTask { run, source } = self.deliver(request, true).await?;
        if matches!(source, EventSource::Nothing) {
            let task = Box::new(minimal_task(&run, TaskState::Submitted));
            return Ok(stream::once(ready(Ok(StreamResponse::Task(task)))).boxed());
        }
        match self.watch(run.clone(), source, history).await {
            Err(refusal) if refusal.is_of_store() => {
                let task = Box::new(minimal_task(&run, TaskState::Working));
                Ok(stream::once(ready(Ok(StreamResponse::Task(task)))).boxed())
            }
            updates => Ok(updates?),
        }
    }

    /// Starts or answers a run. If the client may watch the run, its models stream their replies.
    async fn deliver(
        &self,
        request: SendMessageRequest,
        is_watched: bool,
    ) -> Result<StartedTask, RpcRefusal> {
        let SendMessageRequest {
            message,
            configuration,
            ..
        } = request;
        let push =
            configuration.and_then(|configuration| configuration.task_push_notification_config);
        if let Some(push) = &push {
            self.check_push(push)?;
        }
        check(&message)?;
        let started = if message.task_id.is_empty() {
            self.begin(&message, is_watched).await?
        } else {
            self.continue_with(&message).await?
        };
        if let Some(push) = push {
            self.keep_push(&started.run, push)
                .await
                .map_err(|refusal| refusal.with_started_task(&started.run))?;
        }
        Ok(started)
    }

    async fn begin(&self, message: &Message, is_watched: bool) -> Result<StartedTask, RpcRefusal> {
        let (input, content) = self.input(message)?;
        let faults = self.workflow.check(&input);
        if !faults.is_empty() {
            return Err(Refusal::input(faults)
                .help("see the inputs in the card of the agent")
                .into());
        }
        let input = self.workflow.complete(input);
        let user = self.caller.acts_for(None)?;
        let config = self.runner.config().clone();
        let streams = config.streaming || is_watched;
        let config = config.streaming(streams);
        let workflow = self.workflow.name();
        // A repeated message starts no second run, unless the first run has failed.
        let scope = scope(&format!("a2a {workflow}"), &self.caller);
        let key = Some(Key {
            scope,
            key: message_key(&message.message_id),
            begins_again: true,
        });
        let session = Some(&*message.context_id).filter(|context| !context.is_empty());
        let start = RunStart::new(&self.runner, &user, workflow, &input)
            .session(session)
            .key(key);
        let request = |session: &SessionHandle| {
            let request = session
                .run_by_name(workflow, input.clone())?
                .config(config.clone());
            Ok(match &content {
                Some(content) => request.message(content.clone()),
                None => request,
            })
        };
        let (run, source) = match self.app.begin(&start, request).await? {
            StartOutcome::Started(run, listener) => (run, EventSource::All(listener, None)),
            StartOutcome::Existing(run) => {
                let source = EventSource::Stored(self.app.listen(run.run_id));
                (run, source)
            }
            StartOutcome::Unknown(run) => (run, EventSource::Nothing),
        };
        Ok(StartedTask { run, source })
    }

    /// Returns the input and the text of a message. The fields of its data override the input of
    /// its text.
    fn input(&self, message: &Message) -> Result<(Value, Option<Content>), RpcRefusal> {
        let (mut text, mut fields) = (String::new(), Map::new());
        for part in &message.parts {
            match &part.content {
                PartContent::Text(more) | PartContent::Data(Value::String(more)) => {
                    text.push_str(more)
                }
                PartContent::Data(Value::Object(more)) => fields.extend(more.clone()),
                // Data that is not an object is the only input.
                PartContent::Data(value) => text = value.to_string(),
                PartContent::Raw(_) | PartContent::Url(_) => return Err(no_files()),
            }
        }
        if text.is_empty() {
            return Ok((Value::Object(fields), None));
        }
        let content = Content::user(text);
        let input = match self.workflow.input_of(&content) {
            Value::Object(mut input) => {
                input.extend(fields);
                Value::Object(input)
            }
            // The text only describes the data for people.
            _ if !fields.is_empty() => Value::Object(fields),
            input => input,
        };
        Ok((input, Some(content)))
    }
}

/// Returns the request key for the id of a message. The id may be long, so the key is a hash.
pub(super) fn message_key(id: &str) -> String {
    format!("{:032x}", RunId::of_text(id).as_u128())
}

fn check(message: &Message) -> Result<(), RpcRefusal> {
    let invalid =
        |fact: &str, help: &str| Err(RpcRefusal::new(ErrorCode::InvalidParams, fact, help));
    if message.message_id.is_empty() {
        return invalid("the message has no id", "set a unique `messageId`");
    }
    if message.role != Role::User {
        return invalid(
            "the message has the role of the agent",
            "set the role `ROLE_USER`",
        );
    }
    if message.parts.is_empty() {
        return invalid(
            "the message has no parts",
            "add a part with `text` or `data`",
        );
    }
    Ok(())
}

pub(super) fn no_files() -> RpcRefusal {
    let fact = "a part of the message is a file; workflows accept no files";
    RpcRefusal::new(
        ErrorCode::ContentTypeNotSupported,
        fact,
        "send parts with `text` or `data`",
    )
}
