//! Tests of `adk audit`.
use crate::new::Project;
use crate::support::{Folder, run_program};
use serde_json::json;
use std::process::Command;

/// The workflow of the project, with tools that have labels.
const LABELLED: &str = r#"
use adk::prelude::*;

/// Fetches a page.
#[tool(untrusted)]
fn fetch(url: &str) -> String {
    format!("the text of {url}")
}

/// Sends a mail.
#[tool(acts)]
fn send(body: &str) -> String {
    format!("sent {body}")
}

/// Counts words.
#[tool]
fn count(text: &str) -> usize {
    text.split(' ').count()
}

workflow! {
    /// Reads, and then writes to somebody.
    #[guards(untrusted(user))]
    pub Reading(question: String) {
        agent reader -> is_open: bool {
            instruction: "Is the shop open? {question}", tools: [fetch, count], max_turns: 3,
        }
        agent sender {
            include_contents: prompt, instruction: "Open: {is_open}", tools: [send], max_turns: 3,
        }

        reader; sender
    }
}

workflow! {
    /// Counts.
    pub Counting(text: String) {
        agent counter { instruction: "Count: {text}", tools: [count], max_turns: 3 }

        counter
    }
}

fn main() {
    println!("{}", Reading::SPEC);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn adk_commands() -> Result<()> {
        let commands = adk::testing::commands();
        commands.workflow(Reading::default()).workflow(Counting::default()).run().await
    }
}
"#;

#[test]
#[ignore = "building the project and its dependencies takes up to a minute; `.ci/run` includes \
    this test"]
fn a_project_is_audited() {
    let project = Project::create();
    let adk = |args: &[&str]| project.run(env!("CARGO_BIN_EXE_adk"), args);
    // The tests of wrong workflows are not built.
    let bin = ["--", "--bins"];
    let audit = |args: &[&str]| adk(&[&["audit"], args, &bin].concat());
    let whole = adk(&["audit"]).success_text();
    let expected = "\
Writing (src/main.rs:19)   no guards
  not seen   the bodies of 1 function and 1 tool
  refused    nothing
";
    assert_eq!(whole, expected);
    assert_eq!(audit(&[]).success_text(), expected);

    let source = project.path().join("src/main.rs");
    std::fs::write(&source, LABELLED).unwrap();
    let text = audit(&[]).success_text();
    assert_eq!(
        text,
        "\
Reading (src/main.rs:25)   guards: untrusted(user); message untrusted
  sources    user (message)                reader
             question (input)              reader
             fetch (untrusted)             reader
  sinks      send (acts)                   sender    no untrusted text
  cleaned    reader -> is_open: bool       no text
  not seen   the bodies of 3 tools
  refused    nothing

Counting (src/main.rs:39)   no guards
  not seen   the body of 1 tool
  refused    nothing
"
    );
    let audits = audit(&["--json"]).json();
    assert_eq!(audits[0]["workflow"], "reading");
    assert_eq!(
        audits[0]["sinks"],
        json!([{"name": "send", "label": "acts", "heldBy": "sender", "marks": []}])
    );
    assert_eq!(audits[1]["workflow"], "counting");

    let strict = audit(&["--strict"]);
    assert_eq!((strict.code, &*strict.err), (1, ""), "{strict:?}");
    let finding = "refused    untrusted-action: agent `reader` may call `count`, which acts,";
    assert!(strict.out.contains(finding), "{strict:?}");
    assert_eq!(audit(&["--strict", "--json"]).code, 1);

    std::fs::write(&source, LABELLED.replace("adk_commands", "other")).unwrap();
    audit(&[]).assert_error(3, "this project has no test `adk_commands`; help: add it");
    let without = LABELLED.replace(
        ".workflow(Reading::default()).workflow(Counting::default())",
        "",
    );
    std::fs::write(&source, without).unwrap();
    let failed = audit(&[]);
    assert_eq!(failed.code, 3, "{failed:?}");
    for text in [
        "`commands` has no workflows",
        "error: the test `adk_commands` of this project failed",
    ] {
        assert!(failed.err.contains(text), "{failed:?}");
    }
    std::fs::write(
        &source,
        LABELLED.replace("#[tool(acts)]", "#[tool(untrusted, acts)]"),
    )
    .unwrap();
    let refused = audit(&[]);
    assert_eq!((refused.code, &*refused.out), (3, ""), "{refused:?}");
    for text in [
        "untrusted-action",
        "error: the tests of this project do not build; help: ",
    ] {
        assert!(refused.err.contains(text), "{refused:?}");
    }
}

#[test]
fn wrong_usage_and_a_folder_without_a_project() {
    let folder = Folder::new();
    let audit = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_adk"));
        command.arg("audit").args(args).current_dir(folder.path());
        run_program(command, "")
    };
    assert_eq!(audit(&["--wide"]).code, 2);
    assert_eq!(audit(&["desk"]).code, 2);
    let outside = audit(&[]);
    assert_eq!((outside.code, &*outside.out), (3, ""), "{outside:?}");
    let text = "error: the tests of this project do not build; help: ";
    assert!(
        outside.err.contains(text) && outside.err.contains("Cargo.toml"),
        "{outside:?}"
    );
}
