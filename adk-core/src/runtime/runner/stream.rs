//! The events of a run, as they are committed.

use super::cancel::{DriveGuard, explain_fenced, is_fenced};
use super::request::{Body, Execution};
use crate::models::model::Usage;
use crate::runtime::run::{Outcome, Run, Waiting};
use crate::store::engine::{Claim, RunFilter, RunStatus, refuse};
use crate::store::outbox::Polled;
use crate::store::session::Turn;
use crate::{BoxFuture, Error, ErrorKind, Event, Result, RunId};
use futures_core::Stream;
use std::fmt;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// The events of a run. An agent goes on once its event was taken, so a slow reader slows the run; dropping the
/// stream cancels it, and what was committed stays.
///
/// The workflow is borrowed, so it has to live as long: bind it first, or give an `Arc` to a stream that is spawned.
///
/// ```text
/// let workflow = IterativeWriting::default();
/// let mut stream = runner.run(&workflow, "a cat").stream();
/// while let Some(event) = stream.next().await {
///     let event = event?;
///     println!("{}: {}", event.author, event.text());
/// }
/// let outcome = stream.finish().await?;
/// ```
#[must_use = "a stream does nothing until it is read"]
pub struct RunStream<'a, T> {
    stage: Stage,
    /// What runs once it is open.
    body: Option<Body<'a, T>>,
    run: Option<Arc<Run>>,
    // Dropped in this order: nothing of the run goes on when its claim is given back.
    future: Option<BoxFuture<'a, Result<T>>>,
    /// The right to drive the run, where runs are kept.
    claim: Option<Claim>,
    /// The turn of the session, until the end.
    turn: Option<Turn>,
    /// By it the run is cancelled, where runs are kept.
    guard: Option<DriveGuard>,
    ended: Option<Result<T>>,
    /// The end that is stored in the registry of runs before the consumer sees it.
    closing: Option<Closing<T>>,
    end: RunEnd<T>,
}

/// An end that is being stored, and the consumer's value after that.
type Closing<T> = (BoxFuture<'static, Result<Vec<Waiting>>>, Result<RunEnd<T>>);

/// Opens the session of a run.
pub(super) type Opening = BoxFuture<'static, Result<OpenOutcome>>;

/// What opening the session of a run has come to.
pub(super) enum OpenOutcome {
    /// The run waits for its turn under this id.
    Queued(RunId, Opening),
    /// The run begins, or is resumed.
    Opened(OpenedRun),
}

/// How far a stream is before its events.
enum Stage {
    Opening(Opening),
    /// The run of this id is in the registry, and waits for its turn.
    Queued(RunId, Opening),
    /// The run is open, and [`RunStream::entered`] has read its first event.
    Read(Arc<Event>),
    Open,
}

/// A run that has not been polled yet.
pub(super) struct OpenedRun {
    pub(super) run: Arc<Run>,
    pub(super) claim: Option<Claim>,
    pub(super) turn: Option<Turn>,
    pub(super) guard: Option<DriveGuard>,
    pub(super) execution: Execution,
}

/// How a run ended.
#[derive(Debug)]
pub enum RunEnd<T> {
    /// It has not.
    Running,
    /// With its output.
    Finished(Outcome<T>),
    /// It waits for values from outside.
    Paused(Vec<Waiting>),
    /// With the error that was the last item of the stream.
    Failed,
}

impl<'a, T: Send + 'static> RunStream<'a, T> {
    pub(super) fn new(opening: Opening, body: Option<Body<'a, T>>) -> Self {
        Self {
            stage: Stage::Opening(opening),
            body,
            run: None,
            future: None,
            claim: None,
            turn: None,
            guard: None,
            ended: None,
            closing: None,
            end: RunEnd::Running,
        }
    }

    /// The next event; `None` at the end of the run. An error is the last item.
    pub async fn next(&mut self) -> Option<Result<Arc<Event>>> {
        poll_fn(|task| self.poll_event(task)).await
    }

    /// Waits until the run is in the registry, and returns its id: until its first event is committed or, where another run has
    /// the turn of its session, until the run is queued. Events are not lost: the first one is still to come. A run that no
    /// engine keeps has entered with its first event.
    ///
    /// # Errors
    /// That of a run that cannot begin, which is then the end of the stream.
    pub async fn entered(&mut self) -> Result<RunId> {
        poll_fn(|task| self.poll_entered(task)).await
    }

    /// Reads on to the end and gives the outcome, as awaiting the [`RunRequest`](super::RunRequest) does.
    ///
    /// # Errors
    /// That of the run; a pause is one of kind [`Paused`](crate::ErrorKind::Paused).
    pub async fn finish(mut self) -> Result<Outcome<T>> {
        poll_fn(|task| self.poll_end(task)).await
    }

    /// Reads on to the end.
    pub(super) fn poll_end(&mut self, task: &mut Context<'_>) -> Poll<Result<Outcome<T>>> {
        while let Some(event) = ready!(self.poll_event(task)) {
            event?;
        }
        Poll::Ready(match self.end() {
            RunEnd::Finished(outcome) => Ok(outcome),
            RunEnd::Paused(waiting) => {
                let ids: Vec<_> = waiting.iter().map(|waiting| format!("`{}`", waiting.id)).collect();
                let message = format!("the run waits for {}", ids.join(", "));
                Err(Error::new(ErrorKind::Paused, message).with_help("answer it, then resume the run"))
            }
            RunEnd::Failed | RunEnd::Running => {
                Err(Error::new(ErrorKind::Agent, "the outcome of the run was taken already"))
            }
        })
    }

    /// What the run has used so far, also one that has failed; of a run that another process drives it is known at its end.
    pub fn usage(&self) -> Usage {
        self.run.as_ref().map(|run| run.usage()).unwrap_or_default()
    }

    /// How the run ended, after the last item. It is given once; after that the run counts as failed.
    pub fn end(&mut self) -> RunEnd<T> {
        match &self.end {
            RunEnd::Running => RunEnd::Running,
            _ => std::mem::replace(&mut self.end, RunEnd::Failed),
        }
    }

    fn poll_entered(&mut self, task: &mut Context<'_>) -> Poll<Result<RunId>> {
        if let Stage::Opening(_) = self.stage {
            ready!(self.poll_stage(task))?;
        }
        match &self.stage {
            Stage::Queued(run, _) => return Poll::Ready(Ok(*run)),
            Stage::Read(event) => return Poll::Ready(Ok(event.invocation_id)),
            Stage::Opening(_) | Stage::Open => {}
        }
        let Some(event) = ready!(self.poll_event(task)) else {
            return Poll::Ready(Err(Error::new(ErrorKind::Agent, "the run has no event")));
        };
        let event = event?;
        let run = event.invocation_id;
        self.stage = Stage::Read(event);
        Poll::Ready(Ok(run))
    }

    /// Goes to the next stage.
    #[cold]
    fn poll_stage(&mut self, task: &mut Context<'_>) -> Poll<Result<Option<Arc<Event>>>> {
        let opened = match &mut self.stage {
            Stage::Opening(opening) | Stage::Queued(_, opening) => ready!(opening.as_mut().poll(task)),
            Stage::Read(_) | Stage::Open => match std::mem::replace(&mut self.stage, Stage::Open) {
                Stage::Read(event) => return Poll::Ready(Ok(Some(event))),
                _ => return Poll::Ready(Ok(None)),
            },
        };
        self.stage = Stage::Open;
        match opened {
            Ok(OpenOutcome::Queued(run, opening)) => self.stage = Stage::Queued(run, opening),
            Ok(OpenOutcome::Opened(OpenedRun { run, claim, turn, guard, execution })) => {
                self.future = self.body.take().map(|body| body(run.clone(), execution));
                self.run = Some(run);
                (self.claim, self.turn, self.guard) = (claim, turn, guard);
            }
            Err(error) => {
                self.end = RunEnd::Failed;
                return Poll::Ready(Err(error));
            }
        }
        Poll::Ready(Ok(None))
    }

    fn poll_event(&mut self, task: &mut Context<'_>) -> Poll<Option<Result<Arc<Event>>>> {
        while !matches!(self.stage, Stage::Open) {
            if let Some(item) = ready!(self.poll_stage(task)).transpose() {
                return Poll::Ready(Some(item));
            }
        }
        if let Some((closing, _)) = &mut self.closing {
            let closed = ready!(closing.as_mut().poll(task));
            let end = self.closing.take().map(|(_, end)| end);
            return match (closed, end) {
                (Ok(open), Some(Ok(end))) => {
                    let end = if let RunEnd::Paused(_) = end { RunEnd::Paused(open) } else { end };
                    self.end_with(end)
                }
                (Err(error), Some(Ok(_))) | (_, Some(Err(error))) => self.fail(error),
                (_, None) => Poll::Ready(None),
            };
        }
        let Some(run) = &self.run else { return Poll::Ready(None) };
        if self.future.is_none() && self.ended.is_none() && !matches!(self.end, RunEnd::Running) {
            return Poll::Ready(None);
        }
        // Taking an event counts as work, so that a run that never waits lets others run and can be cancelled.
        ready!(pin!(tokio::task::coop::consume_budget()).poll(task));
        let polls = self.turn.as_ref().map(Turn::polls);
        let polled = loop {
            if self.future.is_some() && run.is_cancelled() {
                self.future = None;
                self.ended = Some(Err(refuse::cancelled(run.id)));
            }
            match run.outbox().poll(&mut self.future, &mut self.ended, task) {
                Poll::Ready(polled) => break polled,
                // It was cancelled while it was polled.
                Poll::Pending if self.future.is_some() && run.is_cancelled() => {}
                Poll::Pending => return Poll::Pending,
            }
        };
        drop(polls);
        match polled {
            Polled::Event(event) => Poll::Ready(Some(Ok(event))),
            Polled::Ended(Ok(output)) => {
                let end = run.unread_journal().map_or_else(|| Ok(RunEnd::Finished(run.outcome(output))), Err);
                self.close(end, task)
            }
            Polled::Ended(Err(error)) => self.close(Err(error), task),
            Polled::Parked => {
                // Asked for while those who wait still live.
                let end = RunEnd::Paused(run.waiting());
                self.future = None;
                self.close(Ok(end), task)
            }
            Polled::Stuck => {
                let error = run.unread_journal().unwrap_or_else(|| run.withdrawn_questions());
                self.future = None;
                self.close(Err(error), task)
            }
        }
    }

    /// Writes how the run has ended, where that is kept, and tells it.
    fn close(&mut self, end: Result<RunEnd<T>>, task: &mut Context<'_>) -> Poll<Option<Result<Arc<Event>>>> {
        let (claim, run) = (self.claim.take(), self.run.clone());
        self.guard = None;
        let end = match (end, &run) {
            // The end of a cancelled run is stored already, and who only follows it knows no more.
            (Err(error), Some(run))
                if run.engine.driver().is_none()
                    && (is_fenced(&error) || error.kind() == ErrorKind::Cancelled) =>
            {
                self.closing = Some((explain_refusal(run.clone(), error, claim), Ok(RunEnd::Failed)));
                return self.poll_event(task);
            }
            (end, _) => end,
        };
        // Where the store has failed, the run has not: it stays as it is and can be resumed. Dropping the claim gives it
        // back.
        let is_stored = !end.as_ref().is_err_and(Error::is_of_store);
        let (Some(run), Some(claim), true) = (run, claim, is_stored) else {
            return match end {
                Ok(end) => self.end_with(end),
                Err(error) => self.fail(error),
            };
        };
        let status = match &end {
            Ok(RunEnd::Paused(_)) => RunStatus::Paused,
            Ok(_) => RunStatus::Finished,
            Err(error) => RunStatus::Failed(error.to_string()),
        };
        let open = match &end {
            Ok(RunEnd::Paused(waiting)) => waiting.clone(),
            _ => Vec::new(),
        };
        self.closing = Some((close_run(run, claim, open, status), end));
        self.poll_event(task)
    }

    fn end_with(&mut self, end: RunEnd<T>) -> Poll<Option<Result<Arc<Event>>>> {
        (self.end, self.turn) = (end, None);
        Poll::Ready(None)
    }

    fn fail(&mut self, error: Error) -> Poll<Option<Result<Arc<Event>>>> {
        (self.end, self.turn) = (RunEnd::Failed, None);
        Poll::Ready(Some(Err(error)))
    }
}

/// Finds out why a run could not go on.
fn explain_refusal(
    run: Arc<Run>,
    error: Error,
    claim: Option<Claim>,
) -> BoxFuture<'static, Result<Vec<Waiting>>> {
    Box::pin(async move {
        let error = explain_fenced(&run, error).await;
        drop(claim);
        Err(error)
    })
}

/// Stores how a run has ended, with its claim.
fn close_run(
    run: Arc<Run>,
    claim: Claim,
    open: Vec<Waiting>,
    status: RunStatus,
) -> BoxFuture<'static, Result<Vec<Waiting>>> {
    Box::pin(async move {
        match store_end(&run, open, status).await {
            Ok(open) => {
                claim.closed();
                Ok(open)
            }
            Err(error) if is_fenced(&error) => Err(explain_fenced(&run, error).await),
            Err(error) => Err(error),
        }
    })
}

/// Stores how a run has ended, or who waits.
async fn store_end(run: &Run, open: Vec<Waiting>, status: RunStatus) -> Result<Vec<Waiting>> {
    let open = stored_waits(run, open).await?;
    let Some(registry) = run.engine.registry() else { return Ok(open) };
    if status != RunStatus::Finished {
        let done = run.last_finished();
        if !done.is_empty() {
            registry.finished(run.claim, done).await?;
        }
    }
    registry.close(run.claim, status, run.usage()).await?;
    Ok(open)
}

/// Those who wait, as they are in the book: their deadlines are those of the first time that they asked. A wait that is
/// open there and has nobody any more was that of a branch that was cancelled.
async fn stored_waits(run: &Run, mut open: Vec<Waiting>) -> Result<Vec<Waiting>> {
    let Some(waits) = run.engine.waits().filter(|_| !open.is_empty()) else { return Ok(open) };
    let stored = waits.waiting(&run.session().key().app, &RunFilter::of_run(run.id)).await?;
    let (kept, gone): (Vec<_>, Vec<_>) =
        stored.into_iter().partition(|stored| open.iter().any(|waiting| waiting.id == stored.id));
    if !gone.is_empty() {
        waits.withdraw(run.claim, gone.into_iter().map(|waiting| waiting.id).collect()).await?;
    }
    // One that is not among them was answered in the meantime.
    for stored in kept {
        open.iter_mut()
            .filter(|waiting| waiting.id == stored.id)
            .for_each(|waiting| *waiting = stored.clone());
    }
    Ok(open)
}

impl Run {
    /// What is wrong when a run that is taken up again ends, or waits for itself, before all of its record is given back.
    fn unread_journal(&self) -> Option<Error> {
        let next = self.replay.as_ref().filter(|replay| !replay.is_over())?.next()?;
        let (path, _) = next.split_once('!').unwrap_or((&*next, ""));
        let message =
            format!("the journal of run `{}` continues with event `{next}`, which no agent emits", self.id);
        Some(Error::new(ErrorKind::Diverged, message).with_help(format!(
            "something before `{path}`, or `{path}` itself, has changed and takes another way: resume the run with the program \
             that recorded it, or undo the change"
        )))
    }

    /// What is wrong when all that is left of a run waits for questions that were withdrawn.
    fn withdrawn_questions(&self) -> Error {
        let message = format!(
            "run `{}` waits for questions that were withdrawn, since the block around them had ended before the run was resumed",
            self.id
        );
        Error::new(ErrorKind::Diverged, message)
            .with_help("resume the run with the program that recorded it, or undo what has changed since")
    }

    fn outcome<T>(&self, output: T) -> Outcome<T> {
        let (loops, usage, session) = (self.loops(), self.usage(), self.session().clone());
        Outcome { output, loops, usage, run_id: self.id, session }
    }
}

impl<T: Send + 'static> Stream for RunStream<'_, T> {
    type Item = Result<Arc<Event>>;

    fn poll_next(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().poll_event(task)
    }
}

// Nothing in a stream is pinned in place: its futures are boxed.
impl<T> Unpin for RunStream<'_, T> {}

impl<T> fmt::Debug for RunStream<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RunStream({:?})", self.run)
    }
}
