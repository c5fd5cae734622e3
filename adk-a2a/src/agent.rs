//! [`remote`]: an agent of another program as a step.

use crate::connection::Connection;
use crate::failure::Failure;
use crate::follow;
use crate::types::text_of;
use crate::{Message, Part, Role, StreamResponse, Task, TaskState};
use adk_core::spec::{AgentMeta, KeySpec};
use adk_core::{AgentKind, BoxFuture, Context, DynAgent, Error, ErrorKind, Event, Flow, Prepare, Result};
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

/// How long a remote agent may take, unless a timeout is set.
const TIMEOUT: Duration = Duration::from_secs(600);

/// An agent of another program, at the address of its card or of the folder that has it: `https://example.org/a2a/writer` has
/// its card at `https://example.org/a2a/writer/.well-known/agent-card.json`.
///
/// It is a step of a workflow as one whose keys are known at run time:
///
/// ```
/// use adk::DynAgent;
/// use adk::prelude::*;
/// use std::sync::Arc;
///
/// workflow! {
///     /// Has a text written elsewhere.
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
/// **What is sent.** The one key that it reads, when that is a text; otherwise an object with all keys, as a part with data.
///
/// **What is written.** The artifacts of the task, or what the agent says at its end: a `String` is their text, another type
/// their data, or their text read as JSON. Where the card says that the agent streams, text is handed on as it comes.
///
/// **When the run is cancelled** the task is left to the agent. **When it is taken up again** the message is not sent again: the id of the task is recorded before anything else, and
/// the task is asked for by it. A task that has failed by then is sent again. The id of the message is always the same, so an
/// agent that knows messages again, as `adk` does, begins no second task for one whose answer was lost.
///
/// **A task that asks for something** is a wait of the run, as an `await` is: it is listed by
/// [`Runner::waiting`](adk_core::Runner::waiting), and the answer is sent to the task.
///
/// # Errors of a run
/// [`ErrorKind::Remote`] and [`ErrorKind::Timeout`], with the address without its query and what may be a password;
/// [`ErrorKind::OutputInvalid`] for an answer of another type than the key has.
pub fn remote(url: impl Into<String>) -> RemoteAgentBuilder {
    RemoteAgentBuilder {
        url: url.into(),
        name: "remote".to_owned(),
        description: String::new(),
        reads: Vec::new(),
        write: None,
        headers: Vec::new(),
        timeout: TIMEOUT,
    }
}

/// A [`RemoteAgent`] to be.
#[must_use = "it is no agent until it is built"]
pub struct RemoteAgentBuilder {
    url: String,
    name: String,
    description: String,
    reads: Vec<Read>,
    write: Option<Write>,
    headers: Vec<(String, String)>,
    timeout: Duration,
}

struct Read {
    key: String,
    ty: String,
    id: fn() -> TypeId,
    get: fn(&mut Context, &str) -> Result<Option<Value>>,
}

struct Write {
    key: String,
    ty: String,
    id: fn() -> TypeId,
    accepts: fn(&dyn Any) -> Result<(), String>,
}

impl RemoteAgentBuilder {
    /// The name of the step. Default: `remote`.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// What it does, for models that may hand over to it. Default: empty.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// A key that is sent.
    pub fn reads<T: Serialize + DeserializeOwned + 'static>(mut self, key: impl Into<String>) -> Self {
        let get = |cx: &mut Context, key: &str| {
            let value: Option<T> = cx.state().get(key)?;
            value.map(|value| serde_json::to_value(value).map_err(Error::other)).transpose()
        };
        self.reads.push(Read { key: key.into(), ty: name_of::<T>(), id: TypeId::of::<T>, get });
        self
    }

    /// The key that the answer is written to. Without one the answer is said, and not kept.
    pub fn writes<T: DeserializeOwned + 'static>(mut self, key: impl Into<String>) -> Self {
        let accepts = |value: &dyn Any| match value.downcast_ref::<Value>() {
            Some(value) => T::deserialize(value).map(drop).map_err(|error| error.to_string()),
            None => Err("it is no JSON".to_owned()),
        };
        self.write = Some(Write { key: key.into(), ty: name_of::<T>(), id: TypeId::of::<T>, accepts });
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

    /// How long its task may take, without the time that it waits for an answer; then it is cancelled. Default: 10 minutes.
    pub fn timeout(mut self, longest: Duration) -> Self {
        self.timeout = longest;
        self
    }

    /// The agent. Nothing is asked before it runs.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] when the address is no URL, or a header cannot be sent.
    pub fn build(self) -> Result<RemoteAgent> {
        let connection = Arc::new(Connection::new(&self.url, &self.headers)?);
        let Self { name, description, reads, write, timeout, .. } = self;
        let listed = Listed::new(Owned { name, description, reads, write }, |owned| Keys {
            reads: owned
                .reads
                .iter()
                .map(|read| KeySpec::new(&read.key, &read.ty).with_id(Some(read.id)))
                .collect(),
            writes: owned.write.iter().map(Write::spec).collect(),
        });
        let meta = Described::new(listed, |listed| {
            let (owned, keys) = (listed.borrow_owner(), listed.borrow_dependent());
            let meta = AgentMeta::new(AgentKind::Custom, &owned.name).description(&owned.description);
            meta.reads(&keys.reads).writes(&keys.writes).max_turns(Some(0)).timeout(timeout)
        });
        Ok(RemoteAgent { meta, connection, timeout })
    }
}

impl Write {
    fn spec(&self) -> KeySpec<'_> {
        KeySpec::new(&self.key, &self.ty).with_id(Some(self.id)).accepting(Some(self.accepts))
    }

    fn is_text(&self) -> bool {
        (self.id)() == TypeId::of::<String>()
    }
}

/// How a type is spelled in a workflow, which knows it by that: without paths.
fn name_of<T>() -> String {
    let (mut name, mut rest) = (String::new(), type_name::<T>());
    while let Some((path, more)) = rest.split_once("::") {
        name.push_str(path.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_'));
        rest = more;
    }
    name + rest
}

struct Owned {
    name: String,
    description: String,
    reads: Vec<Read>,
    write: Option<Write>,
}

struct Keys<'a> {
    reads: Vec<KeySpec<'a>>,
    writes: Vec<KeySpec<'a>>,
}

self_cell!(
    struct Listed {
        owner: Owned,
        #[covariant]
        dependent: Keys,
    }
);

self_cell!(
    struct Described {
        owner: Listed,
        #[covariant]
        dependent: AgentMeta,
    }
);

/// An agent of another program, see [`remote`].
pub struct RemoteAgent {
    meta: Described,
    connection: Arc<Connection>,
    timeout: Duration,
}

impl RemoteAgent {
    fn owned(&self) -> &Owned {
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
                StreamResponse::Task(task) => self.settle(cx, *task, message.clone(), is_new).await?,
                _ => return Err(self.error(Failure::invalid("gave no task"))),
            };
            if task.status.state != TaskState::InputRequired {
                let parts: Vec<_> = task.artifacts.into_iter().flat_map(|artifact| artifact.parts).collect();
                let said = || task.status.message.map(|message| message.parts).unwrap_or_default();
                return self.write(cx, if parts.is_empty() { said() } else { parts }).await;
            }
            let answer = self.ask(cx, &task).await?;
            message = Message {
                message_id: next_id(&message.message_id),
                context_id: task.context_id,
                task_id: task.id,
                parts: vec![part_of(answer)],
                ..Message::default()
            };
        }
    }

    /// What is sent first.
    fn message(&self, cx: &mut Context) -> Result<Message> {
        let mut fields = Map::new();
        for Read { key, get, .. } in &self.owned().reads {
            let value = get(cx, key)?.ok_or_else(|| {
                Error::new(
                    ErrorKind::KeyMissing,
                    format!("`{key}` is to be sent, and nothing has written it"),
                )
                .with_help("place the step after one that writes it, or pass it as an input")
            })?;
            fields.insert(key.clone(), value);
        }
        let part = match (fields.len(), fields.values().next()) {
            (1, Some(Value::String(text))) => Part::text(text.clone()),
            _ => Part::data(Value::Object(fields)),
        };
        let message_id = format!("{}/{}@0", cx.run_id(), cx.path());
        Ok(Message { message_id, role: Role::User, parts: vec![part], ..Message::default() })
    }

    fn send(
        &self,
        cx: &mut Context,
        message: Message,
        is_new: Arc<AtomicBool>,
    ) -> impl Future<Output = Result<StreamResponse>> + Send + use<> {
        let (connection, timeout, failed) = (self.connection.clone(), self.timeout, self.failed());
        cx.step("send", async move {
            is_new.store(true, Relaxed);
            follow::send(connection, message, timeout).await.map_err(failed)
        })
    }

    /// Waits for the end of a task, and hands on its text as it comes.
    async fn settle(
        &self,
        cx: &mut Context,
        task: Task,
        message: Message,
        is_new: Arc<AtomicBool>,
    ) -> Result<Task> {
        let (pieces, mut heard) = mpsc::unbounded_channel();
        let (connection, timeout, failed) = (self.connection.clone(), self.timeout, self.failed());
        let work = async move {
            let mut id = task.id;
            if !is_new.load(Relaxed) && message.task_id.is_empty() {
                // The run was taken up again: what has failed in the meantime is sent once more.
                let now = follow::get(&connection, &id).await?;
                let has_failed = now.status.state.is_terminal() && now.status.state != TaskState::Completed;
                if has_failed {
                    match follow::send(connection.clone(), message, timeout).await? {
                        StreamResponse::Task(task) => id = task.id,
                        _ => return Err(Failure::invalid("answered a task with a message")),
                    }
                }
            }
            follow::settle(connection, id, pieces, timeout).await
        };
        let step = cx.step("task", async move { work.await.map_err(failed) });
        let mut step = pin!(step);
        let shows = self.owned().write.as_ref().is_none_or(Write::is_text);
        loop {
            match select(step.as_mut(), pin!(heard.recv())).await {
                Either::Left((settled, _)) => return settled,
                Either::Right((Some(piece), _)) if shows && !piece.is_empty() => {
                    let event = Event { partial: true, ..Event::new().with_text(piece) };
                    cx.emit(event).await?;
                }
                Either::Right((Some(_), _)) => {}
                // The task has settled, and is being recorded.
                Either::Right((None, _)) => return step.await,
            }
        }
    }

    async fn ask(&self, cx: &mut Context, task: &Task) -> Result<Value> {
        let parts = task.status.message.as_ref().map(|message| &message.parts[..]).unwrap_or_default();
        let schema = parts.iter().find_map(|part| part.as_data()?.get("schema"));
        let schema = schema.filter(|schema| schema.is_object()).cloned();
        let question = self.connection.without_secrets(&text_of(parts));
        cx.wait_for("input", question, schema.unwrap_or_else(|| json!({"type": "string"}))).await
    }

    async fn write(&self, cx: &mut Context, parts: Vec<Part>) -> Result<Flow> {
        let text = text_of(&parts);
        let mut event = if text.is_empty() { Event::new() } else { Event::new().with_text(&*text) };
        if let Some(write) = &self.owned().write {
            let data = parts.into_iter().rev().find_map(|part| part.as_data().cloned());
            let value = match data {
                _ if write.is_text() && !text.is_empty() => Value::String(text),
                Some(data) if write.is_text() && !data.is_string() => Value::String(data.to_string()),
                Some(data) => data,
                None => serde_json::from_str(&text).unwrap_or(Value::String(text)),
            };
            (write.accepts)(&value).map_err(|why| {
                let message = format!("{} gave no `{}` for `{}`: {why}", self.shown(), write.ty, write.key);
                Error::new(ErrorKind::OutputInvalid, message)
                    .with_help("declare the type that the agent answers with, or a `String`")
            })?;
            event = event.with_state(write.key.clone(), value);
        }
        cx.emit(event).await?;
        Ok(Flow::Continue)
    }

    fn shown(&self) -> String {
        shown(&self.owned().name, &self.connection)
    }

    fn error(&self, failure: Failure) -> Error {
        self.failed()(failure)
    }

    fn failed(&self) -> impl Fn(Failure) -> Error + Send + Sync + use<> {
        let (name, connection) = (self.owned().name.clone(), self.connection.clone());
        move |Failure { kind, fact, help, .. }| {
            let message = format!("{} {}", shown(&name, &connection), connection.redacted(&fact));
            Error::new(kind, message).with_help(help)
        }
    }
}

fn shown(name: &str, connection: &Connection) -> String {
    format!("the remote agent `{name}` at {}", connection.shown())
}

fn next_id(id: &str) -> String {
    let (base, number) = id.rsplit_once('@').unwrap_or((id, "0"));
    format!("{base}@{}", number.parse::<u32>().unwrap_or_default() + 1)
}

fn part_of(value: Value) -> Part {
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
            .field("name", &self.owned().name)
            .field("url", &self.connection.shown())
            .finish()
    }
}

/// What may be secret is not shown.
impl fmt::Debug for RemoteAgentBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteAgentBuilder").field("name", &self.name).finish_non_exhaustive()
    }
}
