//! Who drives a run: a process that renews its lease, and the number under which it has taken the run.

use crate::Shared;
use crate::error::Doing;
use adk_core::session::SessionKey;
use adk_core::{Result, RunId};
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::OnceCell;

/// What this process drives.
pub(crate) struct Drives {
    /// The name of this process, or rather of this store in it.
    pub(crate) owner: String,
    begun: OnceCell<()>,
    runs: Mutex<HashMap<RunId, Held>>,
    /// Runs that are being taken at this moment.
    taken: Mutex<HashSet<RunId>>,
}

pub(crate) struct Taking<'a> {
    drives: &'a Drives,
    run: RunId,
}

impl Drop for Taking<'_> {
    fn drop(&mut self) {
        self.drives.taken.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.run);
    }
}

/// A run that is driven here.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    pub(crate) session: SessionKey,
    /// The fencing token.
    pub(crate) epoch: i64,
    /// What `takes` of its session was when the token was last compared.
    checked: Option<i64>,
}

impl Drives {
    pub(crate) fn new() -> Self {
        // Random, twice 64 bits.
        let random = || RandomState::new().hash_one(std::process::id());
        let owner = format!("{}-{:016x}{:016x}", std::process::id(), random(), random());
        Self { owner, begun: OnceCell::new(), runs: Mutex::default(), taken: Mutex::default() }
    }

    fn runs(&self) -> MutexGuard<'_, HashMap<RunId, Held>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// It is driven here from now on.
    pub(crate) fn begin(&self, run: RunId, session: &SessionKey, epoch: i64) {
        self.runs().insert(run, Held { session: session.clone(), epoch, checked: None });
    }

    /// The right to take it, for as long as this lives; `None` when it is driven here, or somebody is about to take it.
    pub(crate) fn taking(&self, run: RunId) -> Option<Taking<'_>> {
        let is_driven = self.runs().contains_key(&run);
        let is_first = !is_driven && self.taken.lock().unwrap_or_else(PoisonError::into_inner).insert(run);
        is_first.then(|| Taking { drives: self, run })
    }

    pub(crate) fn held(&self, run: RunId) -> Option<Held> {
        self.runs().get(&run).cloned()
    }

    pub(crate) fn end(&self, run: RunId) -> Option<Held> {
        self.runs().remove(&run)
    }

    pub(crate) fn is_checked(&self, run: RunId, epoch: i64, takes: i64) -> bool {
        self.runs().get(&run).is_some_and(|held| held.epoch == epoch && held.checked == Some(takes))
    }

    pub(crate) fn check(&self, run: RunId, epoch: i64, takes: i64) {
        if let Some(held) = self.runs().get_mut(&run).filter(|held| held.epoch == epoch) {
            held.checked = Some(takes);
        }
    }
}

impl Shared {
    /// Makes sure that this process counts as alive, from now on for as long as it lives.
    pub(crate) async fn lease(self: &Arc<Self>) -> Result<()> {
        let begin = || async {
            self.renew().await?;
            self.sweep().await?;
            let every = (self.options.lease / 3).max(Duration::from_millis(10));
            let this = Arc::downgrade(self);
            self.runtime.spawn(async move {
                loop {
                    tokio::time::sleep(every).await;
                    let Some(this) = this.upgrade() else { break };
                    if this.pool.is_closed() {
                        break;
                    }
                    // When the server is away, the next time will do; the lease says how long that may go on.
                    let _ = this.renew().await;
                }
            });
            Ok(())
        };
        self.drives.begun.get_or_try_init(begin).await.map(drop)
    }

    async fn renew(&self) -> Result<()> {
        let sql = "INSERT INTO adkw_owners (id, expires) VALUES ($1, clock_timestamp() + $2 * interval '1 microsecond')
            ON CONFLICT (id) DO UPDATE SET expires = excluded.expires";
        let lease = i64::try_from(self.options.lease.as_micros()).unwrap_or(i64::MAX / 2);
        let renewed = sqlx::query(sql).bind(&self.drives.owner).bind(lease).execute(&self.pool).await;
        renewed.doing("renew the lease of this process").map(drop)
    }

    /// Forgets processes that have died long ago and drive nothing.
    async fn sweep(&self) -> Result<()> {
        let sql = "DELETE FROM adkw_owners o WHERE o.expires < clock_timestamp() - interval '1 day'
            AND NOT EXISTS (SELECT 1 FROM adkw_runs r WHERE r.owner = o.id AND r.status IN ('running', 'paused'))";
        sqlx::query(sql).execute(&self.pool).await.doing("forget dead processes").map(drop)
    }

    /// Gives up the lease: what is driven here may be taken at once.
    pub(crate) async fn end_lease(&self) -> Result<()> {
        match self.ending() {
            Some(end) => end.await,
            None => Ok(()),
        }
    }

    pub(crate) fn ending(&self) -> Option<impl Future<Output = Result<()>> + Send + 'static> {
        self.drives.begun.initialized().then(|| {
            let (pool, owner) = (self.pool.clone(), self.drives.owner.clone());
            async move {
                let ended =
                    sqlx::query("DELETE FROM adkw_owners WHERE id = $1").bind(owner).execute(&pool).await;
                ended.doing("give up the lease of this process").map(drop)
            }
        })
    }
}
