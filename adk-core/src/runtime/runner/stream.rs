//! [`RunStream`]: the committed events of a run.

use super::cancel::{DriveGuard, explain_fenced, is_fenced};
use super::opened::{Body, OpenOutcome, OpenedRun, Opening};
use crate::model::Usage;
use crate::runtime::run::{Outcome, Run, Waiting};
use crate::store::engine::{Claim, RunFilter, RunStatus, refuse};
use crate::store::outbox::Polled;
use crate::store::session::SessionTurn;
use crate::{BoxFuture, Error, ErrorKind, Event, Result, RunId};
use futures_core::Stream;
use std::fmt;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// Stream of the committed events of a run. An agent continues after its event was taken, so a slow
/// reader slows the run down. Dropping the stream cancels the run; committed events stay.
///
/// The workflow is borrowed, so it must outlive the stream: bind it first, or pass an `Arc` if the
/// stream is spawned.
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
    /// Future of the workflow, built when the run is open.
    body: Option<Body<'a, T>>,
    run: Option<Arc<Run>>,
    // The fields are dropped in this order: the run stops before its claim is released.
    future: Option<BoxFuture<'a, Result<T>>>,
    /// Claim of the run, if runs are kept.
    claim: Option<Claim>,
    /// Turn of the session, held until the end.
    turn: Option<SessionTurn>,
    /// Guard through which the run can be cancelled, if runs are kept.
    guard: Option<DriveGuard>,
    ended: Option<Result<T>>,
    /// End that is written to the registry of runs before the consumer receives it.
    closing: Option<Closing<T>>,
    end: RunEnd<T>,
}

/// Write of an end, and the value for the consumer after the write.
type Closing<T> = (BoxFuture<'static, Result<Vec<Waiting>>>, Result<RunEnd<T>>);

/// Stage of a stream before its events.
enum Stage {
    Opening(Opening),
    /// The run with this id is in the registry and waits for its turn.
    Queued(RunId, Opening),
    /// The run is open, and [`RunStream::entered`] has read its first event.
    Read(Arc<Event>),
    Open,
}

/// End of a run.
#[derive(Debug)]
pub enum RunEnd<T> {
    /// The run has not ended.
    Running,
    /// The run has finished with its output.
    Finished(Outcome<T>),
    /// The run waits for values from outside.
    Paused(Vec<Waiting>),
    /// The run failed with the error that was the last item of the stream.
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

    /// Returns the next event; `None` at the end of the run. An error is the last item.
    pub async fn next(&mut self) -> Option<Result<Arc<Event>>> {
        poll_fn(|task| self.poll_event(task)).await
    }

    /// Waits until the run is in the registry, and returns its id. A run enters the registry with
    /// its first committed event, or earlier as a queued run when another run has the turn of its
    /// session. No event is lost: [`next`](Self::next) still returns the first one. If the engine
    /// does not keep runs, this method waits for the first event.
    ///
    /// # Errors
    /// Fails when the run cannot begin. The error then ends the stream.
    pub async fn entered(&mut self) -> Result<RunId> {
        poll_fn(|task| self.poll_entered(task)).await
    }

    /// Reads the stream to its end and returns the outcome, as awaiting the
    /// [`RunRequest`](super::RunRequest) does.
    ///
    /// # Errors
    /// Fails with the error of the run. A pause is an error of kind
    /// [`Paused`](crate::ErrorKind::Paused).
    pub async fn finish(mut self) -> Result<Outcome<T>> {
        poll_fn(|task| self.poll_end(task)).await
    }

    /// Reads the stream to its end.
    pub(super) fn poll_end(&mut self, task: &mut Context<'_>) -> Poll<Result<Outcome<T>>> {
        while let Some(event) = ready!(self.poll_event(task)) {
            event?;
        }
        Poll::Ready(match self.end() {
            RunEnd::Finished(outcome) => Ok(outcome),
            RunEnd::Paused(waiting) => {
                let ids: Vec<_> = waiting
                    .iter()
                    .map(|waiting| format!("`{}`", waiting.id))
                    .collect();
                let message = format!("the run waits for {}", ids.join(", "));
                Err(Error::new(ErrorKind::Paused, message)
                    .with_help("answer it, then resume the run"))
            }
            RunEnd::Failed | RunEnd::Running => Err(Error::new(
                ErrorKind::Agent,
                "the outcome of the run was taken already",
            )),
        })
    }

    /// Returns the usage of the run up to now, also after a failure. If another process drives the
    /// run, the usage is known at its end.
    pub fn usage(&self) -> Usage {
        self.run
            .as_ref()
            .map(|run| run.progress.usage())
            .unwrap_or_default()
    }

    /// Returns the end of the run, after the last item. Later calls return [`RunEnd::Failed`].
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

    /// Moves to the next stage.
    #[cold]
    fn poll_stage(&mut self, task: &mut Context<'_>) -> Poll<Result<Option<Arc<Event>>>> {
        let opened = match &mut self.stage {
            Stage::Opening(opening) | Stage::Queued(_, opening) => {
                ready!(opening.as_mut().poll(task))
            }
            Stage::Read(_) | Stage::Open => match std::mem::replace(&mut self.stage, Stage::Open) {
                Stage::Read(event) => return Poll::Ready(Ok(Some(event))),
                _ => return Poll::Ready(Ok(None)),
            },
        };
        self.stage = Stage::Open;
        match opened {
            Ok(OpenOutcome::Queued(run, opening)) => self.stage = Stage::Queued(run, opening),
            Ok(OpenOutcome::Opened(OpenedRun {
                run,
                claim,
                turn,
                guard,
                execution,
            })) => {
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
                    let end = if let RunEnd::Paused(_) = end {
                        RunEnd::Paused(open)
                    } else {
                        end
                    };
                    self.end_with(end)
                }
                (Err(error), Some(Ok(_))) | (_, Some(Err(error))) => self.fail(error),
                (_, None) => Poll::Ready(None),
            };
        }
        let Some(run) = &self.run else {
            return Poll::Ready(None);
        };
        if self.future.is_none() && self.ended.is_none() && !matches!(self.end, RunEnd::Running) {
            return Poll::Ready(None);
        }
        // Taking an event consumes budget, so that a run that never waits yields to other tasks and
        // can be cancelled.
        ready!(pin!(tokio::task::coop::consume_budget()).poll(task));
        let polls = self.turn.as_ref().map(SessionTurn::poll_guard);
        let polled = loop {
            if self.future.is_some() && run.limits.is_cancelled() {
                self.future = None;
                self.ended = Some(Err(refuse::cancelled(run.id())));
            }
            match run.outbox().poll(&mut self.future, &mut self.ended, task) {
                Poll::Ready(polled) => break polled,
                // The run was cancelled during the poll.
                Poll::Pending if self.future.is_some() && run.limits.is_cancelled() => {}
                Poll::Pending => return Poll::Pending,
            }
        };
        drop(polls);
        match polled {
            Polled::Event(event) => Poll::Ready(Some(Ok(event))),
            Polled::Ended(Ok(output)) => {
                let end = run
                    .unread_journal()
                    .map_or_else(|| Ok(RunEnd::Finished(run.outcome(output))), Err);
                self.close(end, task)
            }
            Polled::Ended(Err(error)) => self.close(Err(error), task),
            Polled::Parked => {
                // Read before the future is dropped, because the waits disappear with it.
                let end = RunEnd::Paused(run.progress.open_waits());
                self.future = None;
                self.close(Ok(end), task)
            }
            Polled::Stuck => {
                let error = run
                    .unread_journal()
                    .unwrap_or_else(|| run.withdrawn_questions());
                self.future = None;
                self.close(Err(error), task)
            }
        }
    }

    /// Writes the end of the run, if runs are kept, and returns it to the consumer.
    fn close(
        &mut self,
        end: Result<RunEnd<T>>,
        task: &mut Context<'_>,
    ) -> Poll<Option<Result<Arc<Event>>>> {
        let (claim, run) = (self.claim.take(), self.run.clone());
        self.guard = None;
        let end = match (end, &run) {
            // The end of a cancelled run is already stored, so only the reason is looked up. If
            // another process drives the run, the error contains the reason.
            (Err(error), Some(run))
                if run.engine.driver().is_none()
                    && (is_fenced(&error) || error.kind() == ErrorKind::Cancelled) =>
            {
                self.closing = Some((
                    explain_refusal(run.clone(), error, claim),
                    Ok(RunEnd::Failed),
                ));
                return self.poll_event(task);
            }
            (end, _) => end,
        };
        // A failure of the store is not a failure of the run: the stored run does not change and
        // can be resumed. Dropping the claim releases it.
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
            Err(error) => RunStatus::Failed(error.into()),
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

/// Finds out why the store refused the write of a run.
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

/// Stores the end of a run and closes its claim.
fn close_run(
    run: Arc<Run>,
    claim: Claim,
    open: Vec<Waiting>,
    status: RunStatus,
) -> BoxFuture<'static, Result<Vec<Waiting>>> {
    Box::pin(async move {
        match store_end(&run, open, status).await {
            Ok(open) => {
                claim.close();
                Ok(open)
            }
            Err(error) if is_fenced(&error) => Err(explain_fenced(&run, error).await),
            Err(error) => Err(error),
        }
    })
}

/// Stores the end of a run, or its waits.
async fn store_end(run: &Run, open: Vec<Waiting>, status: RunStatus) -> Result<Vec<Waiting>> {
    let open = stored_waits(run, open).await?;
    let Some(registry) = run.engine.registry() else {
        return Ok(open);
    };
    if status != RunStatus::Finished {
        let done = run.progress.take_finished();
        if !done.is_empty() {
            registry.finished(run.identity.claim, done).await?;
        }
    }
    registry
        .close(run.identity.claim, status, run.progress.usage_by_agent())
        .await?;
    Ok(open)
}

/// Replaces the open waits with their stored form, which has the deadlines of the first time they
/// were asked. Withdraws stored waits that are not open any more: they belong to cancelled
/// branches.
async fn stored_waits(run: &Run, mut open: Vec<Waiting>) -> Result<Vec<Waiting>> {
    let Some(waits) = run.engine.waits().filter(|_| !open.is_empty()) else {
        return Ok(open);
    };
    let stored = waits
        .waiting(&run.session().key().app, &RunFilter::of_run(run.id()))
        .await?;
    let (kept, gone): (Vec<_>, Vec<_>) = stored
        .into_iter()
        .partition(|stored| open.iter().any(|waiting| waiting.id == stored.id));
    if !gone.is_empty() {
        waits
            .withdraw(
                run.identity.claim,
                gone.into_iter().map(|waiting| waiting.id).collect(),
            )
            .await?;
    }
    // A wait that is not stored was answered in the meantime.
    for stored in kept {
        open.iter_mut()
            .filter(|waiting| waiting.id == stored.id)
            .for_each(|waiting| *waiting = stored.clone());
    }
    Ok(open)
}

impl Run {
    /// Returns the error of a resumed run that has ended, or cannot continue, before its whole
    /// journal was replayed.
    fn unread_journal(&self) -> Option<Error> {
        let next = self.kind.active_replay()?.next_unemitted()?;
        let (path, _) = next.split_once('!').unwrap_or((&*next, ""));
        let message = format!(
            "the journal of run `{}` continues with event `{next}`, which no agent emits",
            self.id()
        );
        Some(Error::new(ErrorKind::Diverged, message).with_help(format!(
            "resume the run with the program that recorded it, or undo the change: `{path}` or a \
             step before it has changed"
        )))
    }

    /// Returns the error of a run whose only remaining waits are for withdrawn questions.
    fn withdrawn_questions(&self) -> Error {
        let message = format!(
            "run `{}` waits for questions that were withdrawn, since the block around them had \
             ended before the run was resumed",
            self.id()
        );
        Error::new(ErrorKind::Diverged, message).with_help(
            "resume the run with the program that recorded it, or undo what has changed since",
        )
    }

    fn outcome<T>(&self, output: T) -> Outcome<T> {
        let (loops, usage, session) = (
            self.progress.take_loops(),
            self.progress.usage_by_agent(),
            self.session().clone(),
        );
        Outcome {
            output,
            loops,
            usage: usage.total(),
            by_agent: usage,
            run_id: self.id(),
            session,
        }
    }
}

impl<T: Send + 'static> Stream for RunStream<'_, T> {
    type Item = Result<Arc<Event>>;

    fn poll_next(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().poll_event(task)
    }
}

// A stream has no pinned fields: its futures are boxed.
impl<T> Unpin for RunStream<'_, T> {}

impl<T> fmt::Debug for RunStream<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RunStream({:?})", self.run)
    }
}
