//! Requests of the run to Restate: waits, timers and branches.

use super::Serving;
use super::queue::{Awaited, Branch, Open};
use crate::handle::{CENTURY, Stop};
use crate::idle::news_signal;
use crate::messages::BranchCall;
use crate::posted::{Answer, Effect, fails_attempt};
use adk_core::engine::{BranchReport, BranchTask, StepKey, TimerKind, Wait};
use adk_core::session::now_micros;
use adk_core::{BoxFuture, Result};
use restate_sdk::context::RequestTarget;
use serde_json::Value;
use std::time::Duration;
use tokio::time::Instant;

impl<T: Send + 'static> Serving<'_, T> {
    /// Sends the requested waits, timers and branches to Restate.
    pub(super) async fn start(&mut self) -> Result<(), Stop> {
        let mut effects = std::mem::take(&mut self.queue.effects);
        effects.sort_by_cached_key(key_of);
        for effect in effects {
            match effect {
                Effect::Wait(wait, answer) => self.wait(*wait, answer).await?,
                Effect::Branch(task, cancelled, answer) => {
                    self.branch(*task, cancelled, answer).await?
                }
                Effect::Sleep(key, time, kind, answer) => {
                    self.sleep(&key, time, kind, answer).await?
                }
                Effect::Commit(..) | Effect::Step(..) => {}
            }
        }
        Ok(())
    }

    async fn wait(
        &mut self,
        wait: Wait,
        answer: Answer<Result<Option<Value>>>,
    ) -> Result<(), Stop> {
        let waiting = Box::new(wait.waiting.clone());
        let (id, target) = (waiting.id.clone(), self.handle.of_run("wait"));
        let (call, future) = self.handle.call(target, &id).await?;
        self.queue.open.push(Open {
            kind: Awaited::Answer { id, call, answer },
            future,
        });
        let (worker, claim) = (self.worker(), self.handle.claim());
        let open = move || async move {
            match worker.engine.answer(claim, wait).await {
                Err(error) if fails_attempt(&error) => Err(error.into()),
                // If the run was cancelled, the store refuses the wait. The run continues until
                // Restate delivers the cancellation, and gets answers from Restate.
                _ => Ok(()),
            }
        };
        // Opening the wait is a journal entry, so that a later attempt does not reopen a wait that
        // was withdrawn.
        self.handle.run("ask", open).await?;
        if let Some(deadline) = waiting.deadline {
            let left = Duration::from_micros(deadline.saturating_sub(now_micros()));
            self.queue.open.push(Open {
                kind: Awaited::Deadline(waiting),
                future: self.handle.timer(left),
            });
        }
        Ok(())
    }

    async fn branch(
        &mut self,
        task: BranchTask,
        cancelled: BoxFuture<'static, ()>,
        answer: Answer<Result<BranchReport>>,
    ) -> Result<(), Stop> {
        let (number, path) = (self.branches.next, task.path.to_string());
        self.branches.next += 1;
        let mut task = task;
        task.trace.clone_from(&self.branches.trace);
        let target = RequestTarget::service(&self.handle.branches, "run");
        let (parent, branches) = (self.handle.invocation.clone(), self.handle.branches.clone());
        let workflow = self.handle.workflow.clone();
        let (call, future) = self
            .handle
            .call(
                target,
                &BranchCall {
                    task,
                    parent,
                    workflow,
                    branches,
                },
            )
            .await?;
        let branch = Branch {
            path,
            call,
            cancelled: Some(cancelled),
            answer,
            is_idle: false,
            news: 1,
        };
        self.queue.open.push(Open {
            kind: Awaited::Branch(number),
            future,
        });
        self.listen(number, &branch);
        self.branches.running.insert(number, branch);
        Ok(())
    }

    /// Waits for the next signal of a branch.
    pub(super) fn listen(&mut self, number: u32, branch: &Branch) {
        let future = Box::pin(self.ctx().signal(&news_signal(&branch.path, branch.news)));
        self.queue.open.push(Open {
            kind: Awaited::News(number),
            future,
        });
    }

    async fn sleep(
        &mut self,
        key: &StepKey,
        time: Duration,
        kind: TimerKind,
        answer: Answer<()>,
    ) -> Result<(), Stop> {
        // A time limit for calls is measured by the clock of this process, so the journal records
        // when it began.
        let since = match kind {
            TimerKind::Pause => now_micros(),
            TimerKind::Limit => {
                self.handle
                    .run(format!("{key} begins"), || async { Ok(now_micros()) })
                    .await?
            }
        };
        let passed = Duration::from_micros(now_micros().saturating_sub(since));
        let until = Instant::now() + time.min(CENTURY).saturating_sub(passed);
        let future = self.handle.timer(time);
        self.queue.open.push(Open {
            kind: Awaited::Timer {
                kind,
                until,
                answer,
            },
            future,
        });
        Ok(())
    }
}

/// Returns the key by which requests are sorted that agents posted together, so that their order
/// does not depend on timing.
fn key_of(effect: &Effect) -> (u8, String) {
    match effect {
        Effect::Wait(wait, _) => (0, wait.waiting.id.clone()),
        Effect::Sleep(key, ..) => (1, key.to_string()),
        Effect::Branch(task, ..) => (2, task.path.to_string()),
        Effect::Commit(..) | Effect::Step(..) => (3, String::new()),
    }
}
