//! Runs that wait in a database: dead processes, earlier formats, and the cost of queries.

use crate::support::Database;
use adk_build::engine::{Answerer, RunFilter, RunRegistry as _, WaitRegistry as _};
use adk_store_kit::place::runner;
use adk_store_kit::{Place, keys, people, tenants, upgrades};

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn runs_of_a_dead_process_continue_for_tenants() {
    let database = Database::new().await;
    let sql = "UPDATE adkw_runs SET owner = '1-dead' WHERE status = 'running'";
    tenants::resumes_abandoned_runs(&database, async || database.execute(sql).await).await;
}

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn a_process_of_format_6_may_still_write() {
    let database = Database::new().await;
    upgrades::earlier_process(&database, async |sql| database.execute(sql).await).await;
}

/// Turns a current database into format 6, without indexes by user, status and `by`.
const FORMAT_6: &str = "
    DROP FUNCTION adkw_runs_of_6, adkw_waits_of_6 CASCADE;
    DROP INDEX adkw_runs_app, adkw_runs_of_tenants;
    ALTER TABLE adkw_runs DROP COLUMN user_id;
    ALTER TABLE adkw_waits DROP COLUMN user_id, DROP COLUMN answered_by;
    CREATE INDEX adkw_waits_app ON adkw_waits (app, number) WHERE answer IS NULL;
    CREATE INDEX adkw_runs_unfinished ON adkw_runs (app, id)
        WHERE status IN ('queued', 'running', 'paused', 'answered');
    CREATE INDEX adkw_runs_failed ON adkw_runs (app, id) WHERE status = 'failed';
    CREATE INDEX adkw_runs_cancelled ON adkw_runs (app, id) WHERE status = 'cancelled';
    UPDATE adkw_meta SET value = '6' WHERE key = 'version';";

/// Turns a database of format 6 into format 5, without tenants and without idempotency keys.
const FORMAT_5: &str = "
    DROP TABLE adkw_keys; DROP INDEX adkw_waits_app;
    ALTER TABLE adkw_runs DROP COLUMN tenant_of; ALTER TABLE adkw_waits DROP COLUMN tenant_of;
    UPDATE adkw_meta SET value = '5' WHERE key = 'version';";

/// Turns a database of format 5 into format 4, whose indexes do not end a limited search, and in
/// which finished agents have rows of their own.
const FORMAT_4: &str = "
    INSERT INTO adkw_done (run, path, done)
        SELECT l.run, d ->> 'path', d::text FROM adkw_log l, json_array_elements(l.done::json) d
        WHERE l.done IS NOT NULL;
    ALTER TABLE adkw_log DROP COLUMN done;
    ALTER TABLE adkw_waits DROP COLUMN session;
    DROP INDEX adkw_waits_open, adkw_runs_cancelled, adkw_runs_driven, adkw_runs_session;
    CREATE INDEX adkw_runs_driven ON adkw_runs (owner) WHERE owner IS NOT NULL;
    CREATE INDEX adkw_runs_session ON adkw_runs (session);
    UPDATE adkw_meta SET value = '4' WHERE key = 'version';";

/// Turns a database of format 4 into format 3, without memory.
const FORMAT_3: &str = "
    DROP TABLE adkw_memory, adkw_memory_marks;
    UPDATE adkw_meta SET value = '3' WHERE key = 'version';";

/// Turns a database of format 3 into format 2, without times and usage of runs.
const FORMAT_2: &str = "
    ALTER TABLE adkw_runs DROP COLUMN created, DROP COLUMN updated, DROP COLUMN usage;
    UPDATE adkw_meta SET value = '2' WHERE key = 'version';";

/// Turns a database of format 2 into format 1, with fewer columns for runs and waits, and without
/// artifacts.
const FORMAT_1: &str = "
    DROP TABLE adkw_artifacts; DROP INDEX adkw_runs_driven; DROP INDEX adkw_runs_failed;
    UPDATE adkw_runs SET status = 'paused' WHERE status = 'answered';
    ALTER TABLE adkw_runs DROP COLUMN app, DROP COLUMN workflow;
    ALTER TABLE adkw_waits DROP COLUMN app, DROP COLUMN deadline;
    CREATE INDEX adkw_runs_open ON adkw_runs (id) WHERE status IN ('running', 'paused');
    UPDATE adkw_meta SET value = '1' WHERE key = 'version';";

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn databases_of_earlier_formats_are_upgraded() {
    let all = [FORMAT_6, FORMAT_5, FORMAT_4, FORMAT_3, FORMAT_2, FORMAT_1];
    for to in (1..=all.len()).map(|steps| all[..steps].concat()) {
        let database = Database::new().await;
        upgrades::upgraded_lists(&database, async || database.execute(&to).await).await;
    }
    // The first four changes keep all columns that the runs of this test need, so the test begins
    // with five changes.
    for to in (5..=all.len()).map(|steps| all[..steps].concat()) {
        for is_answered in [false, true] {
            let database = Database::new().await;
            let earlier = async || database.execute(&to).await;
            upgrades::earlier_format(&database, is_answered, earlier).await;
            keys::only_the_expected_binding_is_replaced(&database).await;
        }
    }
}

/// The queries for an answer, for a watch and for pages use indexes. The server counts the rows
/// that it reads.
#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn queries_use_indexes() {
    let database = Database::new().await;
    let waiting = people::pause(&database, people::two).await;
    // Add 20,000 further waits of tenants, each with a deadline.
    let (run, many) = (waiting[0].run_id, "generate_series(1, 20000)");
    database
        .execute(&format!(
            "INSERT INTO adkw_runs (id, session, status, owner, epoch, record, app, workflow,
                    tenant_of)
                SELECT 'e-' || gen_random_uuid(), r.session, r.status, NULL, 1, r.record, r.app,
                    r.workflow, 'lord'
                FROM adkw_runs r, {many} WHERE r.id = '{run}';
             INSERT INTO adkw_waits (id, run, key, waiting, app, deadline, session, tenant_of)
                SELECT r.id || '/w/q/a:await@0', r.id, 'w/q/a:await@0', w.waiting, w.app,
                    4000000000000000, r.session, 'lord'
                FROM adkw_runs r, (SELECT * FROM adkw_waits LIMIT 1) w WHERE r.id <> '{run}';
             ANALYZE"
        ))
        .await;
    let read = async || -> i64 {
        let sql = "SELECT coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0)::bigint
            FROM pg_stat_user_tables
            WHERE relname IN ('adkw_runs', 'adkw_waits', 'adkw_steps', 'adkw_sessions',
                'sessions')";
        sqlx::query_scalar(sql)
            .fetch_one(&mut database.connect().await)
            .await
            .unwrap()
    };
    let before = read().await;
    let store = Place::open(&database).await;
    let runner = runner(&store);
    for wait in &waiting {
        runner.answer(&wait.id, true).await.unwrap();
    }
    assert_eq!(runner.runs(&RunFilter::ready()).await.unwrap().len(), 1);
    assert_eq!(runner.runs(&RunFilter::of_run(run)).await.unwrap().len(), 1);
    assert!(runner.runs(&RunFilter::failed()).await.unwrap().is_empty());
    let newest = runner.runs(&RunFilter::any().limit(10)).await.unwrap();
    assert_eq!(newest.len(), 10);
    let page = runner
        .runs(&RunFilter::any().after(newest[9].run_id).limit(10))
        .await
        .unwrap();
    assert!(page.len() == 10 && page[0].run_id < newest[9].run_id);
    for filter in [
        RunFilter::any(),
        RunFilter::unfinished(),
        RunFilter::failed(),
    ] {
        for filter in [filter.clone().user("u"), filter.user("nobody")] {
            let page = runner.runs(&filter.clone().limit(10)).await.unwrap();
            assert!(page.len() == 10 || page.is_empty(), "{filter:?}");
            let after = filter.after(newest[9].run_id).limit(10);
            runner.runs(&after).await.unwrap();
        }
    }
    let of_user = RunFilter::unfinished().user("u").limit(10);
    assert_eq!(runner.waiting_of(&of_user).await.unwrap().len(), 10);
    let staff = RunFilter::unfinished().answerer(&Answerer::user("bob").role("staff"));
    assert!(runner.waiting_of(&staff).await.unwrap().is_empty());
    for query in [
        store.due("app", 1, 100),
        store.due_of_tenants("lord", 1, 100),
    ] {
        let due = query.await.unwrap();
        assert!(due.waits.is_empty() && due.next == Some(4_000_000_000_000_000));
    }
    assert!(
        store
            .runs_of_tenants("lord", &RunFilter::ready())
            .await
            .unwrap()
            .is_empty()
    );
    runner.resume(&people::two(), run).await.unwrap();
    // A connection reports its statistics when it ends.
    store.shut_down().await.unwrap();
    assert!(
        read().await - before < 1_000,
        "{} rows",
        read().await - before
    );
}
