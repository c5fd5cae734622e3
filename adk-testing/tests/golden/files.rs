//! Modes, new versions, secrets and broken files.

use crate::support::Folder;
use adk::model::ModelErrorKind;
use adk::prelude::*;
use adk::testing::{Compare, GoldenFiles, Reply, RunMode, ScriptedModel};
use std::process::Command;

macro_rules! writing {
    ($module:ident, $prompt:literal, $($step:tt)*) => {
        pub mod $module {
            use super::*;
            workflow! {
                /// Writes and criticises.
                pub Writing(topic: String) -> text: String {
                    agent writer -> text: String { instruction: $prompt }
                    agent critic -> criticism: String { instruction: "Criticise {text}." }
                    writer;
                    critic $($step)*
                }
            }
        }
    };
}
writing!(then, "Write about {topic}.",);
writing!(now, "Write well about {topic}.",);
writing!(longer, "Write about {topic}.", ; critic as second -> more);

fn model() -> ScriptedModel {
    ScriptedModel::new()
        .on("writer")
        .text("A cat sat.")
        .on("critic")
        .text("Short.")
}

async fn recorded() -> Folder {
    let folder = Folder::new();
    let record = folder.golden(RunMode::Record).model(model());
    record
        .run(&then::Writing::default(), "a cat")
        .await
        .unwrap();
    folder
}

#[tokio::test]
async fn a_difference_waits_for_a_person_and_both_decisions_work() {
    let folder = recorded().await;
    let (answers, golden) = (folder.read("answers.jsonl"), folder.read("golden"));
    let check = || folder.golden(RunMode::Check).model(model());
    let workflow = now::Writing::default();
    check().run(&workflow, "a cat").await.unwrap_err();
    let names = [
        "run.answers.jsonl",
        "run.answers.jsonl.new",
        "run.golden",
        "run.golden.new",
    ];
    assert_eq!(folder.names(), names);
    assert_eq!(
        folder.read("golden"),
        golden,
        "only the new version differs"
    );
    let open = GoldenFiles::open_below(&folder.0).unwrap();
    assert_eq!(open.len(), 1);
    assert_eq!(open[0].name(), "run");

    open[0].reject().unwrap();
    assert_eq!(folder.names(), ["run.answers.jsonl", "run.golden"]);
    assert_eq!(folder.read("answers.jsonl"), answers);

    check().run(&workflow, "a cat").await.unwrap_err();
    open[0].accept().unwrap();
    assert_eq!(folder.names(), ["run.answers.jsonl", "run.golden"]);
    check().run(&workflow, "a cat").await.unwrap();
    let accepted = folder.read("answers.jsonl");
    assert_eq!(accepted.matches("given_to").count(), 1, "{accepted}");

    // A new version that is no longer needed goes away.
    let check_old = folder.golden(RunMode::Check).model(model());
    check_old
        .run(&then::Writing::default(), "a cat")
        .await
        .unwrap_err();
    check().run(&workflow, "a cat").await.unwrap();
    assert_eq!(folder.names(), ["run.answers.jsonl", "run.golden"]);
}

#[tokio::test]
async fn changed_asks_only_for_stale_answers() {
    let folder = recorded().await;
    let again = model();
    let changed = folder.golden(RunMode::Changed).model(again.clone());
    changed
        .run(&now::Writing::default(), "a cat")
        .await
        .unwrap();
    // The answer came out equal, so the critic is not asked again.
    let asked: Vec<_> = again
        .requests()
        .iter()
        .map(|request| request.info.agent.to_string())
        .collect();
    assert_eq!(asked, ["writer"]);
    let check = folder.golden(RunMode::Check).model(ScriptedModel::new());
    check.run(&now::Writing::default(), "a cat").await.unwrap();

    let other = ScriptedModel::new()
        .on("writer")
        .text("A dog sat.")
        .on("critic")
        .text("Good.");
    let changed = folder.golden(RunMode::Changed).model(other.clone());
    changed
        .run(&then::Writing::default(), "a cat")
        .await
        .unwrap();
    assert_eq!(
        other.requests().len(),
        2,
        "the text differs, so the critic is asked"
    );
}

#[tokio::test]
async fn an_accepted_answer_is_asked_for_by_changed() {
    let folder = recorded().await;
    let workflow = now::Writing::default();
    let check = folder.golden(RunMode::Check).model(model());
    check.run(&workflow, "a cat").await.unwrap_err();
    GoldenFiles::open_below(&folder.0).unwrap()[0]
        .accept()
        .unwrap();
    let again = model();
    let changed = folder.golden(RunMode::Changed).model(again.clone());
    changed.run(&workflow, "a cat").await.unwrap();
    assert_eq!(again.requests().len(), 1);
    assert!(!folder.read("answers.jsonl").contains("given_to"));
}

#[tokio::test]
async fn nothing_is_written_where_ci_is_set() {
    let folder = recorded().await;
    let (answers, golden) = (folder.read("answers.jsonl"), folder.read("golden"));
    let workflow = now::Writing::default();
    for mode in [RunMode::Check, RunMode::Record, RunMode::Changed] {
        let test = folder.golden(mode).in_ci(true).model(model());
        test.run(&workflow, "a cat").await.unwrap_err();
        assert_eq!(
            folder.names(),
            ["run.answers.jsonl", "run.golden"],
            "{mode:?}"
        );
    }
    assert_eq!(folder.read("answers.jsonl"), answers);
    assert_eq!(folder.read("golden"), golden);
}

/// The variables of the environment choose mode and CI: a child process runs this test.
#[tokio::test]
async fn child() {
    let Some(folder) = std::env::var_os("ADK_GOLDEN_TEST_FOLDER") else {
        return;
    };
    let test = adk::testing::golden("run").folder(folder).model(model());
    test.run(&then::Writing::default(), "a cat").await.unwrap();
}

#[test]
fn variables_choose_mode_and_ci() {
    let folder = Folder::new();
    let run = |mode: Option<&str>, ci: bool| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["files::child", "--exact"])
            .env("ADK_GOLDEN_TEST_FOLDER", &folder.0)
            .env_remove("CI")
            .env_remove("ADK_GOLDEN");
        if let Some(mode) = mode {
            command.env("ADK_GOLDEN", mode);
        }
        if ci {
            command.env("CI", "true");
        }
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.success(), text)
    };
    let (passes, text) = run(None, false);
    assert!(!passes && text.contains("has no recording"), "{text}");
    let (passes, text) = run(Some("rec"), false);
    assert!(!passes && text.contains("`ADK_GOLDEN` is `rec`"), "{text}");
    let (passes, text) = run(Some("record"), true);
    assert!(!passes && text.contains("because `CI` is set"), "{text}");
    assert_eq!(folder.names(), [""; 0]);
    assert!(run(Some("record"), false).0);
    assert!(run(None, true).0);
    assert_eq!(folder.names(), ["run.answers.jsonl", "run.golden"]);
}

#[tokio::test]
async fn another_input_or_shape_fails_before_any_step() {
    let folder = recorded().await;
    let check = || folder.golden(RunMode::Check).model(model());
    let input = check().run(&then::Writing::default(), "a dog").await;
    let message = input.unwrap_err().to_string();
    assert!(
        message.contains("another input\n- {\"topic\":\"a cat\"}\n+ {\"topic\":\"a dog\"}"),
        "{message}"
    );
    let shape = check().run(&longer::Writing::default(), "a cat").await;
    let message = shape.unwrap_err().to_string();
    assert!(
        message.contains("another shape of `writing`") && message.contains("+ second"),
        "{message}"
    );
    assert_eq!(folder.names(), ["run.answers.jsonl", "run.golden"]);
}

#[tokio::test]
async fn broken_and_missing_records_fail_with_a_remedy() {
    let folder = recorded().await;
    let answers = folder.read("answers.jsonl");
    let check = || folder.golden(RunMode::Check).model(model());
    let workflow = then::Writing::default();
    for (text, why) in [
        ("", "is broken: it is empty"),
        ("<<<<<<< HEAD", "is broken: line 1"),
        (&answers[..answers.len() - 9], "is broken: line 5"),
    ] {
        folder.write("answers.jsonl", text);
        let broken = check().run(&workflow, "a cat").await.unwrap_err();
        assert!(broken.to_string().contains(why), "{broken}");
    }
    let without = |place: &str| {
        let kept = answers.lines().filter(|line| !line.contains(place));
        kept.collect::<Vec<_>>().join("\n")
    };
    folder.write("answers.jsonl", &without("\"critic:"));
    let missing = check().run(&workflow, "a cat").await.unwrap_err();
    let message = missing.to_string();
    assert!(
        message.starts_with(
            "golden `run`: no answer is recorded for `critic:model@0`; the nearest is \
             `writer:model@0`"
        ),
        "{message}"
    );
    let more = answers.replace("\"critic:model@0\"", "\"critic:model@1\"");
    let more = more.lines().find(|line| line.contains("\"critic:"));
    let more = format!("{answers}\n{}\n", more.unwrap());
    folder.write("answers.jsonl", &more);
    let unasked = check().run(&workflow, "a cat").await.unwrap_err();
    assert!(
        unasked
            .to_string()
            .contains("`critic:model@1` is asked no more"),
        "{unasked}"
    );
}

#[tokio::test]
async fn a_level_compares_less() {
    let folder = recorded().await;
    let check = |level| folder.golden(RunMode::Check).model(model()).compare(level);
    let workflow = now::Writing::default();
    check(Compare::Keys).run(&workflow, "a cat").await.unwrap();
    let answers = folder.read("answers.jsonl").replace("Short.", "Long.");
    folder.write("answers.jsonl", &answers);
    let keys = check(Compare::Keys).run(&workflow, "a cat").await;
    let message = keys.unwrap_err().to_string();
    assert!(
        message.contains("- writes criticism = \"Short.\""),
        "{message}"
    );
    check(Compare::Routes)
        .run(&workflow, "a cat")
        .await
        .unwrap();
}

#[tokio::test]
async fn a_production_run_takes_its_input_from_the_head() {
    let folder = recorded().await;
    let check = folder.golden(RunMode::Check).model(model());
    check.replay(&then::Writing::default()).await.unwrap();
}

#[tokio::test]
async fn redacted_text_is_in_no_file_and_the_replay_is_the_same() {
    let folder = Folder::new();
    let redact = |text: &str| text.replace("cat", "[animal]");
    let record = folder.golden(RunMode::Record).model(model()).redact(redact);
    record
        .run(&then::Writing::default(), "a cat")
        .await
        .unwrap();
    for ending in ["answers.jsonl", "golden"] {
        assert!(
            !folder.read(ending).contains("cat"),
            "{}",
            folder.read(ending)
        );
    }
    let check = folder.golden(RunMode::Check).model(ScriptedModel::new());
    check
        .redact(redact)
        .run(&then::Writing::default(), "a cat")
        .await
        .unwrap();
}

#[tokio::test]
async fn a_failed_run_is_a_record_too() {
    let folder = Folder::new();
    let failing = ScriptedModel::new()
        .on("writer")
        .error(ModelErrorKind::InvalidRequest, "too long");
    let record = folder.golden(RunMode::Record).model(failing);
    record
        .run(&then::Writing::default(), "a cat")
        .await
        .unwrap();
    assert!(folder.read("golden").contains("error   agent `writer`"));
    let check = folder.golden(RunMode::Check).model(ScriptedModel::new());
    check.run(&then::Writing::default(), "a cat").await.unwrap();
}

#[tokio::test]
async fn a_text_like_a_key_is_refused_with_its_place() {
    let folder = Folder::new();
    let key = format!("sk-proj-{}", "a1".repeat(12));
    let model = ScriptedModel::new()
        .on("writer")
        .reply(Reply::new().text(format!("Use {key}.")))
        .on("critic")
        .text("Short.");
    let record = folder.golden(RunMode::Record).model(model);
    let refused = record.run(&then::Writing::default(), "a cat").await;
    let message = refused.unwrap_err().to_string();
    assert!(
        message.contains("`writer:model@0` holds a text like a key of OpenAI"),
        "{message}"
    );
    assert!(!message.contains(&key));
    assert_eq!(folder.names(), [""; 0]);
}
