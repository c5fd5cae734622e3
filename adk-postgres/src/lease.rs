//! [`Drives`]: the runs that this process drives, and the lease that proves that the process is
//! alive.

use crate::Shared;
use crate::connection::{PgConnection, Server};
use crate::error::Doing;
use crate::lane::Job;
use crate::log::Head;
use crate::types::epoch_of;
use adk_journal::engine::ClaimId;
use adk_journal::session::SessionKey;
use adk_model::{Result, RunId};
use std::collections::{BTreeMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{OnceCell, oneshot};

/// The value of the column `owner` for a run that an engine above the store drives. It names no
/// process, and counts as alive until the run ends.
pub(crate) const ABOVE: &str = "@";

/// Runs and claims of this process.
pub(crate) struct Drives {
    /// Name of this store in this process.
    pub(crate) owner: String,
    lease: OnceCell<Lease>,
    runs: Mutex<BTreeMap<ClaimId, Held>>,
    /// Runs that this process is claiming at this moment.
    claiming: Mutex<HashSet<RunId>>,
    /// Claims whose release is being written.
    released: Mutex<HashSet<ClaimId>>,
    /// Claims that were released while the server could not be reached.
    unwritten: Mutex<HashSet<ClaimId>>,
}

/// The right to claim a run, which one task of this process has until it drops this value.
pub(crate) struct Claiming<'a> {
    drives: &'a Drives,
    run: RunId,
}

impl Drop for Claiming<'_> {
    fn drop(&mut self) {
        lock(&self.drives.claiming).remove(&self.run);
    }
}

/// A run that this process drives.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    pub(crate) session: SessionKey,
    /// Value of [`Head::takes`] when the claim was last found to be current.
    checked: Option<i64>,
    /// Rows of the session as the last transaction of this run has left them.
    head: Option<Head>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drives {
    pub(crate) fn new() -> Self {
        // Two random numbers of 64 bits make the name unique.
        let random = || RandomState::new().hash_one(std::process::id());
        Self {
            owner: format!("{}-{:016x}{:016x}", std::process::id(), random(), random()),
            lease: OnceCell::new(),
            runs: Mutex::default(),
            claiming: Mutex::default(),
            released: Mutex::default(),
            unwritten: Mutex::default(),
        }
    }

    /// Returns the value of the `owner` column for a claim of this process.
    pub(crate) fn owner_of(&self, claim: ClaimId) -> &str {
        if claim.is_driven_above() {
            ABOVE
        } else {
            &self.owner
        }
    }

    /// Marks a run as driven by this process.
    pub(crate) fn begin(&self, claim: ClaimId, session: &SessionKey) {
        let held = Held {
            session: session.clone(),
            checked: None,
            head: None,
        };
        lock(&self.runs).insert(claim, held);
    }

    /// Marks a run as driven by this process under its first claim. Returns `false` if this process
    /// holds another claim of the run.
    pub(crate) fn begin_first(&self, claim: ClaimId, session: &SessionKey) -> bool {
        let of_run = |epoch| ClaimId {
            run_id: claim.run_id,
            epoch,
        };
        if let Some((held, _)) = lock(&self.runs).range(of_run(0)..=of_run(u64::MAX)).next() {
            return *held == claim;
        }
        self.begin(claim, session);
        true
    }

    /// Reserves a run for a claim. Returns `None` if another task of this process is claiming it.
    pub(crate) fn claiming(&self, run: RunId) -> Option<Claiming<'_>> {
        let is_first = lock(&self.claiming).insert(run);
        is_first.then(|| Claiming { drives: self, run })
    }

    pub(crate) fn held(&self, claim: ClaimId) -> Option<Held> {
        lock(&self.runs).get(&claim).cloned()
    }

    /// Returns the session of a run that this process drives.
    pub(crate) fn session(&self, claim: ClaimId) -> Option<SessionKey> {
        self.held(claim).map(|held| held.session)
    }

    /// Removes a claim of this process.
    pub(crate) fn end(&self, claim: ClaimId) -> Option<Held> {
        lock(&self.runs).remove(&claim)
    }

    pub(crate) fn is_checked(&self, claim: ClaimId, takes: i64) -> bool {
        self.held(claim)
            .is_some_and(|held| held.checked == Some(takes))
    }

    pub(crate) fn check(&self, claim: ClaimId, takes: i64) {
        if let Some(held) = lock(&self.runs).get_mut(&claim) {
            held.checked = Some(takes);
        }
    }

    /// Remembers the rows of a session as a transaction with these jobs has left them.
    pub(crate) fn leave(&self, jobs: &[Job], head: &Head) {
        let mut runs = lock(&self.runs);
        for claim in jobs.iter().filter_map(Job::claim) {
            let held = runs
                .get_mut(&claim)
                .filter(|held| held.checked == Some(head.takes));
            if let Some(held) = held {
                held.head = Some(head.clone());
            }
        }
    }

    /// Returns the remembered rows of a session if the jobs need no lookup in the database: all
    /// jobs are new events or steps, and no run of the session was claimed since their claims were
    /// found to be current.
    pub(crate) fn head(&self, jobs: &[Job]) -> Option<Head> {
        let runs = lock(&self.runs);
        let held = |job: &Job| {
            let claim = match job {
                Job::Commit {
                    slot, update: None, ..
                } if slot.begins.is_none() => slot.claim(),
                Job::Step { claim, .. } => *claim,
                _ => return None,
            };
            runs.get(&claim)
        };
        let held = jobs.iter().map(held).collect::<Option<Vec<_>>>()?;
        let head = held
            .iter()
            .filter_map(|held| held.head.as_ref())
            .max_by_key(|head| head.len)?;
        held.iter()
            .all(|held| held.checked == Some(head.takes))
            .then(|| head.clone())
    }

    /// Marks a claim as released, before the release is written.
    pub(crate) fn release(&self, claim: ClaimId) {
        lock(&self.released).insert(claim);
    }

    /// Records that the release of a claim is written, or that it could not be written.
    pub(crate) fn finish_release(&self, claim: ClaimId, is_written: bool) {
        if !is_written {
            lock(&self.unwritten).insert(claim);
        }
        lock(&self.released).remove(&claim);
    }

    /// Returns the released claims that the table may still show.
    pub(crate) fn released_claims(&self) -> Vec<ClaimId> {
        let mut claims: Vec<_> = lock(&self.released).iter().copied().collect();
        claims.extend(lock(&self.unwritten).iter().copied());
        claims
    }
}

/// The lease of this process. A thread of its own renews it over a connection of its own, so that
/// neither a blocked runtime nor an exhausted pool stops the renewal.
struct Lease {
    /// Ends the lease when a value is received, or when the sender is dropped.
    stop: Mutex<Option<oneshot::Sender<oneshot::Sender<Result<()>>>>>,
}

/// State of the lease thread.
struct Renewal {
    server: Arc<Server>,
    lease: Duration,
    drives: std::sync::Weak<Shared>,
    owner: String,
}

impl Shared {
    /// Begins the lease of this process if it has not begun yet.
    pub(crate) async fn lease(self: &Arc<Self>) -> Result<()> {
        self.drives
            .lease
            .get_or_try_init(|| self.begin_lease())
            .await
            .map(drop)
    }

    async fn begin_lease(self: &Arc<Self>) -> Result<Lease> {
        let (owner, lease) = (self.drives.owner.clone(), self.options.lease);
        self.call(Box::new(move |connection| {
            let owner = owner.clone();
            Box::pin(async move {
                renew(connection, &owner, lease).await?;
                sweep(connection).await
            })
        }))
        .await?;
        let renewal = Renewal {
            server: self.connections.server.clone(),
            lease,
            drives: Arc::downgrade(self),
            owner: self.drives.owner.clone(),
        };
        let (stop, stopped) = oneshot::channel();
        let run = move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            if let Ok(runtime) = runtime {
                runtime.block_on(renewal.run(stopped));
            }
        };
        let thread = std::thread::Builder::new()
            .name("adk-postgres-lease".to_owned())
            .spawn(run);
        thread.map_err(|error| crate::error::closed_error().with_source(error))?;
        Ok(Lease {
            stop: Mutex::new(Some(stop)),
        })
    }

    /// Ends the lease, so that other processes may claim its runs at once.
    pub(crate) async fn end_lease(&self) -> Result<()> {
        let stop = self
            .drives
            .lease
            .get()
            .and_then(|lease| lock(&lease.stop).take());
        let Some(stop) = stop else { return Ok(()) };
        let (reply, ended) = oneshot::channel();
        if stop.send(reply).is_err() {
            return Ok(());
        }
        ended.await.unwrap_or(Ok(()))
    }
}

impl Renewal {
    async fn run(self, mut stopped: oneshot::Receiver<oneshot::Sender<Result<()>>>) {
        let every = (self.lease / 3).max(Duration::from_millis(10));
        // A connection that gives no answer is dropped early enough for another attempt within the
        // lease.
        let patience = every;
        let mut connection = None;
        let mut pause = every;
        loop {
            if let Ok(stop) = tokio::time::timeout(pause, &mut stopped).await {
                let ended = tokio::time::timeout(patience, self.end(&mut connection)).await;
                let ended = ended.unwrap_or_else(|_| Err(crate::error::closed_error()));
                if let Ok(reply) = stop {
                    let _ = reply.send(ended);
                }
                return;
            }
            let renewed = tokio::time::timeout(patience, self.renew(&mut connection)).await;
            if let Ok(Ok(())) = renewed {
                pause = every;
            } else {
                // Retry soon; the lease expires if the failures last.
                connection = None;
                pause = (every / 8).max(Duration::from_millis(10));
            }
        }
    }

    /// Returns the connection, or opens one.
    async fn connection<'c>(
        &self,
        connection: &'c mut Option<PgConnection>,
    ) -> Result<&'c mut PgConnection> {
        let there = match connection.take() {
            Some(there) => there,
            None => self.server.connect().await.doing("connect for the lease")?,
        };
        Ok(connection.insert(there))
    }

    async fn renew(&self, connection: &mut Option<PgConnection>) -> Result<()> {
        let connection = self.connection(connection).await?;
        renew(connection, &self.owner, self.lease).await?;
        let Some(shared) = self.drives.upgrade() else {
            return Ok(());
        };
        let claims: Vec<_> = lock(&shared.drives.unwritten).iter().copied().collect();
        if claims.is_empty() {
            return Ok(());
        }
        release_claims(connection, &claims, &self.owner).await?;
        let mut unwritten = lock(&shared.drives.unwritten);
        unwritten.retain(|claim| !claims.contains(claim));
        Ok(())
    }

    async fn end(&self, connection: &mut Option<PgConnection>) -> Result<()> {
        let connection = self.connection(connection).await?;
        let ended = sqlx::query("DELETE FROM adkw_owners WHERE id = $1").bind(&self.owner);
        ended
            .execute(connection)
            .await
            .doing("end the lease of this process")
            .map(drop)
    }
}

async fn renew(connection: &mut PgConnection, owner: &str, lease: Duration) -> Result<()> {
    let sql = "INSERT INTO adkw_owners (id, expires)
        VALUES ($1, clock_timestamp() + $2 * interval '1 microsecond')
        ON CONFLICT (id) DO UPDATE SET expires = excluded.expires";
    let lease = i64::try_from(lease.as_micros()).unwrap_or(i64::MAX / 2);
    let renewed = sqlx::query(sql)
        .bind(owner)
        .bind(lease)
        .execute(connection)
        .await;
    renewed.doing("renew the lease of this process").map(drop)
}

/// Writes releases of claims that could not be written before.
async fn release_claims(
    connection: &mut PgConnection,
    claims: &[ClaimId],
    owner: &str,
) -> Result<()> {
    let (runs, epochs): (Vec<_>, Vec<_>) = claims
        .iter()
        .map(|claim| (claim.run_id.to_string(), epoch_of(*claim)))
        .unzip();
    let sql =
        "UPDATE adkw_runs r SET owner = NULL FROM unnest($1::text[], $2::bigint[]) c (run, epoch)
        WHERE r.id = c.run AND r.epoch = c.epoch AND r.owner = $3";
    let query = sqlx::query(sql).bind(runs).bind(epochs).bind(owner);
    query
        .execute(connection)
        .await
        .doing("release runs")
        .map(drop)
}

/// Removes processes that have been dead for a day and drive no run.
async fn sweep(connection: &mut PgConnection) -> Result<()> {
    let sql = "DELETE FROM adkw_owners o WHERE o.expires < clock_timestamp() - interval '1 day'
        AND NOT EXISTS (SELECT 1 FROM adkw_runs r WHERE r.owner = o.id)";
    sqlx::query(sql)
        .execute(connection)
        .await
        .doing("remove dead processes")
        .map(drop)
}
