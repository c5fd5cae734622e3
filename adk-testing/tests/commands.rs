//! The test that answers the commands of the program `adk`, as that program runs it.
#![allow(clippy::unwrap_used, missing_docs, reason = "a test fails by a panic")]

use adk::prelude::*;
use adk::testing::commands;
use adk::testing::commands::{COMMAND_VARIABLE, CommandReport, CommandRequest};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Fetches a page.
#[tool(untrusted)]
fn fetch(url: &str) -> String {
    format!("the text of {url}")
}

/// Counts words.
#[tool]
fn count(text: &str) -> usize {
    text.split(' ').count()
}

workflow! {
    /// Reads a page.
    pub Reading(question: String) {
        agent reader { instruction: "{question}", tools: [fetch, count], max_turns: 3 }

        reader
    }
}

workflow! {
    /// Thinks.
    pub Thinking(question: String) {
        agent thinker { instruction: "{question}" }

        thinker
    }
}

/// Programs run this test with a command.
#[tokio::test]
async fn adk_commands() -> Result<()> {
    let commands = commands().workflow(Reading::default());
    commands.workflow(Thinking::default()).run().await
}

/// Runs the test with the text of a request; `FOLDER` is the folder for the report. Returns the
/// output of the harness and the report.
fn run(request: &str) -> (Output, Option<CommandReport>) {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = format!(
        "adk-commands-{}-{}",
        std::process::id(),
        NEXT.fetch_add(1, Relaxed)
    );
    let folder = std::env::temp_dir().join(name);
    std::fs::create_dir_all(&folder).unwrap();
    let request = request.replace("FOLDER", folder.to_str().unwrap());
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["adk_commands", "--exact"])
        .env(COMMAND_VARIABLE, request)
        .output()
        .unwrap();
    let mut files = std::fs::read_dir(&folder).unwrap();
    let file = files.next().map(|file| file.unwrap().path());
    let report = file.map(|file| serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap());
    std::fs::remove_dir_all(&folder).unwrap();
    (output, report)
}

fn report(command: &str, arguments: adk::Value) -> CommandReport {
    let request = CommandRequest {
        version: "9.9.9".to_owned(),
        command: command.to_owned(),
        arguments,
        folder: "FOLDER".into(),
    };
    let (output, report) = run(&serde_json::to_string(&request).unwrap());
    assert!(output.status.success(), "{output:?}");
    report.unwrap()
}

#[test]
fn an_audit_has_a_part_for_each_workflow() {
    let audit = report("audit", json!({"strict": false}));
    assert_eq!((audit.code, &*audit.error), (0, ""));
    assert_eq!(
        audit.texts,
        [
            Reading::SPEC.audit().to_string(),
            Thinking::SPEC.audit().to_string()
        ]
    );
    assert_eq!(
        audit.values,
        [json!(Reading::SPEC.audit()), json!(Thinking::SPEC.audit())]
    );
    assert_eq!(audit.values[0]["sources"][0]["name"], "fetch");

    let strict = report("audit", json!({"strict": true}));
    assert_eq!(strict.code, 1);
    assert_eq!(strict.values[0]["findings"].as_array().unwrap().len(), 1);
    assert_eq!(strict.values[1]["findings"], json!([]));
}

#[test]
fn a_command_of_another_version_is_refused() {
    let refused = report("dance", json!({}));
    assert_eq!(refused.code, 2);
    let own = env!("CARGO_PKG_VERSION");
    let expected = format!(
        "version {own} of adk-workflow-testing does not know the command `dance` of `adk` 9.9.9; \
         help: install the `adk` of the version of your crate"
    );
    assert_eq!(refused.error, expected);
    let refused = report("audit", json!({"loud": true}));
    assert_eq!(refused.code, 2);
    let text = "the arguments of `audit` do not fit: missing field `strict`; help: ";
    assert!(refused.error.starts_with(text), "{}", refused.error);
}

#[test]
fn a_variable_without_a_request_fails_the_test() {
    let (output, report) = run("audit");
    assert!(!output.status.success() && report.is_none(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("`ADK_COMMAND` holds no command"), "{text}");
}

#[tokio::test]
async fn workflows_are_given_once_each() {
    let error = commands().run().await.unwrap_err().to_string();
    assert_eq!(
        error,
        "`commands` has no workflows; help: add each with `.workflow(...)`"
    );
    let twice = commands().workflow(Thinking::default());
    let twice = twice.workflow(Thinking::default()).run().await;
    let error = twice.unwrap_err().to_string();
    let text = "two workflows of `commands` are called `thinking`; help: ";
    assert!(error.starts_with(text), "{error}");
}
