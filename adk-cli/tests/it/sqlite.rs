//! The commands with a SQLite file that real runs of a workflow have written.
use crate::support::{
    Folder, adk, adk_with_input, command, pause_run, run_program, runner, unknown_run,
};
use adk::ErrorKind;
use adk::engine::RunFilter;
use adk::prelude::*;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Stdio;
use tokio::sync::Semaphore;

/// Splits each line of a text into words.
fn words(text: &str) -> Vec<Vec<&str>> {
    text.lines()
        .map(|line| line.split_whitespace().collect())
        .collect()
}

#[tokio::test]
async fn runs_are_listed_by_status_user_and_number() {
    let (folder, waiting) = Folder::with_wait().await;
    let store = folder.store();
    let run = waiting.run_id.to_string();
    let other = {
        let runner = runner(&folder.open().await, "desk");
        let other = pause_run(&runner, "bob", "s2").await;
        runner.cancel(other.run_id).await.unwrap();
        other.run_id.to_string()
    };
    let all = adk(&store, &["runs"]).success_text();
    let all = words(&all);
    assert_eq!(
        all[0],
        [
            "RUN", "WORKFLOW", "STATUS", "AGE", "TOKENS", "USER", "SESSION"
        ]
    );
    assert_eq!(all[1][..3], [&*other, "approval", "cancelled"]);
    assert_eq!(all[2][..3], [&*run, "approval", "paused"]);
    assert_eq!(all[2][4..], ["16", "ann", "s1"]);
    let ids = |args: &[&str]| -> Vec<String> {
        let runs = adk(&store, &[&["runs", "--json"], args].concat()).json();
        let runs = runs.as_array().unwrap().iter();
        runs.map(|run| run["run"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(ids(&["--status", "unfinished"]), [&*run]);
    assert_eq!(ids(&["--status", "cancelled"]), [&*other]);
    assert_eq!(ids(&["--user", "bob"]), [&*other]);
    for status in ["ready", "finished", "failed"] {
        assert!(ids(&["--status", status]).is_empty(), "{status}");
    }
    let limited = adk(&store, &["runs", "--limit", "1"]);
    assert!(
        limited.out.contains(&other) && !limited.out.contains(&run),
        "{limited:?}"
    );
    assert_eq!(
        limited.err,
        "note: more runs exist; a higher `--limit` lists them\n"
    );
    adk(&store, &["runs", "--status", "lost"]).assert_error(2, "invalid value 'lost'");
}

#[tokio::test]
async fn the_json_of_a_run_has_the_documented_names() {
    let (folder, waiting) = Folder::with_wait().await;
    let run = waiting.run_id.to_string();
    let shown = adk(&folder.store(), &["show", &run, "--json"]).json();
    let names: Vec<&str> = shown
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    let run_names = [
        "run", "app", "user", "session", "workflow", "status", "isReady", "created", "updated",
        "usage",
    ];
    assert_eq!(
        names,
        [&run_names[..], &["waiting", "steps", "state"]].concat()
    );
    assert_eq!(
        shown["usage"],
        json!({"promptTokenCount": 12, "candidatesTokenCount": 4, "calls": 1})
    );
    assert_eq!(shown["state"]["draft"], "A cat sat.");
    let steps: Vec<_> = shown["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| &step["path"])
        .collect();
    assert_eq!(steps, ["approval", "approval/writer"]);
    let wait = &shown["waiting"][0];
    assert_eq!(
        wait,
        &adk(&folder.store(), &["waiting", "--json"]).json()[0]
    );
    let names: Vec<&str> = wait
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(
        names,
        [
            "id", "run", "user", "session", "path", "question", "schema", "deadline"
        ]
    );
    assert_eq!(wait["id"], *waiting.id);
    assert_eq!(wait["question"], "May this be published? A cat sat.");
    // The deadline is 72 hours after the question.
    let left = wait["deadline"].as_f64().unwrap() - shown["created"].as_f64().unwrap();
    assert!((259_200.0..259_260.0).contains(&left), "{left}");
}

/// Semaphores by which each branch waits for the other, so that their events interleave.
static LEFT: Semaphore = Semaphore::const_new(0);
static RIGHT: Semaphore = Semaphore::const_new(0);

#[agent]
async fn waits_for_right() -> Result<()> {
    LEFT.add_permits(1);
    RIGHT
        .acquire()
        .await
        .map(|permit| permit.forget())
        .map_err(Error::other)
}

#[agent]
async fn waits_for_left() -> Result<()> {
    LEFT.acquire()
        .await
        .map(|permit| permit.forget())
        .map_err(Error::other)
}

#[agent]
fn releases_left() {
    RIGHT.add_permits(1);
}

#[agent(writes = left)]
fn writes_left() -> u32 {
    1
}

#[agent(writes = right)]
fn writes_right() -> u32 {
    2
}

#[agent(writes = last)]
fn writes_last() -> u32 {
    3
}

workflow! {
    /// The branches interleave their events in the log.
    pub Branches() -> last: u32 {
        parallel <
            a: < writes_left; waits_for_right; writes_last >;
            b: < waits_for_left; writes_right; releases_left >
        >
    }
}

#[tokio::test]
async fn steps_are_printed_below_their_block() {
    let folder = Folder::new();
    let store = folder.open().await;
    let runner = Runner::builder().store(store).build().unwrap();
    let run = runner
        .session("ann", "s1")
        .run(&Branches::default(), ())
        .await
        .unwrap()
        .run_id
        .to_string();
    let events = adk(&folder.store(), &["events", &run, "--json"]).json();
    let emitted: Vec<_> = events
        .as_array()
        .unwrap()
        .iter()
        .map(|event| &event["author"])
        .collect();
    assert_eq!(
        emitted,
        ["user", "writes_left", "writes_right", "writes_last"]
    );
    let shown = adk(&folder.store(), &["show", &run]).success_text();
    let wanted = "\
branches            1
  parallel_1        0
    a               0
      writes_left   1       left = 1
      writes_last   1       last = 3
    b               0
      writes_right  1       right = 2
";
    assert!(shown.contains(wanted), "{shown}");
}

#[tokio::test]
async fn an_answer_must_fit_the_schema_and_is_accepted_once() {
    let (folder, waiting) = Folder::with_wait().await;
    let (store, wait) = (folder.store(), &*waiting.id);
    let listed = adk(&store, &["waiting"]).success_text();
    assert_eq!(words(&listed)[0], ["WAIT", "USER", "UNTIL", "QUESTION"]);
    assert!(
        listed.contains(wait) && listed.ends_with("May this be published? A cat sat.\n"),
        "{listed}"
    );
    assert_eq!(
        adk(&store, &["waiting", "--user", "bob", "--json"]).json(),
        json!([])
    );

    adk(&store, &["answer", wait, "yes"]).assert_error(2, "write quotes around a text");
    adk(&store, &["answer", wait, "7"]).assert_error(1, "is of another type: ");
    adk(&store, &["answer", wait, r#"{"Revise": {}}"#]).assert_error(1, "the wait is still open");
    adk(&store, &["answer", "nobody", "7"])
        .assert_error(3, "no open wait has the id `nobody`; help: `adk waiting`");
    let answered = adk(&store, &["answer", wait, r#""Publish""#]).success_text();
    assert_eq!(
        answered,
        "answered: the program that resumes the run continues it\n"
    );
    adk(&store, &["answer", wait, r#""Publish""#]).assert_error(1, "was answered before");
    let ready = adk(&store, &["runs", "--status", "ready"]).success_text();
    assert!(ready.contains("paused, ready"), "{ready}");

    let runner = runner(&folder.open().await, "desk");
    assert!(
        runner
            .recover()
            .await
            .unwrap()
            .remove(0)
            .result
            .unwrap()
            .is_empty()
    );
    let run = waiting.run_id.to_string();
    let shown = adk(&store, &["show", &run]).success_text();
    let shown = words(&shown);
    assert!(shown.contains(&vec!["status", "finished"]), "{shown:?}");
    assert!(
        shown.contains(&vec![
            "publish", "1", "post", "=", r#""A"#, "cat", r#"sat.""#
        ]),
        "{shown:?}"
    );
    assert!(
        shown.contains(&vec!["post", r#""A"#, "cat", r#"sat.""#]),
        "{shown:?}"
    );
    adk(&store, &["cancel", &run]).assert_error(1, "it has ended (finished)");
}

#[tokio::test]
async fn a_failed_run_shows_its_error() {
    let (folder, waiting) = Folder::with_wait().await;
    let (store, run) = (folder.store(), waiting.run_id.to_string());
    let answer = r#"{"Revise": {"note": "shorter"}}"#;
    let answered = adk(&store, &["answer", &waiting.id, answer, "--json"]).json();
    assert_eq!(
        answered,
        json!({"id": &*waiting.id, "answer": {"Revise": {"note": "shorter"}}})
    );
    runner(&folder.open().await, "desk")
        .recover()
        .await
        .unwrap()
        .remove(0)
        .result
        .unwrap_err();
    let failed = adk(&store, &["runs", "--status", "failed", "--json"]).json();
    let error = json!({
        "kind": "agent",
        "message": "no writer can make it shorter",
        "path": "approval/publish",
    });
    assert_eq!(failed[0]["error"], error);
    assert_eq!(failed[0]["ended"], failed[0]["updated"]);
    let text = "agent `publish` (at approval/publish): no writer can make it shorter";
    let shown = adk(&store, &["show", &run]).success_text();
    assert!(shown.contains(text), "{shown}");
    // An older version stored the text, and the cost as a number of the smallest amounts.
    let usage = r#"{"promptTokenCount":12,"candidatesTokenCount":4,"cost":181200000}"#;
    let rows = rusqlite::Connection::open(&store).unwrap().execute(
        "UPDATE adkw_runs SET error = ?1, usage = ?2 WHERE id = ?3",
        [text, usage, &run],
    );
    assert_eq!(rows, Ok(1));
    let old = adk(&store, &["show", &run, "--json"]).json();
    assert_eq!(old["error"], json!({"kind": "failed", "message": text}));
    assert_eq!(
        old["usage"]["cost"],
        json!({"amount": "0.0001812", "currency": "USD"})
    );
    let shown = adk(&store, &["show", &run]).success_text();
    assert!(
        shown.contains(text) && shown.contains("cost 0.0001812 USD"),
        "{shown}"
    );
}

#[tokio::test]
async fn a_run_that_waits_is_cancelled() {
    let (folder, waiting) = Folder::with_wait().await;
    let (store, run) = (folder.store(), waiting.run_id.to_string());
    assert_eq!(
        adk(&store, &["cancel", &run]).success_text(),
        format!("run {run} is cancelled\n")
    );
    assert_eq!(
        adk(&store, &["cancel", &run, "--json"]).json()["status"],
        "cancelled"
    );
    assert_eq!(adk(&store, &["waiting", "--json"]).json(), json!([]));
}

/// Returns a line without the time at its beginning.
fn untimed(line: &str) -> &str {
    line.split_once("Z ").map_or(line, |(_, rest)| rest)
}

#[tokio::test]
async fn events_are_printed_until_the_run_waits() {
    let (folder, waiting) = Folder::with_wait().await;
    let (store, run) = (folder.store(), waiting.run_id.to_string());
    let printed = adk(&store, &["events", &run]).success_text();
    let lines: Vec<&str> = printed.lines().map(untimed).collect();
    let wanted = [
        "approval (user)",
        "    a cat",
        "    topic = \"a cat\"",
        "approval/writer",
        "    A cat sat.",
        "    draft = \"A cat sat.\"",
    ];
    assert_eq!(lines, wanted);
    assert_eq!(
        adk(&store, &["events", &run, "--follow"]).success_text(),
        printed
    );

    let all = adk(&store, &["events", &run, "--json"]).json();
    let followed = adk(&store, &["events", &run, "--json", "--follow"]).success_text();
    let followed: Vec<Value> = followed
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(all.as_array().unwrap(), &followed);
    assert_eq!(all[1]["nodeInfo"]["path"], "approval/writer");
    assert_eq!(all[1]["invocationId"], *run);
}

#[tokio::test]
async fn events_are_followed_from_one_process_to_the_end_in_another() {
    let (folder, waiting) = Folder::with_wait().await;
    let (store, run) = (folder.store(), waiting.run_id.to_string());
    adk(&store, &["answer", &waiting.id, r#""Publish""#]).success_text();
    let mut follow = command(&store, &["events", &run, "--follow"]);
    let mut follow = follow
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(follow.stdout.take().unwrap()).lines();
    let before: Vec<String> = lines.by_ref().take(6).map(Result::unwrap).collect();
    assert_eq!(before[5], "    draft = \"A cat sat.\"");
    let note = BufReader::new(follow.stderr.take().unwrap())
        .lines()
        .next()
        .unwrap()
        .unwrap();
    assert!(
        note.starts_with("note: no process drives the run"),
        "{note}"
    );

    let runner = runner(&folder.open().await, "desk");
    // `adk events` skips the events of other runs of the session.
    let other = pause_run(&runner, "ann", "s1").await;
    runner.recover().await.unwrap();
    let after: Vec<String> = lines.map(Result::unwrap).collect();
    let after: Vec<&str> = after.iter().map(|line| untimed(line)).collect();
    let wanted = [
        "approval/decision",
        "    decision = \"Publish\"",
        "approval/publish",
        "    post = \"A cat sat.\"",
    ];
    assert_eq!(after, wanted);
    assert!(follow.wait().unwrap().success());
    assert!(
        runner
            .runs(&RunFilter::unfinished())
            .await
            .unwrap()
            .iter()
            .any(|run| run.run_id == other.run_id)
    );
}

#[tokio::test]
async fn a_session_is_exported_and_imported() {
    let (folder, _) = Folder::with_wait().await;
    let store = folder.store();
    let exported = adk(&store, &["export", "ann", "s1"]).success_text();
    let head: Value = serde_json::from_str(exported.lines().next().unwrap()).unwrap();
    assert_eq!(
        head["session"],
        json!({"app": "desk", "user": "ann", "id": "s1"})
    );
    assert_eq!(exported.lines().count(), 3);

    assert_eq!(
        adk_with_input(&store, &["import", "bob", "copy"], &exported).success_text(),
        ""
    );
    let copied = adk(&store, &["export", "bob", "copy"]).success_text();
    assert_eq!(
        copied.lines().skip(1).collect::<Vec<_>>(),
        exported.lines().skip(1).collect::<Vec<_>>()
    );
    adk_with_input(&store, &["import", "bob", "copy"], &exported).assert_error(1, "bob");
    adk_with_input(
        &store,
        &["import", "bob", "broken"],
        &format!("{exported}{{\n"),
    )
    .assert_error(1, "line 4 of the import");
    adk(&store, &["export", "bob", "broken"]).assert_error(3, "desk/bob/broken");
    // `import` accepts an existing empty file.
    let fresh = folder.path().join("fresh.db");
    std::fs::write(&fresh, "").unwrap();
    let fresh = fresh.to_str().unwrap();
    adk_with_input(fresh, &["import", "ann", "s1"], &exported).success_text();
    assert_eq!(
        adk(fresh, &["export", "ann", "s1"])
            .success_text()
            .replace("\"app\":\"app\"", "\"app\":\"desk\""),
        exported
    );
}

#[tokio::test]
async fn a_store_with_several_apps_needs_the_option_app() {
    let (folder, waiting) = Folder::with_wait().await;
    let store = folder.store();
    pause_run(&runner(&folder.open().await, "shop"), "ann", "s1").await;
    adk(&store, &["runs"]).assert_error(
        2,
        "the store has 2 apps: `desk`, `shop`; help: select one with `--app`",
    );
    let run = waiting.run_id.to_string();
    assert_eq!(
        adk(&store, &["show", &run, "--app", "desk", "--json"]).json()["app"],
        "desk"
    );
    let why = format!("run `{run}` does not exist; help: `adk runs` lists the runs of the app");
    adk(&store, &["show", &run, "--app", "shop"]).assert_error(3, &why);
    adk(&store, &["runs", "--app", "user"])
        .assert_error(2, "`user` cannot be the name of an app; help: pass the app");
}

#[tokio::test]
async fn a_missing_store_or_run_is_reported_and_not_created() {
    let folder = Folder::new();
    let (missing, run) = (folder.store(), unknown_run().to_string());
    adk(&missing, &["runs"]).assert_error(3, &format!("the file `{missing}` does not exist"));
    adk_with_input(&missing, &["import", "ann", "s1"], "").assert_error(3, "does not exist");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);

    let text = folder.path().join("notes.txt");
    std::fs::write(
        &text,
        "buy milk, and do not open this as a database, which it is not",
    )
    .unwrap();
    adk(text.to_str().unwrap(), &["runs"]).assert_error(1, "file is not a database");
    let foreign = folder.path().join("foreign.db");
    rusqlite::Connection::open(&foreign)
        .unwrap()
        .execute_batch("CREATE TABLE t (x)")
        .unwrap();
    let before = std::fs::read(&foreign).unwrap();
    adk(foreign.to_str().unwrap(), &["runs"])
        .assert_error(3, "foreign.db` has no tables of agents");
    assert_eq!(std::fs::read(&foreign).unwrap(), before);

    folder.open().await;
    for command in ["show", "events", "cancel"] {
        adk(&missing, &[command, &run]).assert_error(3, &format!("run `{run}` does not exist"));
        adk(&missing, &[command, "7"]).assert_error(2, "not a run id; help: `adk runs`");
    }
    assert_eq!(adk(&missing, &["runs", "--json"]).success_text(), "[]\n");
}

#[test]
fn an_error_contains_no_password() {
    for (address, code) in [
        ("mysql://ann:sesame@host/db", 2),
        ("postgres://ann:sesame@host:port/db", 1),
        ("postgres://ann:sesame@127.0.0.1:9/db", 1),
        ("postgres://ann:sesame@127.0.0.1:9/db?sslmode=sometimes", 1),
    ] {
        let output = adk(address, &["runs"]);
        assert!(!output.err.contains("sesame"), "{output:?}");
        output.assert_error(code, "; help: ");
    }
    let help = adk("postgres://ann:sesame@host/db", &["runs", "--help"]).success_text();
    assert!(
        help.contains("ADK_STORE") && !help.contains("sesame"),
        "{help}"
    );
}

/// Runs the program with `script`, which gives it a terminal.
#[tokio::test]
#[cfg(target_os = "linux")]
async fn only_terminals_get_colours() {
    let (folder, _) = Folder::with_wait().await;
    let shown = |variables: &[(&str, &str)]| {
        let mut script = std::process::Command::new("script");
        script
            .args(["--quiet", "--return", "--command"])
            .arg(format!("{} runs", env!("CARGO_BIN_EXE_adk")));
        script
            .arg("/dev/null")
            .env("ADK_STORE", folder.store())
            .env_remove("NO_COLOR");
        stdout_of(script.envs(variables.iter().copied()))
    };
    assert!(shown(&[]).contains("\x1b[33mpaused\x1b[0m"));
    assert!(!shown(&[("NO_COLOR", "1")]).contains('\x1b'));
    assert!(
        !adk(&folder.store(), &["runs"])
            .success_text()
            .contains('\x1b')
    );
}

#[cfg(target_os = "linux")]
fn stdout_of(command: &mut std::process::Command) -> String {
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

#[tokio::test]
async fn a_closed_pipe_is_not_an_error() {
    let (folder, _) = Folder::with_wait().await;
    let mut child = command(&folder.store(), &["runs"]);
    let mut child = child
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut printed = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut printed)
        .unwrap();
    assert!(
        child.wait().unwrap().success() && printed.is_empty(),
        "{printed}"
    );
}

#[tokio::test]
async fn cargo_adk_runs_the_program() {
    let (folder, _) = Folder::with_wait().await;
    let through = |args: &[&str]| {
        let mut cargo = std::process::Command::new(env!("CARGO_BIN_EXE_cargo-adk"));
        cargo.args(args).env("ADK_STORE", folder.store());
        run_program(cargo, "")
    };
    assert_eq!(
        through(&["adk", "waiting"]).success_text(),
        adk(&folder.store(), &["waiting"]).success_text()
    );
    through(&["adk", "show", &unknown_run().to_string()]).assert_error(3, "does not exist");
}

workflow! {
    /// Pays a claim when the staff agrees.
    pub Claim(order: String) -> approved: bool {
        /// Is the claim for {order} right?
        await(by = "staff") approved: bool
    }
}

#[tokio::test]
async fn an_answer_needs_the_role_of_its_wait() {
    let folder = Folder::new();
    let runner = Runner::builder()
        .store(folder.open().await)
        .build()
        .unwrap();
    let error = runner
        .session("ann", "s")
        .run(&Claim::default(), "a7")
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Paused);
    let store = folder.store();
    let listed = adk(&store, &["waiting", "--json"]).json();
    assert_eq!(listed[0]["by"], json!({"role": "staff"}));
    let wait = listed[0]["id"].as_str().unwrap();
    let table = adk(&store, &["waiting"]).success_text();
    assert!(
        table.contains("by role `staff`: Is the claim for a7 right?"),
        "{table}"
    );
    adk(&store, &["answer", wait, "true"]).assert_error(1, "the role `staff`");
    adk(
        &store,
        &["answer", wait, "true", "--user", "bob", "--role", "editor"],
    )
    .assert_error(1, "`--role`");
    adk(
        &store,
        &[
            "answer", wait, "true", "--role", "editor", "--role", "staff",
        ],
    )
    .success_text();
    assert_eq!(adk(&store, &["waiting", "--json"]).json(), json!([]));
}

#[tokio::test]
async fn old_runs_are_deleted_with_prune() {
    let (folder, waiting) = Folder::with_wait().await;
    let store = folder.store();
    {
        let runner = runner(&folder.open().await, "desk");
        let other = pause_run(&runner, "bob", "s2").await;
        runner.cancel(other.run_id).await.unwrap();
    }
    let prune = |args: &[&str]| adk(&store, &[&["prune", "--older-than"], args].concat());
    assert_eq!(prune(&["30d"]).success_text(), "0 runs deleted\n");
    let counted = prune(&["0s", "--dry-run"]).success_text();
    assert_eq!(counted, "1 run to delete\n");
    let deleted = prune(&["0s", "--json"]).json();
    assert_eq!(deleted, json!({"runs": 1, "isDryRun": false}));
    let left = adk(&store, &["runs", "--json"]).json();
    assert_eq!(left[0]["run"], waiting.run_id.to_string(), "{left}");
    assert_eq!(left.as_array().unwrap().len(), 1);
    adk(&store, &["export", "bob", "s2"]).success_text();
    prune(&["never"]).assert_error(2, "invalid value 'never'");
    // The session of the waiting run stays.
    let of_sessions = |args: &[&str]| prune(&[&["0s", "--sessions"], args].concat());
    assert_eq!(
        prune(&["30d", "--sessions"]).success_text(),
        "0 runs and 0 sessions deleted\n"
    );
    let counted = of_sessions(&["--dry-run"]).success_text();
    assert_eq!(counted, "0 runs and 1 session to delete\n");
    adk(&store, &["export", "bob", "s2"]).success_text();
    let deleted = of_sessions(&["--json"]).json();
    let expected = json!({"runs": 0, "sessions": 1, "isDryRun": false});
    assert_eq!(deleted, expected);
    adk(&store, &["export", "bob", "s2"]).assert_error(3, "s2");
    let left = adk(&store, &["runs", "--json"]).json();
    assert_eq!(left[0]["run"], waiting.run_id.to_string(), "{left}");
}
