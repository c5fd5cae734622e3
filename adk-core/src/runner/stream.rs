//! The events of a run, as they are committed.

use crate::outbox::Polled;
use crate::run::{Outcome, Run, Waiting};
use crate::{BoxFuture, Error, ErrorKind, Event, Result};
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
    opening: Option<Opening<'a, T>>,
    run: Option<Arc<Run>>,
    future: Option<BoxFuture<'a, Result<T>>>,
    ended: Option<Result<T>>,
    end: RunEnd<T>,
}

type Opening<'a, T> = BoxFuture<'a, Result<(Arc<Run>, BoxFuture<'a, Result<T>>)>>;

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
    pub(super) fn new(opening: Opening<'a, T>) -> Self {
        Self { opening: Some(opening), run: None, future: None, ended: None, end: RunEnd::Running }
    }

    /// The next event; `None` at the end of the run. An error is the last item.
    pub async fn next(&mut self) -> Option<Result<Arc<Event>>> {
        poll_fn(|task| self.poll_event(task)).await
    }

    /// Reads on to the end and gives the outcome, as awaiting the [`RunRequest`](super::RunRequest) does.
    ///
    /// # Errors
    /// That of the run; a pause is one of kind [`Paused`](crate::ErrorKind::Paused).
    pub async fn finish(mut self) -> Result<Outcome<T>> {
        while let Some(event) = self.next().await {
            event?;
        }
        match self.end() {
            RunEnd::Finished(outcome) => Ok(outcome),
            RunEnd::Paused(waiting) => {
                let ids: Vec<_> = waiting.iter().map(|waiting| format!("`{}`", waiting.id)).collect();
                let message = format!("the run waits for {}", ids.join(", "));
                Err(Error::new(ErrorKind::Paused, message).with_help("answer it, then resume the run"))
            }
            RunEnd::Failed | RunEnd::Running => {
                Err(Error::new(ErrorKind::Agent, "the outcome of the run was taken already"))
            }
        }
    }

    /// How the run ended, after the last item. It is given once; after that the run counts as failed.
    pub fn end(&mut self) -> RunEnd<T> {
        match &self.end {
            RunEnd::Running => RunEnd::Running,
            _ => std::mem::replace(&mut self.end, RunEnd::Failed),
        }
    }

    fn poll_event(&mut self, task: &mut Context<'_>) -> Poll<Option<Result<Arc<Event>>>> {
        if let Some(opening) = &mut self.opening {
            let opened = ready!(opening.as_mut().poll(task));
            self.opening = None;
            match opened {
                Ok((run, future)) => (self.run, self.future) = (Some(run), Some(future)),
                Err(error) => return self.fail(error),
            }
        }
        let Some(run) = &self.run else { return Poll::Ready(None) };
        if self.future.is_none() && self.ended.is_none() && !matches!(self.end, RunEnd::Running) {
            return Poll::Ready(None);
        }
        // Taking an event counts as work, so that a run that never waits lets others run and can be cancelled.
        ready!(pin!(tokio::task::coop::consume_budget()).poll(task));
        match ready!(run.outbox().poll(&mut self.future, &mut self.ended, task)) {
            Polled::Event(event) => Poll::Ready(Some(Ok(event))),
            Polled::Ended(Ok(output)) => {
                self.end = RunEnd::Finished(run.outcome(output));
                Poll::Ready(None)
            }
            Polled::Ended(Err(error)) => self.fail(error),
            Polled::Parked => {
                // Asked for while those who wait still live.
                self.end = RunEnd::Paused(run.waiting());
                self.future = None;
                Poll::Ready(None)
            }
        }
    }

    fn fail(&mut self, error: Error) -> Poll<Option<Result<Arc<Event>>>> {
        self.end = RunEnd::Failed;
        Poll::Ready(Some(Err(error)))
    }
}

impl Run {
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
