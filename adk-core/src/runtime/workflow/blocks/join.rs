//! [`Branches`]: branches that run in one task. Each has its own waker, so a wake polls one branch
//! and not all.

use crate::sync::lock;
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

#[derive(Default)]
struct WakeList {
    list: Vec<usize>,
    parent: Option<Waker>,
}

struct BranchWaker {
    ready: Arc<Mutex<WakeList>>,
    index: usize,
    queued: AtomicBool,
}

impl Wake for BranchWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.queued.swap(true, Ordering::AcqRel) {
            return;
        }
        let mut ready = lock(&self.ready);
        ready.list.push(self.index);
        if let Some(parent) = &ready.parent {
            parent.wake_by_ref();
        }
    }
}

struct BranchFuture<F> {
    future: F,
    waker: Waker,
    flag: Arc<BranchWaker>,
}

/// Futures that are polled together. A drop of this value drops the unfinished ones.
pub(crate) struct Branches<F> {
    all: Vec<Option<BranchFuture<F>>>,
    ready: Arc<Mutex<WakeList>>,
    batch: VecDeque<usize>,
    live: usize,
}

impl<F> Default for Branches<F> {
    fn default() -> Self {
        Self {
            all: Vec::new(),
            ready: Arc::default(),
            batch: VecDeque::new(),
            live: 0,
        }
    }
}

impl<F: Future + Unpin> Branches<F> {
    /// Returns the number of branches that were pushed, including the finished ones.
    pub(crate) fn begun_count(&self) -> usize {
        self.all.len()
    }

    pub(crate) fn push(&mut self, future: F) {
        let index = self.all.len();
        let flag = Arc::new(BranchWaker {
            ready: self.ready.clone(),
            index,
            queued: AtomicBool::new(true),
        });
        self.batch.push_back(index);
        let waker = Waker::from(flag.clone());
        self.all.push(Some(BranchFuture {
            future,
            waker,
            flag,
        }));
        self.live += 1;
    }

    /// Drops the branches that `keep` rejects. Its argument is the number of a branch in push
    /// order.
    pub(crate) fn retain(&mut self, keep: impl Fn(usize) -> bool) {
        for (index, branch) in self.all.iter_mut().enumerate() {
            if !keep(index) && branch.take().is_some() {
                self.live -= 1;
            }
        }
    }

    /// Returns the number of unfinished branches.
    pub(crate) fn live_count(&self) -> usize {
        self.live
    }

    /// Returns true if no branch was woken since its last poll.
    pub(crate) fn is_idle(&self) -> bool {
        self.batch.is_empty() && lock(&self.ready).list.is_empty()
    }

    /// Polls for the next branch that ends, and returns its number in push order and its output.
    /// Returns `None` when all branches have ended.
    pub(crate) fn poll_next(&mut self, task: &mut Context<'_>) -> Poll<Option<(usize, F::Output)>> {
        if self.live == 0 {
            return Poll::Ready(None);
        }
        {
            let mut ready = lock(&self.ready);
            if !ready
                .parent
                .as_ref()
                .is_some_and(|waker| waker.will_wake(task.waker()))
            {
                ready.parent = Some(task.waker().clone());
            }
            self.batch.extend(ready.list.drain(..));
        }
        while let Some(index) = self.batch.pop_front() {
            let Some(branch) = &mut self.all[index] else {
                continue;
            };
            branch.flag.queued.store(false, Ordering::Release);
            let polled = Pin::new(&mut branch.future).poll(&mut Context::from_waker(&branch.waker));
            if let Poll::Ready(output) = polled {
                self.all[index] = None;
                self.live -= 1;
                return Poll::Ready(Some((index, output)));
            }
        }
        Poll::Pending
    }
}
