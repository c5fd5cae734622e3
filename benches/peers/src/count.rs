//! The allocator of this program, which begins to count at a call of [`start`], and the other
//! counters of a process.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

static ON: AtomicBool = AtomicBool::new(false);
static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);
/// Allocated bytes minus freed bytes. The value wraps below zero when uncounted memory is freed.
static LIVE: AtomicU64 = AtomicU64::new(0);
static PEAK: AtomicU64 = AtomicU64::new(0);
static POLLS: AtomicU64 = AtomicU64::new(0);

/// The counters of a process.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counts {
    /// Number of allocations, reallocations included.
    pub allocations: u64,
    /// Bytes of all allocations. A reallocation counts with its new size.
    pub bytes: u64,
    /// The maximum of bytes that were allocated at one time.
    pub peak: u64,
    /// Polls of the [`count_polls`] futures.
    pub polls: u64,
    /// Locks that adk has taken; 0 without `--cfg adk_counts`.
    pub locks: u64,
}

pub fn start() {
    ON.store(true, Relaxed);
}

pub fn counts() -> Counts {
    Counts {
        allocations: ALLOCATIONS.load(Relaxed),
        bytes: BYTES.load(Relaxed),
        peak: PEAK.load(Relaxed),
        polls: POLLS.load(Relaxed),
        #[cfg(adk_counts)]
        locks: adk::__private::LOCKS.load(Relaxed),
        #[cfg(not(adk_counts))]
        locks: 0,
    }
}

/// Counts the polls of a future.
pub async fn count_polls<F: Future>(future: F) -> F::Output {
    let mut future = std::pin::pin!(future);
    std::future::poll_fn(|cx| {
        // One thread runs all scenarios, so load and store need not be one atomic operation.
        POLLS.store(POLLS.load(Relaxed) + 1, Relaxed);
        future.as_mut().poll(cx)
    })
    .await
}

fn count(freed: usize, allocated: usize) {
    if allocated > 0 {
        ALLOCATIONS.fetch_add(1, Relaxed);
        BYTES.fetch_add(allocated as u64, Relaxed);
    }
    let change = (allocated as u64).wrapping_sub(freed as u64);
    let live = LIVE.fetch_add(change, Relaxed).wrapping_add(change);
    if (live as i64) > 0 {
        PEAK.fetch_max(live, Relaxed);
    }
}

// SAFETY: each call is forwarded to `System` unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if ON.load(Relaxed) {
            count(0, layout.size());
        }
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if ON.load(Relaxed) {
            count(0, layout.size());
        }
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if ON.load(Relaxed) {
            count(layout.size(), size);
        }
        unsafe { System.realloc(old, layout, size) }
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        if ON.load(Relaxed) {
            count(layout.size(), 0);
        }
        unsafe { System.dealloc(old, layout) }
    }
}
