//! [`remote`]: an agent of another program as a step.

use crate::connection::Connection;
use crate::failure::Failure;
use crate::follow;
use crate::types::joined_text;
use crate::{Message, Part, Role, StreamResponse, Task, TaskState};
use adk_core::spec::{AgentMeta, KeySpec, Labels};
use adk_core::{
    AgentKind, BoxFuture, Context, DynAgent, Error, ErrorKind, Event, Flow, Prepare, Result,
};
use futures_util::future::{Either, select};
use self_cell::self_cell;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::any::{Any, TypeId, type_name};
use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;
use tokio::sync::mpsc;

/// The default timeout of a task.
const TIMEOUT: Duration = Duration::from_secs(600);

/// Returns a builder for an agent of another program.
///
/// `url` is the address of the agent's card or of the folder that contains it: for
/// `https://example.org/a2a/writer` the card is at
/// `https://example.org/a2a/writer/.well-known/agent-card.json`.
///
/// A workflow declares the agent as a step whose keys are known at run time:
///
/// ```
/// use adk::DynAgent;
/// use adk::prelude::*;
/// use std::sync::Arc;
///
/// workflow! {
///     /// Asks a remote agent to write a text.
///     pub Writing(topic: String) -> text: String {
///         agent writer(topic: String) -> text: String as Arc<dyn DynAgent>;
///         writer
///     }
/// }
///
/// # fn main() -> adk::Result<()> {
/// let writer = adk::a2a::remote("https://example.org/a2a/writer").name("writer");
/// let writer = writer.reads::<String>("topic").writes::<String>("text").build()?;
/// let writing = Writing::new(Arc::new(writer))?;
/// # let _ = writing;
/// # Ok(())
/// # }
/// ```
///
/// **Message.** If the agent reads only one key and its value is a text, the message is that text.
/// Otherwise the message has one data part: an object with all keys.
///
/// **Output.** The agent writes the artifacts of the task, or, if the task has no artifacts, its
/// last message. A `String` gets their text. Another type gets their data, or their text parsed as
/// JSON. If the card announces streaming, the run emits text as it arrives.
///
/// **Cancellation.** Cancelling the run does not cancel the task.
///
/// **Resumption.** A resumed run does not send the message again: it recorded the id of the task
/// first, and asks for that task. If the task has failed, the run sends the message again. The id
/// of the message is always the same, so an agent that detects repeated messages, as `adk` does,
/// starts no second task.
///
/// **Questions.** A task that requires input is a wait of the run, like an `await`:
/// [`Runner::waiting`](adk_core::Runner::waiting) lists it, and the run sends the answer to the
/// task.
///
/// # Errors of a run
/// [`ErrorKind::Remote`] and [`ErrorKind::Timeout`]; the message contains the address without its
/// query and credentials. [`ErrorKind::OutputInvalid`] if the answer does not have the type of the
/// key.
pub fn remote(url: impl Into<String>) -> RemoteAgentBuilder {
    RemoteAgentBuilder {
        url: url.into(),
        name: "remote".to_owned(),
        description: String::new(),
        reads: Vec::new(),
        write: None,
        headers: Vec::new(),
        timeout: TIMEOUT,
        labels: Labels::NONE,
    }
}

/// A builder of a [`RemoteAgent`], from [`remote`].
#[must_use = "call `build` to get the agent"]
pub struct RemoteAgentBuilder {
    url: String,
    name: String,
    description: String,
    reads: Vec<ReadKey>,
    write: Option<WrittenKey>,
    headers: Vec<(String, String)>,
    timeout: Duration,
    labels: Labels,
}

struct ReadKey {
    key: String,
    ty: String,
    id: fn() -> TypeId,
    get: fn(&mut Context, &str) -> Result<Option<Value>>,
}

struct WrittenKey {
    key: String,
    ty: String,
    id: fn() -> TypeId,
    accepts: fn(&dyn Any) -> Result<(), String>,
}

impl RemoteAgentBuilder {
    /// Sets the name of the step. Default: `remote`.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets the description for models that may hand over to the agent. Default: empty.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// Adds a key whose value the message contains.
    pub fn reads<T: Serialize + DeserializeOwned + 'static>(
        mut self,
        key: impl Into<String>,
    ) -> Self {
        let get = |cx: &mut Context, key: &str| {
            let value: Option<T> = cx.state().get(key)?;
            value
                .map(|value| serde_json::to_value(value).map_err(Error::other))
                .transpose()
        };
        self.reads.push(ReadKey {
            key: key.into(),
            ty: short_type_name::<T>(),
            id: TypeId::of::<T>,
            get,
        });
        self
    }

    /// Sets the key for the answer. Without a key the answer is only text of an event.
    pub fn writes<T: DeserializeOwned + 'static>(mut self, key: impl Into<String>) -> Self {
        let accepts = |value: &dyn Any| match value.downcast_ref::<Value>() {
            Some(value) => T::deserialize(value)
                .map(drop)
                .map_err(|error| error.to_string()),
            None => Err("the value is not JSON".to_owned()),
        };
        self.write = Some(WrittenKey {
            key: key.into(),
            ty: short_type_name::<T>(),
            id: TypeId::of::<T>,
            accepts,
        });
        self
    }

    /// Sends `Authorization: Bearer TOKEN` with each request. No error shows the token.
    pub fn bearer(self, token: impl fmt::Display) -> Self {
        self.header("authorization", format!("Bearer {token}"))
    }

    /// Sends a header with each request. No error shows its value.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Sets the labels: what the answer brings into the run, and what the agent does outside of it.
    pub fn labels(mut self, labels: Labels) -> Self {
        self.labels = labels;
        self
    }

    /// Sets the timeout of a task, without the time that the task waits for an answer. A task that
    /// exceeds it is cancelled. Default: 10 minutes.
    pub fn timeout(mut self, longest: Duration) -> Self {
        self.timeout = longest;
        self
    }

    /// Builds the agent. The agent sends its first request when it runs.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] if the address is not an HTTP URL, or a header is invalid.
    pub fn build(self) -> Result<RemoteAgent> {
        let connection = Arc::new(Connection::new(&self.url, &self.headers)?);
        let Self {
            name,
            description,
            reads,
            write,
            timeout,
            labels,
            ..
        } = self;
        let spec = SpecWithKeys::new(
            RemoteSpec {
                name,
                description,
                reads,
                write,
            },
            |spec| SpecKeys {
                reads: spec
                    .reads
                    .iter()
                    .map(|read| KeySpec::new(&read.key, &read.ty).with_id(Some(read.id)))
                    .collect(),
                writes: spec.write.iter().map(WrittenKey::spec).collect(),
            },
        );
        let meta = SpecWithMeta::new(spec, |spec| {
            let (spec, keys) = (spec.borrow_owner(), spec.borrow_dependent());
            let meta = AgentMeta::new(AgentKind::Custom, &spec.name).description(&spec.description);
            meta.reads(&keys.reads)
                .writes(&keys.writes)
                .max_turns(Some(0))
                .timeout(timeout)
                .labels(labels)
        });
        Ok(RemoteAgent {
            meta,
            connection,
            timeout,
        })
    }
}

impl WrittenKey {
    fn spec(&self) -> KeySpec<'_> {
        KeySpec::new(&self.key, &self.ty)
            .with_id(Some(self.id))
            .accepting(Some(self.accepts))
    }

    fn is_text(&self) -> bool {
        (self.id)() == TypeId::of::<String>()
    }
}

/// Returns the name of a type without module paths, as a workflow writes it and compares it.
fn short_type_name<T>() -> String {
    let (mut name, mut tail) = (String::new(), type_name::<T>());
    while let Some((path, more)) = tail.split_once("::") {
        name.push_str(path.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_'));
        tail = more;
    }
    name + tail
}

struct RemoteSpec {
    name: String,
    description: String,
    reads: Vec<ReadKey>,
    write: Option<WrittenKey>,
}

struct SpecKeys<'a> {
    reads: Vec<KeySpec<'a>>,
    writes: Vec<KeySpec<'a>>,
}

self_cell!(
    struct SpecWithKeys {
        owner: RemoteSpec,
        #[covariant]
        dependent: SpecKeys,
    }
);

self_cell!(
    struct SpecWithMeta {
        owner: SpecWithKeys,
        #[covariant]
        dependent: AgentMeta,
    }
);

/// An agent of another program. [`remote`] returns its builder.
pub struct RemoteAgent {
    meta: SpecWithMeta,
    connection: Arc<Connection>,
    timeout: Duration,
}

impl RemoteAgent {
    fn spec(&self) -> &RemoteSpec {
        self.meta.borrow_owner().borrow_owner()
    }

    async fn run(&self, cx: &mut Context) -> Result<Flow> {
        let mut message = self.message(cx)?;
        loop {
            let is_new = Arc::new(AtomicBool::new(false));
            let sent = self.send(cx, message.clone(), is_new.clone()).await?;
            let task = match sent {
                StreamResponse::Message(message) => return self.write(cx, message.parts).await,
                StreamResponse::Task(task) if task.status.state.is_settled() => *task,
                StreamResponse::Task(task) => {
                    self.settle(cx, *task, message.clone(), is_new).await?
                }
                _ => return Err(self.error(Failure::invalid("did not reply with a task"))),
            };
            if task.status.state != TaskState::InputRequired {
                let parts: Vec<_> = task
                    .artifacts
                    .into_iter()
                    .flat_map(|artifact| artifact.parts)
                    .collect();
                let message = || {
                    task.status
                        .message
                        .map(|message| message.parts)
                        .unwrap_or_default()
                };
                return self
                    .write(cx, if parts.is_empty() { message() } else { parts })
                    .await;
            }
            let answer = self.ask(cx, &task).await?;
            message = Message {
                message_id: next_id(&message.message_id),
                context_id: task.context_id,
                task_id: task.id,
                parts: vec![to_part(answer)],
                ..Message::default()
            };
        }
    }

    /// Creates the first message of the task.
    fn message(&self, cx: &mut Context) -> Result<Message> {
        let mut fields = Map::new();
        for ReadKey { key, get, .. } in &self.spec().reads {
            let value = get(cx, key)?.ok_or_else(|| {
                Error::new(
                    ErrorKind::KeyMissing,
                    format!("no step has written `{key}`, which the remote agent reads"),
                )
                .with_help(
                    "place the agent after a step that writes the key, or pass the key as an input",
                )
            })?;
            fields.insert(key.clone(), value);
        }
        let part = match (fields.len(), fields.values().next()) {
            (1, Some(Value::String(text))) => Part::text(text.clone()),
            _ => Part::data(Value::Object(fields)),
        };
        let message_id = format!("{}/{}@0", cx.run_id(), cx.path());
        Ok(Message {
            message_id,
            role: Role::User,
            parts: vec![part],
            ..Message::default()
        })
    }

    fn send(
        &self,
        cx: &mut Context,
        message: Message,
        is_new: Arc<AtomicBool>,
    ) -> impl Future<Output = Result<StreamResponse>> + Send + use<> {
        let (connection, timeout, to_error) =
            (self.connection.clone(), self.timeout, self.to_error());
        cx.step("send", async move {
            is_new.store(true, Relaxed);
            follow::send(connection, message, timeout)
                .await
                .map_err(to_error)
        })
    }

    /// Waits until the task has ended or asks for input, and emits its text as it arrives.
    async fn settle(
        &self,
        cx: &mut Context,
        task: Task,
        message: Message,
        is_new: Arc<AtomicBool>,
    ) -> Result<Task> {
        let (pieces, mut received) = mpsc::unbounded_channel();
        let (connection, timeout, to_error) =
            (self.connection.clone(), self.timeout, self.to_error());
        let work = async move {
            let mut id = task.id;
            if !is_new.load(Relaxed) && message.task_id.is_empty() {
                // The run was resumed. If the task has failed in the meantime, send the message
                // again.
                let now = follow::get(&connection, &id).await?;
                let has_failed =
                    now.status.state.is_terminal() && now.status.state != TaskState::Completed;
                if has_failed {
                    match follow::send(connection.clone(), message, timeout).await? {
                        StreamResponse::Task(task) => id = task.id,
                        _ => {
                            return Err(Failure::invalid(
                                "replied to a repeated message without a task",
                            ));
                        }
                    }
                }
            }
            follow::settle(connection, id, pieces, timeout).await
        };
        let step = cx.step("task", async move { work.await.map_err(to_error) });
        let mut step = pin!(step);
        let emits_text = self.spec().write.as_ref().is_none_or(WrittenKey::is_text);
        loop {
            match select(step.as_mut(), pin!(received.recv())).await {
                Either::Left((settled, _)) => return settled,
                Either::Right((Some(piece), _)) if emits_text && !piece.is_empty() => {
                    let event = Event {
                        partial: true,
                        ..Event::new().with_text(piece)
                    };
                    cx.emit(event).await?;
                }
                Either::Right((Some(_), _)) => {}
                // The task has settled, so no more text comes. The step still records the task.
                Either::Right((None, _)) => return step.await,
            }
        }
    }

    async fn ask(&self, cx: &mut Context, task: &Task) -> Result<Value> {
        let parts = task
            .status
            .message
            .as_ref()
            .map(|message| &message.parts[..])
            .unwrap_or_default();
        let schema = parts.iter().find_map(|part| part.as_data()?.get("schema"));
        let schema = schema.filter(|schema| schema.is_object()).cloned();
        let question = self.connection.redact(&joined_text(parts));
        cx.wait_for(
            "input",
            question,
            schema.unwrap_or_else(|| json!({"type": "string"})),
        )
        .await
    }

    async fn write(&self, cx: &mut Context, parts: Vec<Part>) -> Result<Flow> {
        let text = joined_text(&parts);
        let mut event = if text.is_empty() {
            Event::new()
        } else {
            Event::new().with_text(&*text)
        };
        if let Some(write) = &self.spec().write {
            let data = parts
                .into_iter()
                .rev()
                .find_map(|part| part.as_data().cloned());
            let value = match data {
                _ if write.is_text() && !text.is_empty() => Value::String(text),
                Some(data) if write.is_text() && !data.is_string() => {
                    Value::String(data.to_string())
                }
                Some(data) => data,
                None => serde_json::from_str(&text).unwrap_or(Value::String(text)),
            };
            (write.accepts)(&value).map_err(|why| {
                let message = format!(
                    "{} did not return a `{}` for `{}`: {why}",
                    self.label(),
                    write.ty,
                    write.key
                );
                Error::new(ErrorKind::OutputInvalid, message)
                    .with_help("declare the type that the agent returns, or `String`")
            })?;
            event = event.with_state(write.key.clone(), value);
        }
        cx.emit(event).await?;
        Ok(Flow::Continue)
    }

    fn label(&self) -> String {
        label(&self.spec().name, &self.connection)
    }

    fn error(&self, failure: Failure) -> Error {
        self.to_error()(failure)
    }

    fn to_error(&self) -> impl Fn(Failure) -> Error + Send + Sync + use<> {
        let (name, connection) = (self.spec().name.clone(), self.connection.clone());
        move |Failure {
                  kind, fact, help, ..
              }| {
            let message = format!(
                "{} {}",
                label(&name, &connection),
                connection.redact_short(&fact)
            );
            Error::new(kind, message).with_help(help)
        }
    }
}

fn label(name: &str, connection: &Connection) -> String {
    format!("the remote agent `{name}` at {}", connection.public_url())
}

fn next_id(id: &str) -> String {
    let (base, number) = id.rsplit_once('@').unwrap_or((id, "0"));
    format!("{base}@{}", number.parse::<u32>().unwrap_or_default() + 1)
}

fn to_part(value: Value) -> Part {
    match value {
        Value::String(text) => Part::text(text),
        value => Part::data(value),
    }
}

impl DynAgent for RemoteAgent {
    fn meta(&self) -> &AgentMeta<'_> {
        self.meta.borrow_dependent()
    }

    fn run_dyn<'a>(&'a self, cx: &'a mut Context) -> BoxFuture<'a, Result<Flow>> {
        Box::pin(async move {
            let path = cx.path().clone();
            self.run(cx).await.map_err(|error| error.at(&path))
        })
    }

    fn prepare_dyn(&self, _: &mut Prepare<'_>) {}
}

impl fmt::Debug for RemoteAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteAgent")
            .field("name", &self.spec().name)
            .field("url", &self.connection.public_url())
            .finish()
    }
}

/// The output omits the address and the headers, which may contain secrets.
impl fmt::Debug for RemoteAgentBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteAgentBuilder")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
