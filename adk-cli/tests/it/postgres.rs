//! The commands with a Postgres database: `tests/peers/run-postgres.sh cargo test -p
//! adk-workflow-cli -- --ignored`.
use crate::database::Database;
use crate::support::{self, adk, adk_with_input, pause_run, runner, unknown_run};
use adk_postgres::PostgresStore;
use serde_json::json;

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn commands_show_answer_and_copy_a_run() {
    let database = Database::new().await;
    let url = &*database.url;
    adk(url, &["runs"]).assert_error(3, &format!("`{}` has no tables of agents", database.name));
    adk(&url.replace(&database.name, "nowhere"), &["runs"])
        .assert_error(3, "\"nowhere\" does not exist");

    let store = PostgresStore::connect(url).await.unwrap();
    assert_eq!(adk(url, &["runs", "--json"]).json(), json!([]));
    let runner = runner(&store, "desk");
    let waiting = pause_run(&runner, "ann", "s1").await;
    let run = waiting.run_id.to_string();
    assert_eq!(
        adk(url, &["runs", "--status", "unfinished", "--json"]).json()[0]["run"],
        *run
    );
    assert_eq!(
        adk(url, &["waiting", "--user", "ann", "--json"]).json()[0]["id"],
        *waiting.id
    );
    let shown = adk(url, &["show", &run]).success_text();
    assert!(
        shown.contains("May this be published? A cat sat."),
        "{shown}"
    );
    adk(url, &["show", &unknown_run().to_string()]).assert_error(3, "does not exist");

    adk(url, &["answer", &waiting.id, "7"]).assert_error(1, "is of another type");
    adk(url, &["answer", &waiting.id, r#""Publish""#]).success_text();
    adk(url, &["answer", &waiting.id, r#""Publish""#]).assert_error(1, "was answered before");
    runner.recover().await.unwrap().remove(0).result.unwrap();
    let events = adk(url, &["events", &run, "--follow"]).success_text();
    assert!(
        events.ends_with(" approval/publish\n    post = \"A cat sat.\"\n"),
        "{events}"
    );

    let other = pause_run(&runner, "bob", "s2").await.run_id.to_string();
    assert_eq!(
        adk(url, &["cancel", &other, "--json"]).json()["status"],
        "cancelled"
    );
    pause_run(&support::runner(&store, "shop"), "ann", "s1").await;
    adk(url, &["runs"]).assert_error(2, "the store has 2 apps: `desk`, `shop`");
    let exported = adk(url, &["export", "ann", "s1", "--app", "desk"]).success_text();
    // The database has no tables yet; `import` creates them.
    let fresh = Database::new().await;
    adk_with_input(
        &fresh.url,
        &["import", "ann", "s1", "--app", "desk"],
        &exported,
    )
    .success_text();
    assert_eq!(
        adk(&fresh.url, &["export", "ann", "s1"]).success_text(),
        exported
    );
}
