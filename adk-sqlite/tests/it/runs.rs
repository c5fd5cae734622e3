//! Runs in the tables of [`SqliteStore`].

use crate::support::Folder;
use adk_build::{Flow, Secret};
use adk_sqlite::SqliteStore;
use adk_store_kit::place::runner;
use adk_store_kit::trees::{Tree, by, run, say};
use rusqlite::Connection;

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
