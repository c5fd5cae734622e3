//! A run that is asked for and not begun yet.

use super::stream::RunStream;
use super::{Shared, hooks};
use crate::check::{LIVE_HELP, describe_live};
use crate::engine::{Engine, RunRecord, Taken};
use crate::event::{Event, StateDelta};
use crate::live::{LiveInput, LiveQueue};
use crate::run::{Context, Outcome, Prepare, Run, RunConfig};
use crate::session::{Session, SessionKey};
use crate::spec::Topology;
use crate::workflow::{Keys, Values, Workflow, prepare_root, run_root};
use crate::{BoxFuture, Content, Error, ErrorKind, Name, Path, Result, RunId, StoreErrorKind, panic};
use serde::Serialize;
use std::fmt;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// A run to be: awaited it gives its [`Outcome`], with [`stream`](Self::stream) its events as they come.
#[must_use = "a run does nothing until it is awaited or streamed"]
pub struct RunRequest<'a, T> {
    pub(super) shared: Arc<Shared>,
    key: SessionKey,
    /// Whether the session is this run's alone.
    private: bool,
    state: StateDelta,
    config: RunConfig,
    message: Option<Content>,
    live: Option<LiveInput>,
    error: Option<Error>,
    begin: Result<Keys>,
    /// The run that is taken up again.
    resume: Option<RunId>,
    /// The name and the shape of the workflow, where runs are kept.
    shape: Option<(String, Topology)>,
    body: Body<'a, T>,
}

/// Runs the workflow in its root context and reads its output.
type Body<'a, T> = Box<dyn FnOnce(Arc<Run>, Start) -> BoxFuture<'a, Result<T>> + Send + 'a>;

/// What the first event of a run says.
struct Start {
    message: Content,
    delta: StateDelta,
}

impl<'a, T: Send + 'static> RunRequest<'a, T> {
    pub(super) fn new<H, W>(
        shared: Arc<Shared>,
        key: SessionKey,
        private: bool,
        workflow: H,
        input: W::Input,
    ) -> Self
    where
        H: Deref<Target = W> + Send + Sync + 'a,
        W: Workflow<Output = T> + ?Sized,
    {
        let mut keys = Keys::default();
        // The expressions of `let` items run here; one that panics is an error of the run, as in any agent.
        let begin = match catch_unwind(AssertUnwindSafe(|| workflow.begin(input, &mut keys))) {
            Ok(begun) => begun.map(|()| keys),
            Err(panic) => {
                let message = format!("one of its `let` values panicked: {}", panic::message(&*panic));
                Err(Error::new(ErrorKind::Panic, message))
            }
        };
        let begin = begin.map_err(|error| error.at(&Path::root(workflow.as_agent().meta().name.to_owned())));
        Self::with(shared, key, private, workflow, begin)
    }

    /// A run that is taken up again: what it began with is in its record.
    pub(super) fn resume<H, W>(shared: Arc<Shared>, workflow: H, run: RunId) -> Self
    where
        H: Deref<Target = W> + Send + Sync + 'a,
        W: Workflow<Output = T> + ?Sized,
    {
        let key = SessionKey::new(&shared.app, "", run.to_string());
        let request = Self::with(shared, key, false, workflow, Ok(Keys::default()));
        Self { resume: Some(run), ..request }
    }

    fn with<H, W>(
        shared: Arc<Shared>,
        key: SessionKey,
        private: bool,
        workflow: H,
        begin: Result<Keys>,
    ) -> Self
    where
        H: Deref<Target = W> + Send + Sync + 'a,
        W: Workflow<Output = T> + ?Sized,
    {
        let shape = shared.engine.records().then(|| {
            let meta = workflow.as_agent().meta();
            (meta.name.to_owned(), Topology::of(meta))
        });
        let body: Body<'a, T> =
            Box::new(move |run, start| Box::pin(async move { root(&*workflow, run, start).await }));
        let config = shared.config.clone();
        Self {
            shared,
            key,
            private,
            state: StateDelta::default(),
            config,
            message: None,
            live: None,
            error: None,
            begin,
            resume: None,
            shape,
            body,
        }
    }

    /// What the user says, in place of the inputs: text, images, files.
    pub fn message(mut self, content: impl Into<Content>) -> Self {
        self.message = Some(content.into());
        self
    }

    /// Sets a state key with the event of the user.
    pub fn state(mut self, key: impl Into<Name>, value: impl Serialize) -> Self {
        let key = key.into();
        match crate::run::encode(&key, value) {
            Ok(value) => self.state.insert(key, value),
            Err(error) => self.error = Some(error),
        }
        self
    }

    /// The settings of this run, in place of the runner's.
    pub fn config(mut self, config: RunConfig) -> Self {
        self.config = config;
        self
    }

    /// A live run: what people say while it goes on comes from the queue.
    pub(super) fn live<H, W>(
        shared: Arc<Shared>,
        key: SessionKey,
        private: bool,
        workflow: H,
        input: W::Input,
        queue: &LiveQueue,
    ) -> Self
    where
        H: Deref<Target = W> + Send + Sync + 'a,
        W: Workflow<Output = T> + ?Sized,
    {
        let meta = workflow.as_agent().meta();
        let refused = describe_live(meta).map(|message| {
            let error = Error::new(ErrorKind::LiveLoop, message).with_help(LIVE_HELP);
            error.at(&Path::root(Name::shared(meta.name)))
        });
        let request = Self::new(shared, key, private, workflow, input);
        Self { live: Some(queue.input()), error: refused, ..request }
    }

    /// Begins the run: its events as they are committed. Dropping the stream cancels the run.
    pub fn stream(self) -> RunStream<'a, T> {
        RunStream::new(Box::pin(self.open()))
    }

    /// Finds or makes the session; what runs in it comes back unpolled.
    async fn open(self) -> Result<(Arc<Run>, BoxFuture<'a, Result<T>>)> {
        let Self { shared, key, private, state, config, message, live, error, begin, resume, shape, body } =
            self;
        if let Some(error) = error {
            return Err(error);
        }
        let keys = begin?;
        if let Some(run) = resume {
            let (run, start) = taken_up(&shared, run, shape).await?;
            let future = body(run.clone(), start);
            return Ok((run, future));
        }
        let session = match private && shape.is_none() {
            true => shared.sessions.create_private(key).await?,
            false => open_session(&shared, key).await?,
        };
        let mut run = Run::new(session, shared.engine.clone(), config, shared.services.clone());
        // What is said in a live run comes from its queue; its inputs are keys alone.
        let message = message.unwrap_or_else(|| match live {
            Some(_) => keys.given_message(),
            None => keys.to_message(),
        });
        run.live = live;
        let mut delta = keys.into_delta();
        delta.extend(state);
        if let Some((workflow, topology)) = shape {
            let begins = run.delivery.session.len() as u64;
            let state = run.delivery.session.state().into_iter().collect();
            let config = serde_json::to_value(&run.config).unwrap_or_default();
            let (message, delta) = (message.clone(), delta.clone());
            let new = RunRecord::new(run.id, run.delivery.session.key().clone(), workflow, topology);
            run.begins_with(RunRecord { message, delta, state, begins, config, ..new });
        }
        let run = Arc::new(run);
        let future = body(run.clone(), Start { message, delta });
        Ok((run, future))
    }
}

/// Takes a run, when the workflow is still of the shape that the run was begun with.
async fn taken_up(
    shared: &Shared,
    id: RunId,
    shape: Option<(String, Topology)>,
) -> Result<(Arc<Run>, Start)> {
    let taken = shared.engine.take(id).await?;
    let mut held = Held { engine: &*shared.engine, run: Some(id) };
    let made = make_again(shared, taken, shape).await?;
    // From here on its stream gives it back.
    held.run = None;
    Ok(made)
}

/// A run that was taken and is not driven yet: given back when nothing comes of it, also when nobody waits any more.
struct Held<'a> {
    engine: &'a dyn Engine,
    run: Option<RunId>,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        if let Some(run) = self.run {
            self.engine.release(run);
        }
    }
}

async fn make_again(
    shared: &Shared,
    taken: Taken,
    shape: Option<(String, Topology)>,
) -> Result<(Arc<Run>, Start)> {
    let record = &taken.record;
    let (name, now) = shape.unwrap_or_default();
    if record.workflow != name {
        let message = format!("run `{}` is one of `{}`, not of `{name}`", record.run_id, record.workflow);
        return Err(Error::new(ErrorKind::TopologyChanged, message).with_help("resume it with that workflow"));
    }
    if !record.topology.fits(&now) {
        let message = format!(
            "`{name}` is not of the shape any more that run `{}` was begun with:\n{}",
            record.run_id,
            record.topology.diff(&now)
        );
        return Err(Error::new(ErrorKind::TopologyChanged, message).with_help(
            "resume it with the program that began it; steps may be added at the end of the body, and prompts, models, \
             tools and limits may change",
        ));
    }
    let session = shared.sessions.get(&record.session).await?.ok_or_else(|| {
        let message = format!("the session `{}` of run `{}` is not there", record.session, record.run_id);
        Error::new(ErrorKind::Store(StoreErrorKind::Missing), message)
    })?;
    let begins = usize::try_from(record.begins).unwrap_or(usize::MAX);
    session.load(0..begins.min(session.len())).await?;
    let config = serde_json::from_value(record.config.clone()).unwrap_or_else(|_| shared.config.clone());
    let start = Start { message: record.message.clone(), delta: record.delta.clone() };
    let mut run = Run::new(session, shared.engine.clone(), config, shared.services.clone());
    run.goes_on_with(taken);
    Ok((Arc::new(run), start))
}

pub(super) async fn open_session(shared: &Shared, key: SessionKey) -> Result<Arc<Session>> {
    match shared.sessions.get(&key).await? {
        Some(session) => Ok(session),
        None => match shared.sessions.create(key.clone(), StateDelta::default()).await {
            Ok(session) => Ok(session),
            // Another run may have made it in the meantime.
            Err(error) => shared.sessions.get(&key).await?.ok_or(error),
        },
    }
}

async fn root<W: Workflow + ?Sized>(workflow: &W, run: Arc<Run>, start: Start) -> Result<W::Output> {
    let agent = workflow.as_agent();
    let name = Name::shared(agent.meta().name);
    let path = Path::root(name.clone());
    if is_blank(&start.message) {
        let message = "the message of the user is empty";
        let error = Error::new(ErrorKind::EmptyInput, message).at(&path);
        return Err(
            error.with_help("give the workflow an input with some text, or set it with `.message(...)`")
        );
    }
    let mut cx = Context::root(run.clone(), name);
    let mut event = Event::new();
    if run.live.is_none() || !start.message.parts.is_empty() {
        let message = hooks::user_message(start.message, &mut cx).await.map_err(|error| error.at(&path))?;
        event.content = Some(message);
    }
    event.author = Name::literal("user");
    event.actions.state_delta = start.delta;
    // A live run without inputs begins with the first message of its queue.
    if run.live.is_none() || event.content.is_some() || !event.actions.state_delta.is_empty() {
        cx.emit(event).await?;
    }
    let mut prepare = Prepare::new(&run, path.clone());
    prepare_root(agent, &mut prepare);
    prepare.finish()?;
    let ran = match hooks::is_answered(&mut cx).await {
        Ok(true) => Ok(()),
        Ok(false) => run_root(agent, &mut cx).await,
        Err(error) => Err(error),
    };
    let ended = match ran {
        Ok(()) => hooks::ended(&mut cx).await,
        failed => failed,
    };
    match ended {
        Ok(()) => workflow.finish(&Values { run: &run }).map_err(|error| output(error).at(&path)),
        Err(error) => Err(error.at(&path)),
    }
}

/// The output is read like any key; what is wrong with it is said in the workflow's own terms.
fn output(error: Error) -> Error {
    let (fact, help) = match error.kind() {
        ErrorKind::KeyMissing => (
            "the run ended without the workflow's output",
            "let an agent write that key on every path to the end: `agent NAME -> KEY: TYPE`, or `writes = KEY`",
        ),
        _ => ("the workflow's output cannot be read", "declare the output with the type that its writer has"),
    };
    let message = format!("{fact}: {}", error.message());
    Error::new(error.kind(), message).with_help(help).with_source(error)
}

/// Whether there is nothing but white space. A workflow without inputs says nothing, and that is not blank.
fn is_blank(message: &Content) -> bool {
    !message.parts.is_empty()
        && message.parts.iter().all(|part| part.as_text().is_some_and(|text| text.trim().is_empty()))
}

impl<'a, T: Send + 'static> IntoFuture for RunRequest<'a, T> {
    type Output = Result<Outcome<T>>;
    type IntoFuture = BoxFuture<'a, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.stream().finish())
    }
}

impl<T> fmt::Debug for RunRequest<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RunRequest({})", self.key)
    }
}
