//! Execution of a workflow from its first event to its output, and execution of a remote branch.

use super::{answers, hooks};
use crate::runtime::agent::DynAgent;
use crate::runtime::run::{Context, Prepare, Run, TraceSpan};
use crate::runtime::workflow::{prepare_root, run_branch, run_root};
use crate::spec::{AgentMeta, StepKind};
use crate::store::engine::{BranchEnd, BranchTask, CallKind, StepKey};
use crate::store::event::{Event, StateDelta};
use crate::store::session::OwnKeys;
use crate::{BoxFuture, Content, Error, ErrorKind, Name, Path, Result};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Content of the first event of a run.
#[derive(Default)]
pub(super) struct Start {
    pub(super) message: Content,
    pub(super) delta: StateDelta,
}

/// How the agents of a run have ended.
pub(super) struct RootEnd {
    path: Path,
    span: Option<Arc<TraceSpan>>,
    ended: Result<()>,
}

impl RootEnd {
    /// Reads the output of the run.
    pub(super) fn output<T>(self, read: impl FnOnce() -> Result<T>) -> Result<T> {
        let Self { path, span, ended } = self;
        TraceSpan::end_first(
            span,
            ended.and_then(|()| read().map_err(|error| output_error(error).at(&path))),
        )
    }
}

/// Runs a workflow in its root context.
// No `async fn`: the crates that run workflows would compile its body again, with the body of each
// function that it awaits.
pub(super) fn run_workflow(
    agent: &dyn DynAgent,
    is_closed: bool,
    run: Arc<Run>,
    start: Start,
) -> BoxFuture<'_, RootEnd> {
    Box::pin(run_agent(agent, is_closed, run, start))
}

async fn run_agent(agent: &dyn DynAgent, is_closed: bool, run: Arc<Run>, start: Start) -> RootEnd {
    let path = Path::root(Name::shared(agent.meta().name));
    if is_closed && !run.kind.is_alone() {
        run.set_own_keys(OwnKeys::new(state_keys(agent.meta())));
    }
    run.set_guards(agent.meta());
    let mut cx = Context::root(run.clone(), path.clone()).with_budget();
    cx.trace = TraceSpan::first(agent.meta(), &run, &path);
    let span = cx.trace.clone();
    if let Err(error) = begin(agent, start, &path, &mut cx).await {
        return RootEnd {
            path,
            span,
            ended: Err(error),
        };
    }
    // Rarely needed futures are boxed, so that the future of most runs stays small.
    let is_watched = !run.services.plugins.is_empty();
    let answered = if is_watched {
        Box::pin(hooks::is_answered(&mut cx)).await
    } else {
        Ok(false)
    };
    let ran = match answered {
        Ok(true) => Ok(()),
        Ok(false) => match run.limits.deadline {
            None => run_root(agent, &mut cx).await,
            Some(deadline) => {
                Box::pin(run_until(&run, deadline, &path, run_root(agent, &mut cx))).await
            }
        },
        Err(error) => Err(error),
    };
    let ended = match ran {
        Ok(()) if is_watched => Box::pin(hooks::after_run(&mut cx)).await,
        ran => ran,
    };
    let ended = ended.map_err(|error| error.at(&path));
    RootEnd { path, span, ended }
}

/// Returns the `state` keys of a workflow and of all agents inside it. These keys belong to the
/// session.
fn state_keys(workflow: &AgentMeta<'_>) -> BTreeSet<Name> {
    let (mut all, mut open) = (BTreeSet::new(), vec![*workflow]);
    while let Some(meta) = open.pop() {
        all.extend(meta.states.iter().map(|key| Name::shared(key.name)));
        let inside = meta.steps.iter().filter_map(|step| match step.kind {
            StepKind::Agent { meta, .. } => Some(meta),
            _ => None,
        });
        let tools = meta.tools.iter().filter_map(|tool| tool.agent);
        open.extend(
            inside
                .chain(tools)
                .chain(meta.transfer.iter().copied())
                .filter(|meta| has_agents(meta)),
        );
    }
    all
}

/// Returns whether an agent contains other agents.
fn has_agents(meta: &AgentMeta<'_>) -> bool {
    !meta.steps.is_empty()
        || !meta.transfer.is_empty()
        || meta.tools.iter().any(|tool| tool.agent.is_some())
}

/// Runs the root agent until the deadline of the run.
async fn run_until(
    run: &Run,
    (deadline, longest): (Instant, Duration),
    path: &Path,
    ran: impl Future<Output = Result<()>>,
) -> Result<()> {
    let key = StepKey::new(run.id(), path.clone(), CallKind::Timer, "deadline", 0);
    run.run_until(key, deadline, ran).await.unwrap_or_else(|| {
        let message = format!("the run took longer than {longest:?}, its `deadline`");
        Err(Error::new(ErrorKind::DeadlineExceeded, message).with_help(
            "give it more with `RunConfig::deadline`, or look in its events for what takes so long",
        ))
    })
}

/// Emits the first event of the run, with the message and the initial state, and prepares all
/// agents.
async fn begin(agent: &dyn DynAgent, start: Start, path: &Path, cx: &mut Context) -> Result<()> {
    if is_blank(&start.message) {
        let message = "the message of the user is empty";
        let error = Error::new(ErrorKind::EmptyInput, message).at(path);
        return Err(error.with_help(if cx.run.kind.live().is_none() {
            "give the workflow an input with some text, or set it with `.message(...)`"
        } else {
            "say nothing, `Content::default()`, to begin with the first message of the queue"
        }));
    }
    if agent.meta().guards.is_some_and(|guards| guards.fresh) {
        Box::pin(require_fresh_session(&cx.run))
            .await
            .map_err(|error| error.at(path))?;
    }
    if let Some(span) = &cx.trace {
        cx.run.kind.keep_trace(span);
        span.record_message(&start.message);
    }
    let is_live = cx.run.kind.live().is_some();
    let Start { mut message, delta } = start;
    let has_message = !is_live || !message.parts.is_empty();
    if has_message && !cx.run.services.plugins.is_empty() {
        message = Box::pin(hooks::user_message(message, cx))
            .await
            .map_err(|error| error.at(path))?;
    }
    if message.function_responses().next().is_some() {
        Box::pin(answers::check(&message, cx))
            .await
            .map_err(|error| error.at(path))?;
    }
    cx.mark_inputs(agent.meta());
    // A live run without inputs begins with the first message of its queue.
    if has_message || !delta.is_empty() {
        cx.emit(first_event(has_message.then_some(message), delta))
            .await?;
    }
    let mut prepare = Prepare::new(&cx.run, path.clone());
    prepare_root(agent, &mut prepare);
    prepare.finish()?.await
}

/// Refuses a session that has events of another run.
///
/// # Errors
/// Fails if the session has such events, or if the store fails.
async fn require_fresh_session(run: &Run) -> Result<()> {
    let session = &run.delivery.session;
    if session.is_empty() {
        return Ok(());
    }
    session.load(0..1).await?;
    match session.event(0) {
        Some(first) if first.invocation_id == run.id() => Ok(()),
        _ => {
            let message = format!(
                "the workflow has `fresh` in its `#[guards(...)]`, and session `{}` has events",
                session.key()
            );
            Err(Error::new(ErrorKind::Unchecked, message)
                .with_help("run it in a new session, or remove `fresh`"))
        }
    }
}

/// Returns the event of the user. Separate from [`begin`], whose future would store the event
/// otherwise.
fn first_event(content: Option<Content>, delta: StateDelta) -> Event {
    let mut event = Event::new();
    (event.author, event.content) = (Name::literal("user"), content);
    event.actions.state_delta = delta;
    event
}

/// Rewrites the error of a key as an error of the workflow's output, since the output is read like
/// any key.
fn output_error(error: Error) -> Error {
    let (fact, help) = match error.kind() {
        ErrorKind::KeyMissing => (
            "the run ended without the workflow's output",
            "let an agent write that key on every path to the end: `agent NAME -> KEY: TYPE`, or \
             `writes = KEY`",
        ),
        _ => (
            "the workflow's output cannot be read",
            "declare the output with the type that its writer has",
        ),
    };
    let message = format!("{fact}: {}", error.message());
    Error::new(error.kind(), message)
        .with_help(help)
        .with_source(error)
}

/// Returns whether a message contains only white space. The message of a workflow without inputs
/// has no parts and is not blank.
fn is_blank(message: &Content) -> bool {
    !message.parts.is_empty()
        && message
            .parts
            .iter()
            .all(|part| part.as_text().is_some_and(|text| text.trim().is_empty()))
}

/// Runs a branch of a run that another process drives.
pub(super) fn run_branch_task(
    agent: &dyn DynAgent,
    is_closed: bool,
    run: Arc<Run>,
    task: Arc<BranchTask>,
) -> BoxFuture<'_, Result<BranchEnd>> {
    Box::pin(run_branch_inner(agent, is_closed, run, task))
}

async fn run_branch_inner(
    agent: &dyn DynAgent,
    is_closed: bool,
    run: Arc<Run>,
    task: Arc<BranchTask>,
) -> Result<BranchEnd> {
    let name = Name::shared(agent.meta().name);
    let path = Path::root(name.clone());
    if name != task.workflow {
        let message = format!(
            "branch `{}` belongs to workflow `{}`, not to `{name}`",
            task.path, task.workflow
        );
        return Err(Error::new(ErrorKind::TopologyChanged, message)
            .with_help("run it with the workflow that it belongs to"));
    }
    let mut prepare = Prepare::new(&run, path.clone());
    prepare_root(agent, &mut prepare);
    prepare.finish()?.await?;
    if is_closed {
        let own = OwnKeys::new(state_keys(agent.meta()));
        own.record(&task.state);
        run.set_own_keys(own);
    }
    run.set_guards(agent.meta());
    let mut cx = Context::root(run.clone(), path.clone())
        .with_budget()
        .search_for(task.clone());
    cx.trace = TraceSpan::first(agent.meta(), &run, &task.path);
    let span = cx.trace.clone();
    let ended = run_branch(agent, cx).await.map_err(|error| error.at(&path));
    TraceSpan::end_first(span, ended)
}
