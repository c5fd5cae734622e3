//! The common tests of runs on a store, some of them with repeated kills of the process.

use crate::support::{Database, quick};
use crate::trees::store::with_room;
use crate::trees::{cancelled, keys, killed, limits, listed, queued, survival, updates};
use adk_postgres::PostgresStore;

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn events_are_stored_in_the_order_of_delivery() {
    survival::delivers(&Database::new().await).await;
}

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn many_runs_share_one_database_and_one_session() {
    survival::shares(&Database::new().await).await;
}

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn a_run_is_driven_by_one_process_at_a_time() {
    survival::is_driven_once(&Database::new().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "is started and killed by another test"]
async fn victim() {
    let Ok(url) = std::env::var("ADK_VICTIM") else {
        return;
    };
    survival::victim(PostgresStore::connect_with(&url, quick()).await.unwrap()).await;
}

/// `ADK_KILLS` sets the number of kills; the default is 6.
#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn a_kill_loses_and_repeats_no_delivered_event() {
    survival::loses_nothing(&Database::new().await, survival::kills(6), async || {}).await;
}

/// `ADK_KILLS` sets the number of kills; the default is 6.
#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn a_killed_run_ends_like_an_undisturbed_run() {
    killed::ends_the_same(&Database::new().await, survival::kills(6)).await;
}

#[test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
fn values_that_agents_write_obey_the_limit() {
    with_room(async || limits::agents_obey_the_limit(&Database::new().await).await);
}

#[test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
fn values_that_runs_begin_with_obey_the_limit() {
    with_room(async || limits::beginnings_obey_the_limit(&Database::new().await).await);
}

#[test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
fn answers_of_people_obey_the_limit() {
    with_room(async || limits::answers_obey_the_limit(&Database::new().await).await);
}

#[test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
fn calls_and_results_of_tools_obey_the_limit() {
    with_room(async || limits::tools_obey_the_limit(&Database::new().await).await);
}

#[test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
fn outputs_of_models_obey_the_limit() {
    with_room(async || limits::outputs_obey_the_limit(&Database::new().await).await);
}

#[test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
fn ids_that_no_store_can_keep_are_refused() {
    with_room(async || limits::ids_obey_the_limit(&Database::new().await).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn updates_of_many_sessions_and_programs_all_count() {
    updates::adds_all(&Database::new().await).await;
}

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn an_update_is_made_once_wherever_its_run_is_dropped() {
    updates::adds_once(&Database::new().await).await;
}

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn an_update_that_fails_changes_nothing() {
    updates::changes_nothing(&Database::new().await).await;
}

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn shared_keys_are_read_as_this_program_knows_them() {
    updates::are_read_as_known(&Database::new().await, false).await;
}

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn a_run_is_cancelled_by_any_program() {
    cancelled::ends_waiting_runs(&Database::new().await).await;
    cancelled::ends_at_the_next_commit(&Database::new().await).await;
    cancelled::ends_at_once_here(&Database::new().await).await;
    cancelled::reports_status(&Database::new().await).await;
}

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn runs_are_listed_with_status_times_and_usage() {
    listed::reports_times_and_usage(&Database::new().await).await;
    listed::turns_pages(&Database::new().await).await;
    listed::reports_usage_of_cancelled_runs(&Database::new().await).await;
}

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn a_run_that_waits_for_its_session_is_registered() {
    queued::is_a_run(&Database::new().await).await;
    queued::is_refused_inside(&Database::new().await).await;
    queued::ends_when_it_is_resumed(&Database::new().await).await;
}

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn queued_runs_begin_in_the_order_of_arrival() {
    queued::begins_in_order(&Database::new().await).await;
    queued::survives_a_kill(&Database::new().await).await;
}

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn a_run_id_is_used_once() {
    queued::takes_an_id_once(&Database::new().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn a_key_has_one_binding_and_a_run_begins_once() {
    keys::binds(&Database::new().await).await;
    keys::rebinds(&Database::new().await).await;
    keys::binds_once(&Database::new().await).await;
    keys::begins_once(&Database::new().await).await;
    keys::begins_once_of_many(&Database::new().await).await;
    let database = Database::new().await;
    keys::forgets(&database, async || {
        let count: i64 = sqlx::query_scalar("SELECT count(*) FROM adkw_keys")
            .fetch_one(&mut database.connect().await)
            .await
            .unwrap();
        count as usize
    })
    .await;
}
