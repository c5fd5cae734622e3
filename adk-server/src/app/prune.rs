//! Deletes the runs that have ended long ago, see [`Server::prune`](crate::Server::prune).

use adk_core::engine::{KeyBinding, RequestKey, RunFilter};
use adk_core::session::now_micros;
use adk_core::{Result, RunId, Runner};
use std::collections::HashSet;
use std::time::Duration;

/// The longest time between two deletions.
const EVERY: Duration = Duration::from_secs(3600);

/// The shortest time between two deletions.
const REST: Duration = Duration::from_secs(60);

/// The number of runs of tenants that are read at a time.
const PAGE: usize = 100;

/// Deletes old runs of the app and its tenants again and again. An error ends only one deletion.
pub(super) async fn prune(runner: Runner, after: Duration) {
    let every = after.clamp(REST, EVERY);
    // The name of this server among those of the store.
    let own = RunId::new().to_string();
    loop {
        if let Err(error) = prune_once(&runner, after, &own, every).await {
            tracing::warn!("the server cannot delete old runs, and tries again later: {error}");
        }
        tokio::time::sleep(every).await;
    }
}

/// Deletes the old runs, unless another server of the store has done so within `every`.
async fn prune_once(runner: &Runner, after: Duration, own: &str, every: Duration) -> Result<()> {
    let engine = runner.engine();
    if let Some(keys) = engine.keys() {
        // The key is a lease: a server that has it renews it, and another one gets it when it has
        // expired.
        let key = RequestKey::new(runner.app_name(), "prune", "");
        let binding = KeyBinding::new(own, "");
        let bound = keys.bind(&key, &binding, Some(own), every * 3 / 2).await?;
        if bound.target != own {
            return Ok(());
        }
    }
    let now = match engine.waits() {
        Some(waits) => waits.now().await?,
        None => now_micros(),
    };
    let after = u64::try_from(after.as_micros()).unwrap_or(u64::MAX);
    let before = now.saturating_sub(after);
    runner.delete_ended(before).await?;
    let mut pruned = HashSet::new();
    let mut page = RunFilter::any().oldest_first().limit(PAGE);
    let registry = engine.registry_for(|| "delete runs".to_owned())?;
    loop {
        let runs = registry.runs_of_tenants(runner.app_name(), &page).await?;
        let old = |ended: u64| ended < before;
        let last = runs.get(PAGE - 1).filter(|run| old(run.created));
        let last = last.map(|run| run.run_id);
        for run in runs.into_iter().filter(|run| run.ended().is_some_and(old)) {
            if pruned.insert(run.session.app.clone()) {
                runner.for_app(run.session.app).delete_ended(before).await?;
            }
        }
        match last {
            Some(last) => page = page.after(last),
            None => return Ok(()),
        }
    }
}
