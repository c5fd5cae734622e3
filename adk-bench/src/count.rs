//! The allocator of this program. It counts once [`start`] was called.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

static ON: AtomicBool = AtomicBool::new(false);
static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
/// Wraps below zero where something is freed that was not counted.
static LIVE: AtomicU64 = AtomicU64::new(0);
static PEAK: AtomicU64 = AtomicU64::new(0);

pub fn start() {
    ON.store(true, Relaxed);
}

/// Allocations so far, with those that only grew.
pub fn allocations() -> u64 {
    ALLOCATIONS.load(Relaxed)
}

/// The most bytes that were allocated at once.
pub fn peak() -> u64 {
    PEAK.load(Relaxed)
}

fn count(freed: usize, allocated: usize) {
    if allocated > 0 {
        ALLOCATIONS.fetch_add(1, Relaxed);
    }
    let change = (allocated as u64).wrapping_sub(freed as u64);
    let live = LIVE.fetch_add(change, Relaxed).wrapping_add(change);
    if (live as i64) > 0 {
        PEAK.fetch_max(live, Relaxed);
    }
}

// SAFETY: all calls go to `System` as they are.
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
