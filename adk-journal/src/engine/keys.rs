//! [`RequestKeys`]: keys of requests, so that a repeated request begins nothing twice.

use super::now_micros;
use crate::{BoxFuture, Result};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

/// The name of a request, chosen by its sender: a repeated request has the key of the first one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RequestKey {
    /// The app.
    pub app: String,
    /// The protocol and the sender: keys of different scopes are different keys.
    pub scope: String,
    /// The key itself.
    pub key: String,
}

impl RequestKey {
    /// Creates a key of a sender.
    pub fn new(app: impl Into<String>, scope: impl Into<String>, key: impl Into<String>) -> Self {
        Self {
            app: app.into(),
            scope: scope.into(),
            key: key.into(),
        }
    }
}

/// The run or wait that a key belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct KeyBinding {
    /// The id of the run that the request begins, or of the wait that it answers.
    pub target: String,
    /// The digest of the request: another request under the same key has another digest.
    pub digest: String,
}

impl KeyBinding {
    /// Creates the binding of a request with this digest.
    pub fn new(target: impl Into<String>, digest: impl Into<String>) -> Self {
        Self {
            target: target.into(),
            digest: digest.into(),
        }
    }
}

/// Binds keys of requests to the runs that they begin. An engine implements it for servers whose
/// clients may repeat requests.
///
/// A binding names the run of a key; it does not prove that the run has begun. Each request with
/// the key may begin that run: the store refuses all but the first
/// ([`refuse::run_exists`](super::refuse::run_exists)). A process that dies between binding and
/// beginning therefore blocks nothing, and no clock decides who may begin.
pub trait RequestKeys: Send + Sync {
    /// Binds a key for a lifetime, and returns its binding: the given one, or the earlier binding
    /// of the key. `replaces` is the target of an earlier binding that may be replaced.
    ///
    /// The clock of the store decides when a lifetime is over. A call also removes some of the
    /// bindings whose lifetime is over.
    ///
    /// # Errors
    /// When the store fails. Then the key may be bound or not, and the caller has begun nothing.
    fn bind<'a>(
        &'a self,
        key: &'a RequestKey,
        binding: &'a KeyBinding,
        replaces: Option<&'a str>,
        lifetime: Duration,
    ) -> BoxFuture<'a, Result<KeyBinding>>;
}

/// The keys of an engine in memory.
#[derive(Debug, Default)]
pub(super) struct MemoryKeys {
    bindings: HashMap<RequestKey, (KeyBinding, u64)>,
    /// Ends of lifetimes, in microseconds since 1970.
    ends: BTreeSet<(u64, RequestKey)>,
}

/// The largest number of bindings that one call removes.
const BATCH: usize = 64;

impl MemoryKeys {
    pub(super) fn bind(
        &mut self,
        key: &RequestKey,
        binding: &KeyBinding,
        replaces: Option<&str>,
        lifetime: Duration,
    ) -> KeyBinding {
        let now = now_micros();
        self.purge(now);
        if let Some((bound, end)) = self.bindings.get(key) {
            if *end > now && replaces != Some(&bound.target) {
                return bound.clone();
            }
            self.ends.remove(&(*end, key.clone()));
        }
        let end = now.saturating_add(u64::try_from(lifetime.as_micros()).unwrap_or(u64::MAX));
        self.ends.insert((end, key.clone()));
        self.bindings.insert(key.clone(), (binding.clone(), end));
        binding.clone()
    }

    pub(super) fn purge(&mut self, now: u64) {
        for _ in 0..BATCH {
            match self.ends.pop_first() {
                Some((end, key)) if end <= now => drop(self.bindings.remove(&key)),
                Some(later) => {
                    self.ends.insert(later);
                    return;
                }
                None => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_key_is_removed_after_its_lifetime_in_virtual_time() {
        let mut keys = MemoryKeys::default();
        let key = |nth: usize| RequestKey::new("app", "scope", nth.to_string());
        let [one, two] = ["one", "two"].map(|target| KeyBinding::new(target, ""));
        for nth in 0..3 * BATCH {
            keys.bind(&key(nth), &one, None, Duration::from_secs(60));
        }
        tokio::time::advance(Duration::from_secs(59)).await;
        assert_eq!(keys.bind(&key(0), &two, None, Duration::from_secs(60)), one);
        tokio::time::advance(Duration::from_secs(2)).await;
        for nth in 0..3 {
            assert_eq!(
                keys.bind(&key(nth), &two, None, Duration::from_secs(60)),
                two
            );
            let left = (3 * BATCH).saturating_sub((nth + 1) * BATCH);
            assert!(
                keys.bindings.len() <= left + 3,
                "{} of {left}",
                keys.bindings.len()
            );
        }
        assert_eq!((keys.bindings.len(), keys.ends.len()), (3, 3));
    }
}
