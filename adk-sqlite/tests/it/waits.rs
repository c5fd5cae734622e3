//! Runs that wait in a file: dropped resumes, dead processes and earlier formats.

use crate::support::Folder;
use adk_build::RunEnd;
use adk_store_kit::people::{pause, process, two};
use adk_store_kit::{keys, tenants, upgrades};

#[tokio::test]
async fn a_resume_that_is_dropped_leaves_no_driver() {
    let folder = Folder::new();
    let waiting = pause(&folder, two).await;
    let (runner, tree) = (process(&folder, two).await, two());
    for polls in 0..6 {
        let mut stream = runner.resume(&tree, waiting[0].run_id).stream();
        let mut next = std::pin::pin!(stream.next());
        for _ in 0..polls {
            let polled =
                std::future::poll_fn(|task| std::task::Poll::Ready(next.as_mut().poll(task))).await;
            if polled.is_ready() {
                break;
            }
            tokio::task::yield_now().await;
        }
    }
    // The first of two questions has been answered, and the run waits for the second.
    let mut stream = runner.resume(&tree, waiting[0].run_id).stream();
    assert!(stream.next().await.is_none());
    assert!(
        matches!(stream.end(), RunEnd::Paused(_)),
        "no process drives it"
    );
}

#[tokio::test]
async fn runs_of_a_dead_process_continue_for_tenants() {
    let folder = Folder::new();
    let dies = async || {
        let sql = "UPDATE adkw_runs SET owner = '1-dead' WHERE status = 'running'";
        let all = rusqlite::Connection::open(folder.file())
            .unwrap()
            .execute(sql, [])
            .unwrap();
        assert_eq!(all, 5);
    };
    tenants::resumes_abandoned_runs(&folder, dies).await;
}

#[tokio::test]
async fn a_process_of_format_9_may_still_write() {
    let folder = Folder::new();
    let file = || rusqlite::Connection::open(folder.file()).unwrap();
    upgrades::earlier_process(&folder, async |sql| file().execute_batch(sql).unwrap()).await;
}

/// Turns a current file into format 9, without indexes by user, status and `by`.
const FORMAT_9: &str = "
    DROP TRIGGER adkw_runs_of_9; DROP TRIGGER adkw_waits_of_9;
    DROP INDEX adkw_runs_app; DROP INDEX adkw_runs_user; DROP INDEX adkw_waits_user;
    DROP INDEX adkw_waits_answered_by; DROP INDEX adkw_runs_of_tenants;
    ALTER TABLE adkw_runs DROP COLUMN user_id;
    ALTER TABLE adkw_waits DROP COLUMN user_id; ALTER TABLE adkw_waits DROP COLUMN answered_by;
    CREATE INDEX adkw_runs_unfinished ON adkw_runs (app, id)
        WHERE status IN ('queued', 'running', 'paused', 'answered');
    CREATE INDEX adkw_runs_failed ON adkw_runs (app, id) WHERE status = 'failed';
    CREATE INDEX adkw_runs_cancelled ON adkw_runs (app, id) WHERE status = 'cancelled';
    UPDATE adkw_meta SET value = '9' WHERE key = 'version';";

/// Turns a file of format 9 into format 8, without tenants and without idempotency keys.
const FORMAT_8: &str = "
    DROP TABLE adkw_keys;
    DROP INDEX adkw_runs_tenants; ALTER TABLE adkw_runs DROP COLUMN tenant_of;
    DROP INDEX adkw_waits_tenants; ALTER TABLE adkw_waits DROP COLUMN tenant_of;
    UPDATE adkw_meta SET value = '8' WHERE key = 'version';";

/// Turns a file of format 8 into format 7, whose indexes do not end a limited search.
const FORMAT_7: &str = "
    DROP INDEX adkw_waits_session; ALTER TABLE adkw_waits DROP COLUMN session;
    DROP INDEX adkw_waits_open; DROP INDEX adkw_runs_cancelled; DROP INDEX adkw_runs_driven;
    DROP INDEX adkw_runs_session;
    CREATE INDEX adkw_runs_driven ON adkw_runs (owner) WHERE owner IS NOT NULL;
    CREATE INDEX adkw_runs_session ON adkw_runs (session);
    UPDATE adkw_meta SET value = '7' WHERE key = 'version';";

/// Turns a file of format 7 into format 6, without memory.
const FORMAT_6: &str = "
    DROP TABLE adkw_memory; DROP TABLE adkw_memory_words; DROP TABLE adkw_memory_marks;
    UPDATE adkw_meta SET value = '6' WHERE key = 'version';";

/// Turns a file of format 6 into format 5, without times and usage of runs.
const FORMAT_5: &str = "
    ALTER TABLE adkw_runs DROP COLUMN created; ALTER TABLE adkw_runs DROP COLUMN updated;
    ALTER TABLE adkw_runs DROP COLUMN usage;
    UPDATE adkw_meta SET value = '5' WHERE key = 'version';";

/// Turns a file of format 5 into format 4, with fewer columns for runs and waits, and without
/// artifacts.
const FORMAT_4: &str = "
    DROP TABLE adkw_artifacts;
    DROP INDEX adkw_runs_unfinished; DROP INDEX adkw_runs_free; DROP INDEX adkw_runs_driven;
    DROP INDEX adkw_runs_failed; DROP INDEX adkw_waits_due;
    UPDATE adkw_runs SET status = 'paused' WHERE status = 'answered';
    ALTER TABLE adkw_runs DROP COLUMN app; ALTER TABLE adkw_runs DROP COLUMN workflow;
    ALTER TABLE adkw_runs DROP COLUMN epoch;
    ALTER TABLE adkw_waits DROP COLUMN app; ALTER TABLE adkw_waits DROP COLUMN deadline;
    UPDATE adkw_meta SET value = '4' WHERE key = 'version';";

/// Turns a file of format 4 into format 3, without a tail.
const FORMAT_3: &str = "
    INSERT INTO adkw_log (session, place, event_id, micros, run, slot, temp, done)
        SELECT session, place, event_id, micros, run, slot, temp, done FROM adkw_tail;
    DROP TABLE adkw_tail; UPDATE adkw_meta SET value = '3' WHERE key = 'version';";

#[tokio::test]
async fn files_of_earlier_formats_are_upgraded() {
    let all = [
        FORMAT_9, FORMAT_8, FORMAT_7, FORMAT_6, FORMAT_5, FORMAT_4, FORMAT_3,
    ];
    for to in (1..=all.len()).map(|steps| all[..steps].concat()) {
        let folder = Folder::new();
        let file = || rusqlite::Connection::open(folder.file()).unwrap();
        upgrades::upgraded_lists(&folder, async || file().execute_batch(&to).unwrap()).await;
    }
    // The first four changes keep all columns that the runs of this test need, so the test begins
    // with five changes.
    for to in (5..=all.len()).map(|steps| all[..steps].concat()) {
        for is_answered in [false, true] {
            let folder = Folder::new();
            let earlier = async || {
                rusqlite::Connection::open(folder.file())
                    .unwrap()
                    .execute_batch(&to)
                    .unwrap();
            };
            upgrades::earlier_format(&folder, is_answered, earlier).await;
            keys::only_the_expected_binding_is_replaced(&folder).await;
            let file = rusqlite::Connection::open(folder.file()).unwrap();
            let sql = "SELECT value FROM adkw_meta WHERE key = 'version'";
            assert_eq!(
                file.query_row(sql, [], |row| row.get::<_, String>(0))
                    .unwrap(),
                "10"
            );
        }
    }
}
