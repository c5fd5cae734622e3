//! Git merges two branches that record different agents again.

use crate::support::Folder;
use adk::prelude::*;
use adk::testing::{RunMode, ScriptedModel};
use std::path::Path;
use std::process::Command;

workflow! {
    /// Writes and criticises.
    pub Writing(topic: String) -> text: String {
        agent writer -> text: String {
            include_contents: prompt,
            instruction: "Write about {topic}.",
        }
        agent critic -> criticism: String {
            include_contents: prompt,
            instruction: "Criticise {topic}.",
        }
        agent judge -> verdict: String {
            include_contents: prompt,
            instruction: "Judge {topic}.",
        }
        writer;
        critic;
        judge
    }
}

fn git(folder: &Path, args: &[&str]) -> String {
    let output = Command::new("git")
        .args([
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@b.c",
            "-c",
            "commit.gpgsign=false",
        ])
        .args(args)
        .current_dir(folder)
        .output()
        .expect("git is installed");
    assert!(output.status.success(), "git {args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

async fn record(folder: &Folder, texts: [&str; 3]) {
    let model = ["writer", "critic", "judge"]
        .into_iter()
        .zip(texts)
        .fold(ScriptedModel::new(), |model, (agent, text)| {
            model.on(agent).text(text)
        });
    let record = folder.golden(RunMode::Record).model(model);
    record.run(&Writing::default(), "a cat").await.unwrap();
    git(&folder.0, &["add", "."]);
    git(&folder.0, &["commit", "-qm", "record"]);
}

#[tokio::test]
async fn two_recorded_agents_merge_without_a_conflict() {
    let folder = Folder::new();
    git(&folder.0, &["init", "-qb", "main"]);
    record(&folder, ["one", "two", "three"]).await;
    git(&folder.0, &["checkout", "-qb", "writer"]);
    record(&folder, ["other", "two", "three"]).await;
    git(&folder.0, &["checkout", "-q", "main"]);
    record(&folder, ["one", "another", "three"]).await;
    let merged = git(&folder.0, &["merge-tree", "--write-tree", "main", "writer"]);
    let tree = merged.lines().next().unwrap();
    let show = |ending: &str| git(&folder.0, &["show", &format!("{tree}:run.{ending}")]);
    let (answers, golden) = (show("answers.jsonl"), show("golden"));
    for text in ["other", "another", "three"] {
        assert!(
            answers.contains(text) && golden.contains(text),
            "{answers}{golden}"
        );
    }
    assert!(!answers.contains("<<<") && !golden.contains("<<<"));
    // No agent reads what another has written, so the merged files are a record that passes.
    folder.write("answers.jsonl", &answers);
    folder.write("golden", &golden);
    let check = folder.golden(RunMode::Check).model(ScriptedModel::new());
    check.run(&Writing::default(), "a cat").await.unwrap();
}
