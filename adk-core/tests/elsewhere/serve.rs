//! [`Process`]: the handler of a run or of a branch. It executes posted effects and owns the access
//! to the log.

use super::log::Log;
use super::posted::{Effect, Posted, unknown};
use crate::support::Tree;
use adk_build::engine::{Body, BranchReport, BranchTask, ClaimedRun, Stored};
use adk_build::{Outcome, Result, RunRequest, Runner};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use tokio::sync::{Notify, mpsc};

/// A process that is killed after `at` points of any kind.
#[derive(Clone)]
pub struct Process {
    pub log: Log,
    pub tree: fn() -> Tree,
    points: Arc<AtomicUsize>,
    at: usize,
    pub killed: Arc<Notify>,
    /// Branches that were posted.
    pub tasks: Arc<Mutex<Vec<Value>>>,
}

impl Process {
    pub fn new(log: Log, tree: fn() -> Tree, at: usize) -> Self {
        Self {
            log,
            tree,
            points: Arc::default(),
            at,
            killed: Arc::default(),
            tasks: Arc::default(),
        }
    }

    pub fn points(&self) -> usize {
        self.points.load(SeqCst)
    }

    async fn point(&self) {
        if self.points.fetch_add(1, SeqCst) >= self.at {
            self.killed.notify_one();
            std::future::pending().await
        }
    }

    pub fn runner(&self) -> (Runner, mpsc::UnboundedReceiver<Effect>) {
        let (engine, posted) = Posted::new(self.log.clone());
        let sessions: Arc<dyn adk_build::session::SessionStore> = Arc::new(self.log.clone());
        let runner = Runner::builder().session_store(sessions).engine(engine);
        (runner.build().unwrap(), posted)
    }

    /// Serves a run or a branch to its end. Returns the places of its committed events.
    pub async fn serve<T: Send + 'static>(
        &self,
        request: RunRequest<'_, T>,
        posted: mpsc::UnboundedReceiver<Effect>,
        cancelled: impl Future<Output = ()>,
    ) -> (Option<Result<Outcome<T>>>, Vec<u64>) {
        let places = Arc::default();
        let own = tokio::spawn(self.clone().effects(posted, Arc::clone(&places)));
        let ended = tokio::select! {
            biased;
            ended = async { request.stream().finish().await } => Some(ended),
            () = cancelled => None,
        };
        own.abort();
        let places = std::mem::take(&mut *places.lock().unwrap());
        (ended, places)
    }

    #[allow(clippy::too_many_lines, reason = "one arm for each effect")]
    async fn effects(
        self,
        mut posted: mpsc::UnboundedReceiver<Effect>,
        places: Arc<std::sync::Mutex<Vec<u64>>>,
    ) {
        while let Some(effect) = posted.recv().await {
            self.point().await;
            let (own, places) = (self.clone(), places.clone());
            match effect {
                Effect::Commit(slot, Body::Ready(draft), reply) => {
                    let place = |stored: &Stored| places.lock().unwrap().push(stored.place);
                    let (event, temp) = (draft.event, draft.temp);
                    let mut slot = slot;
                    let stored = own
                        .log
                        .stored(&slot)
                        .unwrap_or_else(|| own.log.append(&mut slot, event, temp));
                    place(&stored);
                    own.point().await;
                    let _ = reply.send(Ok(slot.deliver(stored.place, stored.event, stored.temp)));
                }
                Effect::Commit(mut slot, Body::Update(mut update), reply) => {
                    let stored = own
                        .log
                        .stored(&slot)
                        .map_or_else(|| own.log.update(&mut slot, &mut update), Ok);
                    own.point().await;
                    let _ = reply.send(stored.map(|stored| {
                        places.lock().unwrap().push(stored.place);
                        slot.deliver(stored.place, stored.event, stored.temp)
                    }));
                }
                Effect::Commit(mut slot, Body::Call(work), reply) => {
                    tokio::spawn(async move {
                        let stored = match own.log.stored(&slot) {
                            Some(stored) => stored,
                            None => match work.await {
                                Ok(draft) => own.log.append(&mut slot, draft.event, draft.temp),
                                Err(error) => return drop(reply.send(Err(error))),
                            },
                        };
                        places.lock().unwrap().push(stored.place);
                        let _ =
                            reply.send(Ok(slot.deliver(stored.place, stored.event, stored.temp)));
                    });
                }
                Effect::Step(key, work, reply) => {
                    tokio::spawn(async move {
                        let value = match own.log.step(&key.id()) {
                            Some(value) => Ok(value),
                            None => {
                                let value = work.await;
                                own.point().await;
                                if let Ok(value) = &value {
                                    own.log.record(key.id(), value.clone());
                                }
                                value
                            }
                        };
                        own.point().await;
                        let _ = reply.send(value);
                    });
                }
                Effect::Wait(wait, reply) => {
                    tokio::spawn(async move {
                        loop {
                            let changed = own.log.1.notified();
                            if let Some(value) = own.log.answer_of(&wait.waiting) {
                                return drop(reply.send(Ok(Some(value))));
                            }
                            changed.await;
                        }
                    });
                }
                Effect::Branch(task, cancelled, reply) => {
                    own.tasks.lock().unwrap().push(task.clone());
                    tokio::spawn(async move {
                        let result = own.clone().branch(task, cancelled).await;
                        let branch_places: Vec<u64> =
                            serde_json::from_value(result["places"].clone()).unwrap();
                        // Events that the branch committed are a part of the events of this
                        // process.
                        places.lock().unwrap().extend(&branch_places);
                        let joined = BranchReport::from_value(
                            result["ended"].clone(),
                            own.log.at(&branch_places),
                        );
                        let _ = reply.send(joined);
                    });
                }
                Effect::Claim(run, check, reply) => {
                    let record = own.log.record_of_run().ok_or_else(|| unknown(run));
                    let claimed = record.and_then(|record| {
                        check(&record)?;
                        Ok(ClaimedRun::starting_over((*record).clone()))
                    });
                    let _ = reply.send(claimed);
                }
            }
        }
    }

    /// Executes a branch as another process would: input and output are JSON.
    pub fn branch(
        self,
        task: Value,
        cancelled: impl Future<Output = ()> + Send + 'static,
    ) -> adk_build::BoxFuture<'static, Value> {
        Box::pin(async move {
            let task: BranchTask = serde_json::from_value(task).unwrap();
            let (runner, posted) = self.runner();
            let tree = (self.tree)();
            let (ended, places) = self
                .serve(runner.branch(&tree, task), posted, cancelled)
                .await;
            let joined = match ended {
                Some(ended) => adk_build::Outcome::branch_report(ended, Vec::new()),
                None => BranchReport::new(Ok(adk_build::engine::BranchEnd::default())),
            };
            json!({"ended": joined.to_value().unwrap(), "places": places})
        })
    }
}
