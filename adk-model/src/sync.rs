//! Locking without errors. Holders of these locks do not panic, so the functions ignore poisoning.

#[cfg(adk_counts)]
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// The number of locks that this process has taken; only in builds with `--cfg adk_counts`.
#[cfg(adk_counts)]
pub static LOCKS: AtomicU64 = AtomicU64::new(0);

fn count() {
    #[cfg(adk_counts)]
    LOCKS.fetch_add(1, Relaxed);
}

/// Locks a mutex.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    count();
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Locks for reading.
pub fn read<T: ?Sized>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    count();
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

/// Locks for writing.
pub fn write<T: ?Sized>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    count();
    lock.write().unwrap_or_else(PoisonError::into_inner)
}
