//! The commands on a SQLite file, which real runs of a workflow have written.
use crate::support::{Folder, adk, command, fed, nobody, paused, ran, runner};
use adk::ErrorKind;
use adk::engine::RunFilter;
use adk::prelude::*;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Stdio;
use tokio::sync::Semaphore;

/// Each line of a text as its words.
fn words(text: &str) -> Vec<Vec<&str>> {
    text.lines().map(|line| line.split_whitespace().collect()).collect()
}

#[tokio::test]
async fn runs_are_listed_by_status_user_and_number() {
    let (folder, waiting) = Folder::with_wait().await;
    let store = folder.store();
    let run = waiting.run_id.to_string();
    let other = {
        let runner = runner(&folder.open().await, "desk");
        let other = paused(&runner, "bob", "s2").await;
        runner.cancel(other.run_id).await.unwrap();
        other.run_id.to_string()
    };
    let all = adk(&store, &["runs"]).good();
    let all = words(&all);
    assert_eq!(all[0], ["RUN", "WORKFLOW", "STATUS", "AGE", "TOKENS", "USER", "SESSION"]);
    assert_eq!(all[1][..3], [&*other, "approval", "cancelled"]);
    assert_eq!(all[2][..3], [&*run, "approval", "paused"]);
    assert_eq!(all[2][4..], ["16", "ann", "s1"]);
    let ids = |args: &[&str]| -> Vec<String> {
        let runs = adk(&store, &[&["runs", "--json"], args].concat()).json();
        let runs = runs.as_array().unwrap().iter();
        runs.map(|run| run["runId"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(&["--status", "unfinished"]), [&*run]);
    assert_eq!(ids(&["--status", "cancelled"]), [&*other]);
    assert_eq!(ids(&["--user", "bob"]), [&*other]);
    for status in ["ready", "finished", "failed"] {
        assert!(ids(&["--status", status]).is_empty(), "{status}");
    }
    let limited = adk(&store, &["runs", "--limit", "1"]);
    assert!(limited.out.contains(&other) && !limited.out.contains(&run), "{limited:?}");
    assert_eq!(limited.err, "note: there are more; `--limit` lists them\n");
    adk(&store, &["runs", "--status", "lost"]).refused(2, "invalid value 'lost'");
}

#[tokio::test]
async fn a_run_as_json_has_the_names_that_are_documented() {
    let (folder, waiting) = Folder::with_wait().await;
    let run = waiting.run_id.to_string();
    let shown = adk(&folder.store(), &["show", &run, "--json"]).json();
    let names: Vec<&str> = shown.as_object().unwrap().keys().map(String::as_str).collect();
    let run_names =
        ["runId", "app", "user", "session", "workflow", "status", "isReady", "created", "updated", "usage"];
    assert_eq!(names, [&run_names[..], &["waiting", "steps", "state"]].concat());
    assert_eq!(shown["usage"], json!({"promptTokenCount": 12, "candidatesTokenCount": 4, "calls": 1}));
    assert_eq!(shown["state"]["draft"], "A cat sat.");
    let steps: Vec<_> = shown["steps"].as_array().unwrap().iter().map(|step| &step["path"]).collect();
    assert_eq!(steps, ["approval", "approval/writer"]);
    let wait = &shown["waiting"][0];
    assert_eq!(wait, &adk(&folder.store(), &["waiting", "--json"]).json()[0]);
    let names: Vec<&str> = wait.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(names, ["id", "runId", "user", "session", "path", "question", "schema", "deadline"]);
    assert_eq!(wait["id"], *waiting.id);
    assert_eq!(wait["question"], "May this be published? A cat sat.");
    // 72 hours after it asked.
    let left = wait["deadline"].as_f64().unwrap() - shown["created"].as_f64().unwrap();
    assert!((259_200.0..259_260.0).contains(&left), "{left}");
}

/// What one branch does before the other goes on.
static LEFT: Semaphore = Semaphore::const_new(0);
static RIGHT: Semaphore = Semaphore::const_new(0);

#[agent]
async fn waits_for_right() -> Result<()> {
    LEFT.add_permits(1);
    RIGHT.acquire().await.map(|permit| permit.forget()).map_err(Error::other)
}

#[agent]
async fn waits_for_left() -> Result<()> {
    LEFT.acquire().await.map(|permit| permit.forget()).map_err(Error::other)
}

#[agent]
fn lets_left_go_on() {
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
    /// The events of its branches are mixed in the log.
    pub Branches() -> last: u32 {
        parallel <
            a: < writes_left; waits_for_right; writes_last >;
            b: < waits_for_left; writes_right; lets_left_go_on >
        >
    }
}

#[tokio::test]
async fn steps_are_below_the_block_that_they_are_in() {
    let folder = Folder::new();
    let store = folder.open().await;
    let runner = Runner::builder().store(store).build().unwrap();
    let run = runner.session("ann", "s1").run(&Branches::default(), ()).await.unwrap().run_id.to_string();
    let events = adk(&folder.store(), &["events", &run, "--json"]).json();
    let emitted: Vec<_> = events.as_array().unwrap().iter().map(|event| &event["author"]).collect();
    assert_eq!(emitted, ["user", "writes_left", "writes_right", "writes_last"]);
    let shown = adk(&folder.store(), &["show", &run]).good();
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
async fn an_answer_is_held_against_the_schema_and_taken_once() {
    let (folder, waiting) = Folder::with_wait().await;
    let (store, wait) = (folder.store(), &*waiting.id);
    let listed = adk(&store, &["waiting"]).good();
    assert_eq!(words(&listed)[0], ["WAIT", "USER", "UNTIL", "QUESTION"]);
    assert!(listed.contains(wait) && listed.ends_with("May this be published? A cat sat.\n"), "{listed}");
    assert_eq!(adk(&store, &["waiting", "--user", "bob", "--json"]).json(), json!([]));

    adk(&store, &["answer", wait, "yes"]).refused(2, "a text needs its quotes");
    adk(&store, &["answer", wait, "7"]).refused(1, "is of another type: ");
    adk(&store, &["answer", wait, r#"{"Revise": {}}"#]).refused(1, "the wait is still open");
    adk(&store, &["answer", "nobody", "7"])
        .refused(3, "nobody waits under the id `nobody`; help: `adk waiting`");
    let answered = adk(&store, &["answer", wait, r#""Publish""#]).good();
    assert_eq!(answered, "answered: its run goes on in the program that resumes it\n");
    adk(&store, &["answer", wait, r#""Publish""#]).refused(1, "was answered before");
    let ready = adk(&store, &["runs", "--status", "ready"]).good();
    assert!(ready.contains("paused, ready"), "{ready}");

    let runner = runner(&folder.open().await, "desk");
    assert!(runner.recover().await.unwrap().remove(0).result.unwrap().is_empty());
    let run = waiting.run_id.to_string();
    let shown = adk(&store, &["show", &run]).good();
    let shown = words(&shown);
    assert!(shown.contains(&vec!["status", "finished"]), "{shown:?}");
    assert!(shown.contains(&vec!["publish", "1", "post", "=", r#""A"#, "cat", r#"sat.""#]), "{shown:?}");
    assert!(shown.contains(&vec!["post", r#""A"#, "cat", r#"sat.""#]), "{shown:?}");
    adk(&store, &["cancel", &run]).refused(1, "it has ended (finished)");
}

#[tokio::test]
async fn a_failed_run_says_why() {
    let (folder, waiting) = Folder::with_wait().await;
    let (store, run) = (folder.store(), waiting.run_id.to_string());
    let answer = r#"{"Revise": {"note": "shorter"}}"#;
    let answered = adk(&store, &["answer", &waiting.id, answer, "--json"]).json();
    assert_eq!(answered, json!({"id": &*waiting.id, "answer": {"Revise": {"note": "shorter"}}}));
    runner(&folder.open().await, "desk").recover().await.unwrap().remove(0).result.unwrap_err();
    let failed = adk(&store, &["runs", "--status", "failed", "--json"]).json();
    let error = failed[0]["error"].as_str().unwrap();
    assert!(error.contains("nobody is there to make it shorter"), "{error}");
    assert_eq!(failed[0]["ended"], failed[0]["updated"]);
    let shown = adk(&store, &["show", &run]).good();
    assert!(shown.contains(error), "{shown}");
}

#[tokio::test]
async fn a_run_that_waits_is_cancelled() {
    let (folder, waiting) = Folder::with_wait().await;
    let (store, run) = (folder.store(), waiting.run_id.to_string());
    assert_eq!(adk(&store, &["cancel", &run]).good(), format!("run {run} is cancelled\n"));
    assert_eq!(adk(&store, &["cancel", &run, "--json"]).json()["status"], "cancelled");
    assert_eq!(adk(&store, &["waiting", "--json"]).json(), json!([]));
}

/// A line without the time that it begins with.
fn untimed(line: &str) -> &str {
    line.split_once("Z ").map_or(line, |(_, rest)| rest)
}

#[tokio::test]
async fn events_are_printed_until_the_run_waits() {
    let (folder, waiting) = Folder::with_wait().await;
    let (store, run) = (folder.store(), waiting.run_id.to_string());
    let printed = adk(&store, &["events", &run]).good();
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
    assert_eq!(adk(&store, &["events", &run, "--follow"]).good(), printed);

    let all = adk(&store, &["events", &run, "--json"]).json();
    let followed = adk(&store, &["events", &run, "--json", "--follow"]).good();
    let followed: Vec<Value> = followed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(all.as_array().unwrap(), &followed);
    assert_eq!(all[1]["nodeInfo"]["path"], "approval/writer");
    assert_eq!(all[1]["invocationId"], *run);
}

#[tokio::test]
async fn events_are_followed_from_one_process_to_the_end_in_another() {
    let (folder, waiting) = Folder::with_wait().await;
    let (store, run) = (folder.store(), waiting.run_id.to_string());
    adk(&store, &["answer", &waiting.id, r#""Publish""#]).good();
    let mut follow = command(&store, &["events", &run, "--follow"]);
    let mut follow = follow.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(follow.stdout.take().unwrap()).lines();
    let before: Vec<String> = lines.by_ref().take(6).map(Result::unwrap).collect();
    assert_eq!(before[5], "    draft = \"A cat sat.\"");
    let note = BufReader::new(follow.stderr.take().unwrap()).lines().next().unwrap().unwrap();
    assert!(note.starts_with("note: no process drives the run"), "{note}");

    let runner = runner(&folder.open().await, "desk");
    // Another run of the session is not of interest.
    let other = paused(&runner, "ann", "s1").await;
    runner.recover().await.unwrap();
    let after: Vec<String> = lines.map(Result::unwrap).collect();
    let after: Vec<&str> = after.iter().map(|line| untimed(line)).collect();
    let wanted =
        ["approval/decision", "    decision = \"Publish\"", "approval/publish", "    post = \"A cat sat.\""];
    assert_eq!(after, wanted);
    assert!(follow.wait().unwrap().success());
    assert!(
        runner.runs(&RunFilter::unfinished()).await.unwrap().iter().any(|run| run.run_id == other.run_id)
    );
}

#[tokio::test]
async fn a_session_is_exported_and_imported() {
    let (folder, _) = Folder::with_wait().await;
    let store = folder.store();
    let exported = adk(&store, &["export", "ann", "s1"]).good();
    let head: Value = serde_json::from_str(exported.lines().next().unwrap()).unwrap();
    assert_eq!(head["session"], json!({"app": "desk", "user": "ann", "id": "s1"}));
    assert_eq!(exported.lines().count(), 3);

    assert_eq!(fed(&store, &["import", "bob", "copy"], &exported).good(), "");
    let copied = adk(&store, &["export", "bob", "copy"]).good();
    assert_eq!(copied.lines().skip(1).collect::<Vec<_>>(), exported.lines().skip(1).collect::<Vec<_>>());
    fed(&store, &["import", "bob", "copy"], &exported).refused(1, "bob");
    fed(&store, &["import", "bob", "broken"], &format!("{exported}{{\n")).refused(1, "line 4 of the import");
    adk(&store, &["export", "bob", "broken"]).refused(3, "desk/bob/broken");
    // An empty file was made on purpose.
    let fresh = folder.path().join("fresh.db");
    std::fs::write(&fresh, "").unwrap();
    let fresh = fresh.to_str().unwrap();
    fed(fresh, &["import", "ann", "s1"], &exported).good();
    assert_eq!(
        adk(fresh, &["export", "ann", "s1"]).good().replace("\"app\":\"app\"", "\"app\":\"desk\""),
        exported
    );
}

#[tokio::test]
async fn the_app_is_named_where_there_are_several() {
    let (folder, waiting) = Folder::with_wait().await;
    let store = folder.store();
    paused(&runner(&folder.open().await, "shop"), "ann", "s1").await;
    adk(&store, &["runs"])
        .refused(2, "the store has 2 apps: `desk`, `shop`; help: name one of them with `--app`");
    let run = waiting.run_id.to_string();
    assert_eq!(adk(&store, &["show", &run, "--app", "desk", "--json"]).json()["app"], "desk");
    let why = format!("there is no run `{run}`; help: `adk runs` lists the runs of the app");
    adk(&store, &["show", &run, "--app", "shop"]).refused(3, &why);
    adk(&store, &["runs", "--app", "user"])
        .refused(2, "`user` cannot be the name of an app; help: name the app");
}

#[tokio::test]
async fn what_is_not_there_is_not_found_and_not_made() {
    let folder = Folder::new();
    let (missing, run) = (folder.store(), nobody().to_string());
    adk(&missing, &["runs"]).refused(3, &format!("the file `{missing}` does not exist"));
    fed(&missing, &["import", "ann", "s1"], "").refused(3, "does not exist");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);

    let text = folder.path().join("notes.txt");
    std::fs::write(&text, "buy milk, and do not open this as a database, which it is not").unwrap();
    adk(text.to_str().unwrap(), &["runs"]).refused(1, "file is not a database");
    let foreign = folder.path().join("foreign.db");
    rusqlite::Connection::open(&foreign).unwrap().execute_batch("CREATE TABLE t (x)").unwrap();
    let before = std::fs::read(&foreign).unwrap();
    adk(foreign.to_str().unwrap(), &["runs"]).refused(3, "foreign.db` has no tables of agents");
    assert_eq!(std::fs::read(&foreign).unwrap(), before);

    folder.open().await;
    for command in ["show", "events", "cancel"] {
        adk(&missing, &[command, &run]).refused(3, &format!("there is no run `{run}`"));
        adk(&missing, &[command, "7"]).refused(2, "it is no id of a run; help: `adk runs`");
    }
    assert_eq!(adk(&missing, &["runs", "--json"]).good(), "[]\n");
}

#[test]
fn no_password_is_in_an_error() {
    for (address, code) in [
        ("mysql://ann:sesame@host/db", 2),
        ("postgres://ann:sesame@host:port/db", 1),
        ("postgres://ann:sesame@127.0.0.1:9/db", 1),
        ("postgres://ann:sesame@127.0.0.1:9/db?sslmode=sometimes", 1),
    ] {
        let ran = adk(address, &["runs"]);
        assert!(!ran.err.contains("sesame"), "{ran:?}");
        ran.refused(code, "; help: ");
    }
    let help = adk("postgres://ann:sesame@host/db", &["runs", "--help"]).good();
    assert!(help.contains("ADK_STORE") && !help.contains("sesame"), "{help}");
}

/// `script` runs a program on a terminal.
#[tokio::test]
#[cfg(target_os = "linux")]
async fn colours_are_for_terminals() {
    let (folder, _) = Folder::with_wait().await;
    let shown = |variables: &[(&str, &str)]| {
        let mut script = std::process::Command::new("script");
        script.args(["--quiet", "--return", "--command"]).arg(format!("{} runs", env!("CARGO_BIN_EXE_adk")));
        script.arg("/dev/null").env("ADK_STORE", folder.store()).env_remove("NO_COLOR");
        ran_of(script.envs(variables.iter().copied()))
    };
    assert!(shown(&[]).contains("\x1b[33mpaused\x1b[0m"));
    assert!(!shown(&[("NO_COLOR", "1")]).contains('\x1b'));
    assert!(!adk(&folder.store(), &["runs"]).good().contains('\x1b'));
}

#[cfg(target_os = "linux")]
fn ran_of(command: &mut std::process::Command) -> String {
    let done = command.stdin(Stdio::null()).output().unwrap();
    assert!(done.status.success());
    String::from_utf8(done.stdout).unwrap()
}

#[tokio::test]
async fn a_reader_that_has_seen_enough_is_no_error() {
    let (folder, _) = Folder::with_wait().await;
    let mut child = command(&folder.store(), &["runs"]);
    let mut child = child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(child.wait().unwrap().success() && said.is_empty(), "{said}");
}

#[tokio::test]
async fn cargo_runs_the_program() {
    let (folder, _) = Folder::with_wait().await;
    let through = |args: &[&str]| {
        let mut cargo = std::process::Command::new(env!("CARGO_BIN_EXE_cargo-adk"));
        cargo.args(args).env("ADK_STORE", folder.store());
        ran(cargo, "")
    };
    assert_eq!(through(&["adk", "waiting"]).good(), adk(&folder.store(), &["waiting"]).good());
    through(&["adk", "show", &nobody().to_string()]).refused(3, "there is no run");
}

workflow! {
    /// Pays a claim when the staff agrees.
    pub Claim(order: String) -> approved: bool {
        /// Is the claim for {order} right?
        await(by = "staff") approved: bool
    }
}

#[tokio::test]
async fn a_wait_is_answered_in_the_role_that_it_names() {
    let folder = Folder::new();
    let runner = Runner::builder().store(folder.open().await).build().unwrap();
    let error = runner.session("ann", "s").run(&Claim::default(), "a7").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Paused);
    let store = folder.store();
    let listed = adk(&store, &["waiting", "--json"]).json();
    assert_eq!(listed[0]["by"], json!({"role": "staff"}));
    let wait = listed[0]["id"].as_str().unwrap();
    let table = adk(&store, &["waiting"]).good();
    assert!(table.contains("by role `staff`: Is the claim for a7 right?"), "{table}");
    adk(&store, &["answer", wait, "true"]).refused(1, "the role `staff`");
    adk(&store, &["answer", wait, "true", "--user", "bob", "--role", "editor"]).refused(1, "`--role`");
    adk(&store, &["answer", wait, "true", "--role", "editor", "--role", "staff"]).good();
    assert_eq!(adk(&store, &["waiting", "--json"]).json(), json!([]));
}
