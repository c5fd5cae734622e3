//! Concurrent branches: the record decides their order where it matters, and never blocks.

use crate::support::Folder;
use adk::prelude::*;
use adk::testing::{Reply, RunMode, ScriptedModel};
use std::time::Duration;

/// A reply that takes some time.
fn after(millis: u64, text: &str) -> Reply {
    Reply::new().text(text).after(Duration::from_millis(millis))
}

mod sides {
    use super::*;
    workflow! {
        /// Looks at a topic from two sides.
        pub Sides(topic: String) -> report: String {
            agent pro -> for_it: String { instruction: "For {topic}" }
            agent con -> against: String { instruction: "Against {topic}" }
            agent writer -> report: String { instruction: "Sum up." }
            parallel < pro; con >
            writer
        }
    }
}

macro_rules! replying {
    ($module:ident, $quick:ident, $($prompt:literal)?) => {
        mod $module {
            use super::*;
            workflow! {
                /// Takes what comes first.
                pub Replying(ticket: String) -> note: String {
                    agent slow -> reply: String { instruction: "Answer {ticket} with care." }
                    agent $quick -> reply: String { instruction: "Answer {ticket}." }
                    agent writer -> note: String { instruction: "Note {reply}" }
                    parallel(first) < slow; $quick >
                    writer
                }
            }
        }
    };
}
replying!(first, quick,);
replying!(renamed, fast,);

#[tokio::test(start_paused = true)]
async fn branches_that_all_end_need_no_order() {
    let folder = Folder::new();
    let model = ScriptedModel::new()
        .on("pro")
        .reply(after(50, "They purr."))
        .on("con")
        .reply(after(1, "They scratch."))
        .on("writer")
        .text("Both.");
    let workflow = sides::Sides::default();
    let record = folder.golden(RunMode::Record).model(model);
    record.run(&workflow, "cats").await.unwrap();
    assert!(folder.read("answers.jsonl").contains(r#""order":[]"#));
    let check = folder.golden(RunMode::Check).model(ScriptedModel::new());
    check.run(&workflow, "cats").await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_recorded_branch_wins_although_the_other_has_an_answer() {
    let folder = Folder::new();
    let model = || {
        ScriptedModel::new()
            .on("slow")
            .reply(after(50, "With care."))
            .on("quick")
            .reply(after(1, "Quick."))
            .on("writer")
            .text("Noted.")
    };
    let workflow = first::Replying::default();
    let record = folder.golden(RunMode::Record).model(model());
    record.run(&workflow, "a ticket").await.unwrap();
    let answers = folder.read("answers.jsonl");
    assert!(
        answers.contains(r#""order":["parallel_1/quick!0"]"#),
        "{answers}"
    );
    assert!(!answers.contains("slow"), "it was cancelled: {answers}");
    let golden = folder.read("golden");
    assert!(golden.contains("quick is first"), "{golden}");
    let check = || folder.golden(RunMode::Check).model(model());
    check().run(&workflow, "a ticket").await.unwrap();

    // The loser may have answered before it was cancelled.
    let loser = answers
        .lines()
        .find(|line| line.contains("/quick:"))
        .unwrap();
    let loser = loser
        .replace("quick", "slow")
        .replace("Quick.", "With care.");
    let asked = loser.split(r#""asked":""#).nth(1).unwrap();
    let loser = loser.replace(&format!(r#""asked":"{}","#, &asked[..32]), "");
    folder.write("answers.jsonl", &format!("{answers}\n{loser}\n"));
    check().run(&workflow, "a ticket").await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_branch_that_is_gone_is_reported_and_blocks_nothing() {
    let folder = Folder::new();
    let model = ScriptedModel::new()
        .on("slow")
        .reply(after(50, "With care."))
        .on("quick")
        .text("Quick.")
        .on("writer")
        .text("Noted.");
    let record = folder.golden(RunMode::Record).model(model);
    record
        .run(&first::Replying::default(), "a ticket")
        .await
        .unwrap();
    let check = folder.golden(RunMode::Check).model(ScriptedModel::new());
    let refused = check.run(&renamed::Replying::default(), "a ticket").await;
    let message = refused.unwrap_err().to_string();
    assert!(
        message.contains("another shape of `replying`")
            && message.contains("- parallel_1/quick\n+ fast\n+ slow"),
        "{message}"
    );
    // Without the check of the shape, the run would end too.
    let answers = folder.read("answers.jsonl");
    let shape = answers.split(r#""shape":""#).nth(1).unwrap()[..16].to_owned();
    let other = Folder::new();
    let now = other.golden(RunMode::Record).model(
        ScriptedModel::new()
            .on("slow")
            .reply(after(50, "With care."))
            .on("fast")
            .text("Quick.")
            .on("writer")
            .text("Noted."),
    );
    now.run(&renamed::Replying::default(), "a ticket")
        .await
        .unwrap();
    let other = other.read("answers.jsonl");
    let other = other.split(r#""shape":""#).nth(1).unwrap()[..16].to_owned();
    folder.write("answers.jsonl", &answers.replace(&shape, &other));
    let check = folder.golden(RunMode::Check).model(ScriptedModel::new());
    let failed = check.run(&renamed::Replying::default(), "a ticket").await;
    let message = failed.unwrap_err().to_string();
    assert!(
        message.contains("the record continues with event 0 of `parallel_1/quick`"),
        "{message}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_timeout_of_the_record_is_a_timeout_of_the_replay() {
    mod slow {
        use super::*;
        workflow! {
            /// Waits for an answer, for some time.
            pub Hurried(topic: String) -> text: String {
                agent thinker -> text: String { instruction: "Think about {topic}." }
                agent other -> text: String { instruction: "Say anything about {topic}." }
                try(attempts = 2, timeout = "1s", delay = "9s") < thinker > else < other >
            }
        }
    }
    let folder = Folder::new();
    let model = ScriptedModel::new()
        .on("thinker")
        .reply(after(5_000, "Deep."))
        .reply(after(5_000, "Deeper."))
        .on("other")
        .text("Anything.");
    let workflow = slow::Hurried::default();
    let record = folder.golden(RunMode::Record).model(model);
    record.run(&workflow, "cats").await.unwrap();
    let golden = folder.read("golden");
    assert_eq!(golden.matches("  fails").count(), 2, "{golden}");
    let check = folder.golden(RunMode::Check).model(ScriptedModel::new());
    check.run(&workflow, "cats").await.unwrap();
}
