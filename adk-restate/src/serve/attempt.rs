//! [`Attempt`]: the run in this process between two results of Restate.

use super::queue::Queue;
use crate::batch::Work;
use crate::local::{Bell, Local};
use crate::posted::Effect;
use adk_core::engine::Body;
use adk_core::{Error, RunStream};
use futures_util::Stream;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Poll, Waker};
use tokio::sync::mpsc;

/// The current attempt to execute the run.
pub(super) struct Attempt<T> {
    pub(super) stream: RunStream<'static, T>,
    pub(super) failed: Option<Error>,
    pub(super) bell: Arc<Bell>,
    pub(super) posted: mpsc::UnboundedReceiver<Effect>,
    pub(super) local: Local,
}

impl<T: Send + 'static> Attempt<T> {
    /// Polls the run until it waits. Returns whether the run has ended.
    pub(super) fn advance(
        &mut self,
        task: &std::task::Context<'_>,
        queue: &mut Queue<'_>,
    ) -> Poll<bool> {
        self.bell.listen(task);
        let waker = Waker::from(self.bell.clone());
        loop {
            self.bell.reset();
            match Pin::new(&mut self.stream).poll_next(&mut std::task::Context::from_waker(&waker))
            {
                Poll::Ready(Some(Ok(_))) => {}
                Poll::Ready(Some(Err(error))) => self.failed = Some(error),
                Poll::Pending if self.bell.has_rung() => {}
                Poll::Pending => {
                    self.take_posted(queue);
                    let waits = queue.commits.is_empty() && self.local.is_busy();
                    return if waits {
                        Poll::Pending
                    } else {
                        Poll::Ready(false)
                    };
                }
                Poll::Ready(None) => {
                    self.take_posted(queue);
                    return Poll::Ready(true);
                }
            }
        }
    }

    fn take_posted(&mut self, queue: &mut Queue<'_>) {
        while let Ok(effect) = self.posted.try_recv() {
            match effect {
                Effect::Commit(call, answer) if matches!(call.1, Body::Call(_)) => {
                    queue.works.push(Work::call(call, answer));
                }
                Effect::Commit(commit, answer) => queue.commits.push_back((commit, answer)),
                Effect::Step(key, work, answer) => {
                    queue.works.push(Work::step(key.to_string(), work, answer));
                }
                effect => queue.effects.push(effect),
            }
        }
    }
}
