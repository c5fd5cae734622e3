//! Tests that SQLite finds listed runs and waits by an index, at a cost that does not grow with the
//! store.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use crate::owner::Owner;
use crate::runs::runs;
use crate::sessions::{list, list_sql};
use crate::statements::{DIALECT, Statements};
use adk_journal::engine::{Answerer, RunFilter, RunState};
use adk_journal::session::SessionKey;
use adk_model::RunId;
use adk_store::lists::{Group, Whose, owners_query, runs_query};
use adk_store::waits::{OPEN_WAIT, due, due_sql, waiting, waiting_query};
use adk_store::{Sql, complete};
use rusqlite::{Connection, StatementStatus};
use std::collections::HashSet;

fn text(sql: Sql) -> String {
    sql.text(DIALECT.mark).into_owned()
}

fn runs_sql(group: Group, whose: Whose, filter: &RunFilter) -> String {
    let query = runs_query(DIALECT, &group, (whose, "app"), filter);
    query.text().to_owned()
}

fn waiting_sql(filter: &RunFilter) -> String {
    let by = filter.answered_by.iter().map(|_| String::new());
    let by: Vec<_> = by.collect();
    let query = waiting_query(DIALECT, "app", filter, &by);
    query.text().to_owned()
}

fn dead() -> Group {
    Group::OwnedBy("1-dead".to_owned())
}

fn plan(connection: &Connection, sql: &str) -> Vec<String> {
    let mut statement = connection
        .prepare(&format!("EXPLAIN QUERY PLAN {sql}"))
        .unwrap();
    let mut rows = statement.raw_query();
    let mut steps = Vec::new();
    while let Some(row) = rows.next().unwrap() {
        steps.push(row.get::<_, String>(3).unwrap());
    }
    steps
}

#[test]
fn queries_use_indexes() {
    let connection = Connection::open_in_memory().unwrap();
    crate::schema::prepare(&connection).unwrap();
    let run: RunId = "e-01890000-0000-7000-8000-000000000000".parse().unwrap();
    let of_run = RunFilter::of_run(run);
    let ready = RunFilter::ready()
        .oldest_first()
        .workflows(["w"])
        .after(run);
    let of_app = |group, filter: &RunFilter| runs_sql(group, Whose::App, filter);
    let (free, of_dead) = (of_app(Group::Free, &ready), of_app(dead(), &ready));
    let of_tenants = |group| runs_sql(group, Whose::Tenants, &ready);
    let failed = of_app(Group::All, &RunFilter::failed());
    let page = of_app(Group::All, &RunFilter::any().after(run));
    let one = SessionKey::new("app", "u", "s");
    let of_session = of_app(Group::All, &RunFilter::failed().session(&one).after(run));
    let session = waiting_sql(&RunFilter::unfinished().session(&one));
    let user = waiting_sql(&RunFilter::unfinished().user("u"));
    let others = waiting_sql(&RunFilter::unfinished().answerer(&Answerer::user("u")));
    let waits = plan(&connection, &waiting_sql(&RunFilter::unfinished()));
    assert!(waits[0].ends_with("adkw_waits_open (app=?)"), "{waits:#?}");
    assert!(
        waits.iter().all(|step| !step.contains("TEMP B-TREE")),
        "all are sorted: {waits:#?}"
    );
    for (sql, first) in [
        (waiting_sql(&of_run), "adkw_waits_run (run=?)"),
        (user, "adkw_waits_user (app=? AND user_id=?)"),
        (others, "adkw_waits_answered_by (app=? AND answered_by=?)"),
        (session, "adkw_waits_session (session=?)"),
        (page, "adkw_runs_app (app=? AND status=? AND id<?)"),
        (free, "adkw_runs_free (app=? AND id>?)"),
        (of_dead, "adkw_runs_driven (owner=? AND app=? AND id>?)"),
        (
            of_tenants(Group::Free),
            "adkw_runs_tenants (owner=? AND tenant_of=? AND id>?)",
        ),
        (
            of_tenants(dead()),
            "adkw_runs_tenants (owner=? AND tenant_of=? AND id>?)",
        ),
        (
            runs_sql(
                Group::All,
                Whose::Tenants,
                &RunFilter::any().oldest_first().after(run),
            ),
            "adkw_runs_of_tenants (tenant_of=? AND id>?)",
        ),
        (failed, "adkw_runs_app (app=? AND status=?)"),
        (of_session, "adkw_runs_session (session=? AND id<?)"),
        (text(OPEN_WAIT), "(id=?)"),
        (
            text(due_sql(Whose::App)),
            "adkw_waits_due (app=? AND deadline>?)",
        ),
        (
            text(due_sql(Whose::Tenants)),
            "adkw_waits_tenants (tenant_of=? AND deadline>?)",
        ),
    ] {
        let steps = plan(&connection, &sql);
        assert!(
            steps
                .iter()
                .all(|step| !step.starts_with("SCAN ") || step.contains("json_each")),
            "{sql}: {steps:#?}"
        );
        assert!(
            steps
                .iter()
                .any(|step| step.starts_with("SEARCH ") && step.contains(first)),
            "{sql}: {steps:#?}"
        );
    }
}

#[test]
fn runs_of_each_state_are_in_the_order_of_an_index() {
    let connection = Connection::open_in_memory().unwrap();
    crate::schema::prepare(&connection).unwrap();
    let run: RunId = "e-01890000-0000-7000-8000-000000000000".parse().unwrap();
    for state in [
        RunState::Unfinished,
        RunState::Finished,
        RunState::Failed,
        RunState::Cancelled,
        RunState::Queued,
        RunState::Running,
        RunState::Paused,
        RunState::Any,
    ] {
        let mut filter = RunFilter::any().after(run);
        filter.state = state;
        for (filter, index) in [
            (
                filter.clone(),
                "adkw_runs_app (app=? AND status=? AND id<?)",
            ),
            (
                filter.clone().user("u").limit(1),
                "adkw_runs_user (app=? AND user_id=? AND status=? AND id<?)",
            ),
            (
                filter.user("u").oldest_first(),
                "adkw_runs_user (app=? AND user_id=? AND status=? AND id>?)",
            ),
        ] {
            let steps = plan(&connection, &runs_sql(Group::All, Whose::App, &filter));
            let is_indexed =
                |step: &String| !step.starts_with("SEARCH r ") || step.ends_with(index);
            assert!(
                steps.iter().all(|step| is_indexed(step)
                    && !step.contains("TEMP B-TREE")
                    && !step.starts_with("SCAN ")),
                "{filter:?}: {steps:#?}"
            );
        }
    }
}

/// Returns a database with `many` runs of each of these kinds: finished, free, driven by a dead
/// process, and waiting. It also has `many` runs of tenants of each of the last three kinds, and
/// before them three runs of a user `w` with two waits that others may answer.
fn database(many: u64) -> Connection {
    let connection = Connection::open_in_memory().unwrap();
    connection.execute_batch("PRAGMA foreign_keys=OFF").unwrap();
    crate::schema::prepare(&connection).unwrap();
    let id = "printf('e-01890000-0000-7000-8000-%012d', i)";
    let waiting = format!("json_object('id', 'w' || i, 'run_id', {id}, 'path', 'w/a')");
    let sql = format!(
        "INSERT INTO adkw_sessions VALUES (1, 'app', 'u', 's'), (2, 'app', 'v', 't'),
            (3, 'app', 'w', 'r');
        INSERT INTO adkw_runs (id, session, status, record, app, workflow, user_id)
            SELECT 'e-01880000-0000-7000-8000-00000000000' || key, 3, value, '{{}}', 'app', 'w', 'w'
            FROM json_each('[\"finished\", \"failed\", \"paused\"]');
        INSERT INTO adkw_waits (id, run, key, waiting, app, session, user_id, answered_by)
            SELECT 'o' || key, 'e-01880000-0000-7000-8000-000000000002', 'k',
                json_object('id', 'o' || key, 'run_id', 'e-01880000-0000-7000-8000-000000000002',
                    'path', 'w/a', 'by', json(value)), 'app', 3, 'w', value
            FROM json_each('[\"\\\"other\\\"\", \"{{\\\"role\\\":\\\"staff\\\"}}\"]');
        CREATE TABLE n AS WITH RECURSIVE n (i) AS (
                SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < 7 * {many})
            SELECT i FROM n;
        INSERT INTO adkw_sessions SELECT i, 't' || i, 'u', 's' FROM n WHERE i % 7 > 3;
        INSERT INTO sessions SELECT 'app', 'u', 'other/' || i, '{{}}',
            '2026-01-01 00:00:00', '2026-01-01 00:00:00' FROM n;
        INSERT INTO sessions VALUES
            ('app', 'u', 'own/1', '{{}}', '2026-01-01 00:00:00', '2026-01-01 00:00:00');
        INSERT INTO adkw_runs (id, session, status, owner, record, app, workflow, tenant_of,
                user_id)
            SELECT {id}, iif(i % 7 > 3, i, 1 + (i % 7 = 0)),
                iif(i % 7 = 0, 'finished', iif(i % 7 IN (3, 6), 'paused', 'running')),
                iif(i % 7 IN (2, 5), '1-dead', NULL), '{{}}', iif(i % 7 > 3, 't' || i, 'app'), 'w',
                iif(i % 7 > 3, 'app', NULL), iif(i % 7 = 0, 'v', 'u') FROM n;
        INSERT INTO adkw_waits (id, run, key, waiting, app, deadline, session, tenant_of,
                user_id, answered_by)
            SELECT 'w' || i, {id}, 'k', {waiting}, iif(i % 7 > 3, 't' || i, 'app'), 9,
                iif(i % 7 > 3, i, 1), iif(i % 7 > 3, 'app', NULL), 'u', '{{\"role\":\"boss\"}}'
                FROM n WHERE i % 7 IN (3, 6)"
    );
    connection.execute_batch(&sql).unwrap();
    connection
}

/// The name of a list, and the number of steps that SQLite took for it.
type Cost = (&'static str, i32);

/// A database whose lists are measured.
struct Measured {
    connection: Connection,
    owner: Owner,
}

impl Measured {
    /// Opens a database with `many` runs of each kind.
    fn open(many: u64) -> Self {
        let file = std::env::temp_dir().join(format!("adk-sqlite-journal-{many}"));
        Self {
            connection: database(many),
            owner: Owner::new(&file).unwrap(),
        }
    }

    /// Returns the number of steps that SQLite has taken for queries so far.
    fn taken(&self, sqls: &[String]) -> i32 {
        let steps_of = |sql: &String| {
            let statement = self.connection.prepare_cached(sql).unwrap();
            statement.get_status(StatementStatus::VmStep)
        };
        sqls.iter().map(steps_of).sum()
    }

    /// Measures a list that executes these queries.
    fn list(
        &self,
        what: &'static str,
        sqls: &[String],
        list: impl Fn() -> usize,
        len: usize,
    ) -> Cost {
        let before = self.taken(sqls);
        assert_eq!(list(), len, "{what}");
        (what, self.taken(sqls) - before)
    }

    /// Measures a list of runs.
    fn runs(&self, what: &'static str, whose: Whose, filter: &RunFilter, len: usize) -> Cost {
        let mut sqls = vec![runs_sql(Group::All, whose, filter)];
        if filter.state == RunState::Ready {
            sqls = [Group::Free, dead()]
                .map(|part| runs_sql(part, whose, filter))
                .to_vec();
            sqls.push(owners_query(DIALECT, "").text().to_owned());
        }
        let known = HashSet::new();
        let list = || {
            let runs = runs(
                &self.connection,
                (whose, "app"),
                filter,
                &self.owner,
                &known,
            );
            runs.unwrap().len()
        };
        self.list(what, &sqls, list, len)
    }

    /// Measures a list of open waits.
    fn waits(&self, what: &'static str, filter: &RunFilter, len: usize) -> Cost {
        let list = || {
            let connection = &mut Statements(&self.connection);
            complete(waiting(connection, "app", filter)).unwrap().len()
        };
        self.list(what, &[waiting_sql(filter)], list, len)
    }

    /// Measures the list of the sessions whose ids begin with `own/`.
    fn sessions(&self, what: &'static str, user: Option<&str>) -> Cost {
        let sqls = [list_sql(user.is_some()).to_owned()];
        let list = || list(&self.connection, "app", user, "own/").unwrap().len();
        self.list(what, &sqls, list, 1)
    }

    /// Measures a list of waits whose deadline is over at a time.
    fn due(&self, whose: Whose, now: u64, len: usize) -> Cost {
        let list = || {
            let connection = &mut Statements(&self.connection);
            let due = due(connection, (whose, "app"), now, 20);
            complete(due).unwrap().waits.len()
        };
        let sqls = [Whose::App, Whose::Tenants].map(|whose| text(due_sql(whose)));
        self.list("deadlines", &sqls, list, len)
    }
}

/// Returns SQLite's step counts for each list.
fn steps(many: u64) -> Vec<Cost> {
    let lists = Measured::open(many);
    let any = || RunFilter::any().limit(20);
    let ready = RunFilter::ready().oldest_first().limit(20);
    let one = SessionKey::new("app", "u", "s");
    let two = SessionKey::new("app", "v", "t");
    let (app, open) = (Whose::App, RunFilter::unfinished);
    let (failed, mut paused) = (RunFilter::failed().limit(20), any());
    paused.state = RunState::Paused;
    let staff = Answerer::user("x").role("staff");
    let page = "e-01890000-0000-7000-8000-000000000210".parse().unwrap();
    vec![
        lists.runs("the newest runs", app, &any(), 20),
        lists.runs(
            "the newest runs of a session",
            app,
            &any().session(&one),
            20,
        ),
        lists.runs("runs of a user with few", app, &any().user("w"), 3),
        lists.runs("runs of a user with many", app, &any().user("u"), 20),
        lists.runs("a page", app, &any().user("u").after(page), 20),
        lists.runs("runs of nobody", app, &any().user("x"), 0),
        lists.runs("finished runs", app, &RunFilter::finished().limit(20), 20),
        lists.runs("failed runs of a user", app, &failed.clone().user("w"), 1),
        lists.runs("paused runs of a user", app, &paused.user("v"), 0),
        lists.runs("ready runs", app, &ready, 20),
        lists.runs("ready runs of tenants", Whose::Tenants, &ready, 20),
        lists.runs("all runs of tenants", Whose::Tenants, &any(), 20),
        lists.runs("failed runs", app, &failed, 1),
        lists.runs("cancelled runs", app, &RunFilter::cancelled().limit(20), 0),
        lists.waits("waits", &RunFilter::unfinished().limit(20), 20),
        lists.waits("waits of a user", &open().user("u").limit(20), 20),
        lists.waits("waits of a user with few", &open().user("w"), 2),
        lists.waits("waits of a role", &open().answerer(&staff), 2),
        lists.waits("waits of other", &open().answerer(&Answerer::user("x")), 1),
        lists.waits("waits of w", &open().answerer(&Answerer::user("w")), 2),
        lists.waits(
            "waits of a session without any",
            &RunFilter::unfinished().session(&two),
            0,
        ),
        lists.sessions("sessions of a user", Some("u")),
        lists.due(app, 0, 0),
        lists.due(app, 9, 20),
        lists.due(Whose::Tenants, 0, 0),
        lists.due(Whose::Tenants, 9, 20),
    ]
}

#[test]
fn a_list_costs_the_same_in_a_large_store() {
    let (small, large) = (steps(50), steps(5_000));
    assert!(
        small.iter().map(|(_, steps)| steps).sum::<i32>() > 1_000,
        "{small:?}"
    );
    assert_eq!(small, large);
}
