//! The Restate service of a workflow. A run is an invocation of the handler `run`, with the run id
//! as the key of the workflow.

use crate::Worker;
use crate::client::call_store;
use crate::handle::{Handle, Replay, Stop, is_fenced};
use crate::idle::{Gate, TurnGate};
use crate::local::Local;
use crate::messages::AnswerCall;
use crate::posted::{Posted, fails_attempt};
use crate::serve::{Served, Serving};
use crate::service::{Handled, Handlers, Invocation};
use crate::sessions::Detached;
use adk_core::engine::{
    ClaimId, DrivenRun, RunFilter, RunInfo, RunRecord, RunReport, RunStatus, RunTask,
    error_to_value, refuse,
};
use adk_core::model::UsageByAgent;
use adk_core::{BoxFuture, ErrorKind, Result, RunId, RunRequest, StoreErrorKind};
use restate_sdk::context::RunFuture;
use restate_sdk::discovery::HandlerType;
use restate_sdk::serde::Json;
use serde_json::Value;
use std::sync::Arc;

pub(crate) const HANDLERS: Handlers = &[
    ("run", Some(HandlerType::Workflow), run),
    ("answer", Some(HandlerType::Shared), answer),
    ("wait", Some(HandlerType::Shared), wait),
    ("cancel", Some(HandlerType::Shared), cancel),
];

/// State key of Restate that holds the id of the invocation of the handler `run`.
const INVOCATION: &str = "invocation";

fn run<'a>(worker: &'a Worker, mut invocation: Invocation<'a>) -> BoxFuture<'a, Handled> {
    Box::pin(async move {
        let task: RunTask = invocation.read()?;
        let Invocation { ctx, meta, .. } = invocation;
        ctx.set(INVOCATION, meta.invocation_id.clone());
        let handle = Handle {
            ctx,
            worker,
            invocation: meta.invocation_id,
            workflow: task.workflow.clone(),
            branches: String::new(),
            app: task.session.app.clone(),
            run_id: task.run_id,
            replay: Replay::new(false),
        };
        let (run, app) = (task.run_id, task.session.app.clone());
        match drive(handle, task).await {
            Ok(report) => Ok(Json(report.to_value()?)),
            Err(Stop::Cancelled) => {
                // The cancellation may have been made in Restate, so write it to the store, too.
                match call_store(|| worker.registry().map(|registry| registry.cancel(&app, run)))?
                    .await
                {
                    Err(error) if fails_attempt(&error) => Err(error.into()),
                    _ => Err(Stop::Cancelled.into()),
                }
            }
            Err(stop) => Err(stop.into()),
        }
    })
}

async fn drive(mut handle: Handle<'_>, task: RunTask) -> Result<RunReport, Stop> {
    let worker = handle.worker;
    let run_id = task.run_id;
    if task.takes_turn {
        enqueue(worker, &task).await?;
    }
    let mut turns = TurnGate::new(task.session.clone(), task.takes_turn);
    turns.take(&handle).await?;
    // A queued run has no events yet, so it begins like a run that the store does not know.
    let known = worker
        .driven(run_id, 0)
        .await?
        .filter(|known| known.status != RunStatus::Queued);
    handle.branches = worker.branches_of(
        &task.workflow,
        known.as_ref().map(|known| &known.record.topology),
    );
    let trace = task.trace.clone();
    let local = Local::default();
    let record = known.as_ref().map(|known| known.record.clone());
    let (posted, effects) = Posted::new(worker.engine.clone(), local.clone(), record);
    let sessions = Detached {
        store: worker.sessions.clone(),
        local: local.clone(),
    };
    let runner = worker
        .runner
        .driven_by(Arc::new(posted), Arc::new(sessions))
        .for_app(&handle.app);
    let request: Result<RunRequest<'static, Value>> = match &known {
        Some(known) => runner.resume_by_name(&info(known)),
        None => runner.begin(task),
    };
    let request = match request {
        Ok(request) => request,
        // The run cannot begin, and nothing of it is stored, so the error is its result.
        Err(error) if known.is_none() => {
            return Ok(RunReport::new(Err(error), Vec::new(), Default::default()));
        }
        Err(error) => return Err(error.into()),
    };
    handle.replay = Replay::new(known.is_some());
    let ctx = handle.ctx;
    let serving = Serving::new(
        handle,
        Gate::Run(turns),
        request.stream(),
        (effects, local),
        known,
        trace,
    );
    let (stopped, Served { end, usage, .. }) = serving.serve().await;
    stopped?;
    let status = match &end {
        Ok(_) => RunStatus::Finished,
        Err(error) if error.kind() == ErrorKind::Cancelled => return Err(Stop::Cancelled),
        Err(error) => RunStatus::Failed(error.into()),
    };
    let report = match end {
        Ok(_) => adk_core::Outcome::report(end),
        Err(error) => RunReport::new(Err(error), Vec::new(), usage.into()),
    };
    let close = store_end(worker, run_id, status, report.usage.clone());
    // The end is a journal entry. If an incompatible version ends while the journal contains
    // further entries, Restate rejects this entry before the store records the end. Every attempt
    // requests the entry, because the server may lose the end of a handler that has returned.
    let is_open = ctx.run(|| async { Ok(close.await?) }).name("ended").await?;
    if is_open {
        Ok(report)
    } else {
        Err(Stop::Cancelled)
    }
}

/// Stores the end of a run. Returns `false` if the run was cancelled earlier.
async fn store_end(
    worker: &Worker,
    run: RunId,
    status: RunStatus,
    usage: UsageByAgent,
) -> Result<bool> {
    match worker
        .registry()?
        .close(ClaimId::driven_above(run), status, usage)
        .await
    {
        Err(error) if is_fenced(&error) => Ok(false),
        closed => closed.map(|()| true),
    }
}

/// Inserts a queued run into the registry, if the store shows another active run of the same
/// session.
async fn enqueue(worker: &Worker, task: &RunTask) -> Result<()> {
    let registry = worker.registry()?;
    let filter = RunFilter::unfinished().session(&task.session);
    let open = registry.runs(&task.session.app, &filter).await?;
    if !open
        .iter()
        .any(|run| run.status.is_active() && run.run_id != task.run_id)
    {
        return Ok(());
    }
    let (run, session, topology) = (task.run_id, task.session.clone(), task.topology.clone());
    let mut record = RunRecord::new(run, session, &*task.workflow, topology);
    (record.message, record.delta, record.config) = (
        task.message.clone(),
        task.delta.clone(),
        task.config.clone(),
    );
    (record.trace, record.is_queued) = (task.trace.clone(), true);
    match registry.enqueue(ClaimId::driven_above(run), record).await {
        // The session was deleted, so no other run of it is active.
        Err(error) if error.kind() == ErrorKind::Store(StoreErrorKind::Missing) => Ok(()),
        queued => queued.map(drop),
    }
}

fn info(known: &DrivenRun) -> RunInfo {
    let record = &known.record;
    RunInfo::new(
        record.run_id,
        record.session.clone(),
        &record.workflow,
        known.status.clone(),
        false,
    )
}

/// Answers a wait. Returns null, or the error of a refused answer.
fn answer<'a>(worker: &'a Worker, mut invocation: Invocation<'a>) -> BoxFuture<'a, Handled> {
    Box::pin(async move {
        let AnswerCall { app, wait, value } = invocation.read()?;
        let (ctx, own) = (invocation.ctx, invocation.meta.invocation_id);
        let (owner, id) = (app.clone(), wait.clone());
        let open = move || async move {
            store_reply(worker.waits()?.open_wait(&owner, &id).await.map(drop))
        };
        let Json(refused) = ctx.run(open).name("open").await?;
        if !refused.is_null() {
            return Ok(Json(refused));
        }
        // The first invocation that resolves this promise gives the answer. An invocation that is
        // repeated recognizes itself by its id.
        let first = format!("{wait} answered by");
        ctx.resolve_promise(&first, own.clone());
        if ctx.promise::<String>(&first).await? != own {
            return Ok(Json(error_to_value(&refuse::answered(&wait))));
        }
        let (id, given) = (wait.clone(), value.clone());
        let resolve = move || async move {
            let resolved =
                call_store(|| worker.waits().map(|waits| waits.resolve(&app, &id, given)))?.await;
            // An earlier attempt of this same invocation has already stored the answer.
            store_reply(resolved.or_else(|error| {
                if error.kind() == ErrorKind::Answered {
                    Ok(())
                } else {
                    Err(error)
                }
            }))
        };
        let Json(refused) = ctx.run(resolve).name("answer").await?;
        if refused.is_null() {
            ctx.resolve_promise(&wait, Json(value));
        }
        Ok(Json(refused))
    })
}

/// Converts the result of a store call into the reply of a handler: null, or an error as a value.
/// An error that may pass makes the attempt fail instead.
fn store_reply(given: Result<()>) -> Handled {
    match given {
        Ok(()) => Ok(Json(Value::Null)),
        Err(error) if fails_attempt(&error) => Err(error.into()),
        Err(error) => Ok(Json(error_to_value(&error))),
    }
}

/// Returns the answer to a wait when it arrives.
fn wait<'a>(_: &'a Worker, mut invocation: Invocation<'a>) -> BoxFuture<'a, Handled> {
    Box::pin(async move {
        let wait: String = invocation.read()?;
        Ok(invocation.ctx.promise(&wait).await?)
    })
}

fn cancel<'a>(_: &'a Worker, invocation: Invocation<'a>) -> BoxFuture<'a, Handled> {
    Box::pin(async move {
        if let Some(run) = invocation.ctx.get::<String>(INVOCATION).await? {
            invocation.ctx.invocation_handle(run).cancel();
        }
        Ok(Json(Value::Null))
    })
}
