//! The commands on a Postgres database: `tests/peers/run-postgres.sh cargo test -p adk-workflow-cli -- --ignored`.
use crate::database::Database;
use crate::support::{self, adk, fed, nobody, paused, runner};
use adk_postgres::PostgresStore;
use serde_json::json;

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn a_run_is_shown_answered_and_copied() {
    let database = Database::new().await;
    let url = &*database.url;
    adk(url, &["runs"]).refused(3, &format!("`{}` has no tables of agents", database.name));
    adk(&url.replace(&database.name, "nowhere"), &["runs"]).refused(3, "\"nowhere\" does not exist");

    let store = PostgresStore::connect(url).await.unwrap();
    assert_eq!(adk(url, &["runs", "--json"]).json(), json!([]));
    let runner = runner(&store, "desk");
    let waiting = paused(&runner, "ann", "s1").await;
    let run = waiting.run_id.to_string();
    assert_eq!(adk(url, &["runs", "--status", "unfinished", "--json"]).json()[0]["runId"], *run);
    assert_eq!(adk(url, &["waiting", "--user", "ann", "--json"]).json()[0]["id"], *waiting.id);
    let shown = adk(url, &["show", &run]).good();
    assert!(shown.contains("May this be published? A cat sat."), "{shown}");
    adk(url, &["show", &nobody().to_string()]).refused(3, "there is no run");

    adk(url, &["answer", &waiting.id, "7"]).refused(1, "is of another type");
    adk(url, &["answer", &waiting.id, r#""Publish""#]).good();
    adk(url, &["answer", &waiting.id, r#""Publish""#]).refused(1, "was answered before");
    runner.recover().await.unwrap().remove(0).result.unwrap();
    let events = adk(url, &["events", &run, "--follow"]).good();
    assert!(events.ends_with(" approval/publish\n    post = \"A cat sat.\"\n"), "{events}");

    let other = paused(&runner, "bob", "s2").await.run_id.to_string();
    assert_eq!(adk(url, &["cancel", &other, "--json"]).json()["status"], "cancelled");
    paused(&support::runner(&store, "shop"), "ann", "s1").await;
    adk(url, &["runs"]).refused(2, "the store has 2 apps: `desk`, `shop`");
    let exported = adk(url, &["export", "ann", "s1", "--app", "desk"]).good();
    // Into a database that has no tables yet.
    let fresh = Database::new().await;
    fed(&fresh.url, &["import", "ann", "s1", "--app", "desk"], &exported).good();
    assert_eq!(adk(&fresh.url, &["export", "ann", "s1"]).good(), exported);
}
