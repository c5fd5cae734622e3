//! [`Log`]: an append-only list whose entries are read in place, without locks, guards or copies.

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

const FIRST: usize = 8;
/// The number of buckets after the first.
const BUCKETS: usize = usize::BITS as usize - 5;

/// The bucket with number `b` holds `FIRST << b` entries.
type Bucket<T> = OnceLock<Box<[OnceLock<T>]>>;

/// An append-only list. A bucket never moves, so a reference to an entry stays valid during
/// appends.
pub struct Log<T> {
    len: AtomicUsize,
    first: Bucket<T>,
    /// All buckets but the first, which most sessions do not need.
    more: OnceLock<Box<[Bucket<T>; BUCKETS]>>,
}

impl<T> Default for Log<T> {
    fn default() -> Self {
        Self {
            len: AtomicUsize::new(0),
            first: OnceLock::new(),
            more: OnceLock::new(),
        }
    }
}

impl<T> Log<T> {
    pub fn len(&self) -> usize {
        self.len.load(Ordering::Acquire)
    }

    pub fn get(&self, index: usize) -> Option<&T> {
        let (bucket, offset) = place(index);
        let bucket = match bucket.checked_sub(1) {
            None => &self.first,
            Some(bucket) => self.more.get()?.get(bucket)?,
        };
        bucket.get()?.get(offset)?.get()
    }

    /// Appends an entry. Only one writer may call it at a time: the caller holds the session's
    /// right to append.
    pub fn push(&self, value: T) {
        let index = self.len.load(Ordering::Relaxed);
        let (bucket, offset) = place(index);
        let own = match bucket.checked_sub(1) {
            None => &self.first,
            Some(bucket) => &self
                .more
                .get_or_init(|| Box::new([const { OnceLock::new() }; BUCKETS]))[bucket],
        };
        let slots = own.get_or_init(|| (0..FIRST << bucket).map(|_| OnceLock::new()).collect());
        let free = slots[offset].set(value).is_ok();
        debug_assert!(free, "two writers at once");
        self.len.store(index + 1, Ordering::Release);
    }
}

impl<T> fmt::Debug for Log<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Log({} entries)", self.len())
    }
}

fn place(index: usize) -> (usize, usize) {
    let n = index / FIRST + 1;
    let bucket = n.ilog2() as usize;
    (bucket, index - FIRST * ((1 << bucket) - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_do_not_move() {
        let log = Log::default();
        log.push(0);
        let first: *const i32 = log.get(0).unwrap();
        for n in 1..10_000 {
            log.push(n);
        }
        assert!(std::ptr::eq(first, log.get(0).unwrap()));
        assert!((0..10_000).all(|n| log.get(n) == Some(&(n as i32))));
        assert_eq!(log.get(10_000), None);
    }
}
