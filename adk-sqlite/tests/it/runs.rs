//! The common tests of runs on a store, some of them with repeated kills of the process.

use crate::support::Folder;
use crate::trees::store::with_room;
use crate::trees::survival::runner;
use crate::trees::{
    Tree, by, cancelled, keys, killed, limits, listed, queued, run, say, survival, updates,
};
use adk_build::{Flow, Secret};
use adk_sqlite::SqliteStore;
use rusqlite::Connection;

#[tokio::test]
async fn events_are_stored_in_the_order_of_delivery() {
    survival::delivers(&Folder::new()).await;
}

#[tokio::test]
async fn many_runs_share_one_file_and_one_session() {
    survival::shares(&Folder::new()).await;
}

#[tokio::test]
async fn a_run_is_driven_by_one_process_at_a_time() {
    survival::is_driven_once(&Folder::new()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "is started and killed by another test"]
async fn victim() {
    let Ok(file) = std::env::var("ADK_VICTIM") else {
        return;
    };
    survival::victim(SqliteStore::open(file).await.unwrap()).await;
}

/// `ADK_KILLS` sets the number of kills; the default is 8.
#[tokio::test]
async fn a_kill_loses_and_repeats_no_delivered_event() {
    let (folder, kills) = (Folder::new(), survival::kills(8));
    let check = async || {
        let connection = Connection::open(folder.file()).unwrap();
        let health: String = connection
            .query_row("PRAGMA integrity_check", [], |row| row.get(0))
            .unwrap();
        assert_eq!(health, "ok");
    };
    survival::loses_nothing(&folder, kills, check).await;
    // Lock files of ended processes do not accumulate.
    assert!(
        folder
            .names()
            .iter()
            .filter(|name| name.contains("-owner-"))
            .count()
            <= kills
    );
}

/// `ADK_KILLS` sets the number of kills; the default is 10.
#[tokio::test]
async fn a_killed_run_ends_like_an_undisturbed_run() {
    killed::ends_the_same(&Folder::new(), survival::kills(10)).await;
}

#[test]
fn values_that_agents_write_obey_the_limit() {
    with_room(async || limits::agents_obey_the_limit(&Folder::new()).await);
}

#[test]
fn values_that_runs_begin_with_obey_the_limit() {
    with_room(async || limits::beginnings_obey_the_limit(&Folder::new()).await);
}

#[test]
fn answers_of_people_obey_the_limit() {
    with_room(async || limits::answers_obey_the_limit(&Folder::new()).await);
}

#[test]
fn calls_and_results_of_tools_obey_the_limit() {
    with_room(async || limits::tools_obey_the_limit(&Folder::new()).await);
}

#[test]
fn outputs_of_models_obey_the_limit() {
    with_room(async || limits::outputs_obey_the_limit(&Folder::new()).await);
}

#[test]
fn ids_that_no_store_can_keep_are_refused() {
    with_room(async || limits::ids_obey_the_limit(&Folder::new()).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn updates_of_many_sessions_and_programs_all_count() {
    updates::adds_all(&Folder::new()).await;
}

#[tokio::test]
async fn an_update_is_made_once_wherever_its_run_is_dropped() {
    updates::adds_once(&Folder::new()).await;
}

#[tokio::test]
async fn an_update_that_fails_changes_nothing() {
    updates::changes_nothing(&Folder::new()).await;
}

#[tokio::test]
async fn shared_keys_are_read_as_this_program_knows_them() {
    updates::are_read_as_known(&Folder::new(), false).await;
}

#[tokio::test]
async fn a_run_is_cancelled_by_any_program() {
    cancelled::ends_waiting_runs(&Folder::new()).await;
    cancelled::ends_at_the_next_commit(&Folder::new()).await;
    cancelled::ends_at_once_here(&Folder::new()).await;
    cancelled::reports_status(&Folder::new()).await;
}

#[tokio::test]
async fn a_run_that_waits_for_its_session_is_registered() {
    queued::is_a_run(&Folder::new()).await;
    queued::is_refused_inside(&Folder::new()).await;
    queued::ends_when_it_is_resumed(&Folder::new()).await;
}

#[tokio::test]
async fn queued_runs_begin_in_the_order_of_arrival() {
    queued::begins_in_order(&Folder::new()).await;
    queued::survives_a_kill(&Folder::new()).await;
}

#[tokio::test]
async fn a_run_id_is_used_once() {
    queued::takes_an_id_once(&Folder::new()).await;
}

/// A secret is in the journal of its run and in no other row.
#[tokio::test]
async fn a_secret_is_only_in_the_journal_of_its_run() {
    let folder = Folder::new();
    let store = SqliteStore::open(folder.file()).await.unwrap();
    let makes = by("makes", |cx| {
        Box::pin(async move {
            let secret: Secret<String> = cx.step("makes", async { Ok("sesame".into()) }).await?;
            cx.state().set("token", secret)?;
            Ok(Flow::Continue)
        })
    });
    let tree = Tree::new("w", vec![run(makes), run(say("a"))]);
    runner(&store)
        .session("u", "s")
        .run(&tree, "go")
        .await
        .unwrap();
    let connection = Connection::open(folder.file()).unwrap();
    let columns = "SELECT t.name, c.name FROM sqlite_master t, pragma_table_info(t.name) c
        WHERE t.type = 'table'";
    let mut columns = connection.prepare(columns).unwrap();
    let columns = columns.query_map([], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))
    });
    let holds = |(table, column): &(String, String)| {
        let sql = format!(
            "SELECT EXISTS (SELECT 1 FROM {table} WHERE CAST({column} AS TEXT) LIKE '%sesame%')"
        );
        connection
            .query_row(&sql, [], |row| row.get::<_, bool>(0))
            .unwrap()
    };
    let all = columns.unwrap().map(Result::unwrap).filter(holds);
    let all: Vec<_> = all
        .map(|(table, column)| format!("{table}.{column}"))
        .collect();
    assert_eq!(all, ["adkw_log.temp", "adkw_steps.value"]);
}

#[tokio::test]
async fn runs_are_listed_with_status_times_and_usage() {
    listed::reports_times_and_usage(&Folder::new()).await;
    listed::turns_pages(&Folder::new()).await;
    listed::reports_usage_of_cancelled_runs(&Folder::new()).await;
}

#[tokio::test]
async fn a_key_has_one_binding_and_a_run_begins_once() {
    keys::binds(&Folder::new()).await;
    keys::rebinds(&Folder::new()).await;
    keys::binds_once(&Folder::new()).await;
    keys::begins_once(&Folder::new()).await;
    keys::begins_once_of_many(&Folder::new()).await;
    let folder = Folder::new();
    keys::forgets(&folder, async || {
        let file = Connection::open(folder.file()).unwrap();
        file.query_row("SELECT count(*) FROM adkw_keys", [], |row| row.get(0))
            .unwrap()
    })
    .await;
}
