//! Tools, functions, people, elements and nested agents: what runs in a replay, and what does not.

use crate::support::Folder;
use adk::prelude::*;
use adk::testing::{Reply, RunMode, ScriptedModel, Tools};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

static PAID: AtomicUsize = AtomicUsize::new(0);

/// Pays an amount.
#[tool]
fn pay(amount: f64, #[key] receipt: Out<String>) -> String {
    PAID.fetch_add(1, SeqCst);
    receipt.set(format!("receipt of {amount}"));
    format!("paid {amount}")
}

/// Counts the words.
#[agent(writes = words)]
fn count(text: &str) -> usize {
    text.split(' ').count()
}

static LOOKED: AtomicUsize = AtomicUsize::new(0);

/// Looks something up.
#[agent(writes = found)]
async fn look_up(topic: &str) -> String {
    LOOKED.fetch_add(1, SeqCst);
    format!("{topic} are animals")
}

mod desk {
    use super::*;
    workflow! {
        /// Pays a bill after a person has agreed.
        pub Paying(bill: String) -> (text: String, receipt: String) {
            let receipt: String = "";
            agent clerk -> text: String {
                instruction: "Pay {bill}.",
                tools: [pay],
                max_turns: 3,
            }
            /// Pay {bill}?
            await agreed: bool;
            clerk
        }
    }
}

#[tokio::test]
async fn a_tool_that_acts_runs_once_and_a_person_is_asked_once() {
    let folder = Folder::new();
    let model = ScriptedModel::new()
        .on("clerk")
        .call("pay", json!({"amount": 250}))
        .text("It is paid.");
    let workflow = desk::Paying::default();
    let unanswered = folder.golden(RunMode::Record).model(model.clone());
    let waits = unanswered.run(&workflow, "the rent").await.unwrap_err();
    assert!(
        waits
            .to_string()
            .contains("help: give it: `.answer(\"agreed\", VALUE)`"),
        "{waits}"
    );
    let before = PAID.load(SeqCst);
    let record = folder.golden(RunMode::Record).model(model);
    let record = record.answer("agreed", true);
    record.run(&workflow, "the rent").await.unwrap();
    let golden = folder.read("golden");
    for line in [
        "agreed                    await, reads bill\n  asks \"Pay the rent?\"\n  \
         writes agreed = true",
        "  calls pay {\"amount\":250}  ->  \"paid 250\"\n",
        "  writes receipt = \"receipt of 250\"",
        "tools clerk\n  pay(amount: ",
    ] {
        assert!(golden.contains(line), "{line}: {golden}");
    }
    for _ in 0..3 {
        let check = folder.golden(RunMode::Check).model(ScriptedModel::new());
        check.run(&workflow, "the rent").await.unwrap();
    }
    assert_eq!(PAID.load(SeqCst), before + 1);
    let run = folder.golden(RunMode::Check).model(ScriptedModel::new());
    run.tools(Tools::Run)
        .run(&workflow, "the rent")
        .await
        .unwrap();
    assert_eq!(PAID.load(SeqCst), before + 2, "`Tools::Run` runs it");
}

mod functions {
    use super::*;
    workflow! {
        /// Describes a topic.
        pub Describing(topic: String) -> words: usize {
            agent writer -> text: String { instruction: "Write about {found}." }
            look_up;
            writer;
            count
        }
    }
}

#[tokio::test]
async fn plain_functions_run_and_functions_that_wait_do_not() {
    let folder = Folder::new();
    let model = ScriptedModel::new().on("writer").text("They are animals.");
    let workflow = functions::Describing::default();
    let record = folder.golden(RunMode::Record).model(model);
    record.run(&workflow, "cats").await.unwrap();
    let looked = LOOKED.load(SeqCst);
    let answers = folder.read("answers.jsonl");
    assert!(
        answers.contains(r#""at":"look_up:function@0""#),
        "{answers}"
    );
    assert!(!answers.contains("count:"), "it always runs: {answers}");
    let check = || folder.golden(RunMode::Check).model(ScriptedModel::new());
    check().run(&workflow, "cats").await.unwrap();
    assert_eq!(LOOKED.load(SeqCst), looked);

    // Another recorded text has another count: the function sees it.
    folder.write(
        "answers.jsonl",
        &answers.replace("They are animals.", "They are."),
    );
    let changed = check().run(&workflow, "cats").await.unwrap_err();
    let message = changed.to_string();
    assert!(
        message.contains("count\n- writes words = 3\n+ writes words = 2"),
        "{message}"
    );
}

mod lists {
    use super::*;
    workflow! {
        /// Translates words.
        pub Translating(words: Vec<String>) -> all: Vec<String> {
            agent translator -> all: String { instruction: "Translate {word}." }
            each(max = 20) word in words < translator >
        }
    }
}

#[tokio::test]
async fn elements_are_in_the_order_of_the_list() {
    let folder = Folder::new();
    let words: Vec<_> = (0..12).map(|number| format!("word{number}")).collect();
    let mut model = ScriptedModel::new();
    for word in words.iter().rev() {
        let wanted = format!("Translate {word}.");
        let is_asked =
            move |request: &adk::model::ModelRequest| request.system_instruction.contains(&wanted);
        model = model.when(is_asked, Reply::new().text(format!("le {word}")));
    }
    let workflow = lists::Translating::default();
    let record = folder.golden(RunMode::Record).model(model);
    record.run(&workflow, words.clone()).await.unwrap();
    let golden = folder.read("golden");
    let steps: Vec<_> = golden
        .lines()
        .filter(|line| line.starts_with("each_1[") && line.contains("/translator"))
        .map(|line| line.split('/').next().unwrap())
        .collect();
    let expected: Vec<_> = (0..12).map(|number| format!("each_1[{number}]")).collect();
    assert_eq!(steps, expected, "{golden}");
    let check = folder.golden(RunMode::Check).model(ScriptedModel::new());
    check.run(&workflow, words).await.unwrap();
}

mod nested {
    use super::*;
    workflow! {
        /// Answers with the help of an expert.
        pub Asking(question: String) -> answer: String {
            /// Knows cats.
            agent expert { instruction: "You know cats." }
            agent host -> answer: String {
                instruction: "Answer {question}.",
                tools: [agent(expert)],
                max_turns: 3,
            }
            host
        }
    }
}

#[tokio::test]
async fn an_agent_that_is_a_tool_is_replayed_call_by_call() {
    let folder = Folder::new();
    let model = ScriptedModel::new()
        .on("host")
        .call("expert", json!({"request": "Do cats swim?"}))
        .text("Some do.")
        .on("expert")
        .text("Turkish Vans do.");
    let workflow = nested::Asking::default();
    let record = folder.golden(RunMode::Record).model(model);
    record.run(&workflow, "Do cats swim?").await.unwrap();
    let answers = folder.read("answers.jsonl");
    assert!(answers.contains("tool.expert@0/model@0"), "{answers}");
    let golden = folder.read("golden");
    assert!(
        golden.contains("cost    3 model calls, 1 tool call"),
        "{golden}"
    );
    let check = || folder.golden(RunMode::Check).model(ScriptedModel::new());
    check().run(&workflow, "Do cats swim?").await.unwrap();
    // Without the answer of the expert, the test fails and does not wait for it.
    let rest: Vec<_> = answers
        .lines()
        .filter(|line| !line.contains("@0/model@0"))
        .collect();
    folder.write("answers.jsonl", &rest.join("\n"));
    let failed = check().run(&workflow, "Do cats swim?").await.unwrap_err();
    let message = failed.to_string();
    assert!(
        message.contains("no answer is recorded for `host"),
        "{message}"
    );
}

/// Looks up a bill.
#[tool(untrusted)]
fn find_bill(of: String) -> String {
    format!("the bill of {of}")
}

macro_rules! acting {
    ($module:ident, $prompt:literal, $tool:ident) => {
        mod $module {
            use super::*;
            workflow! {
                /// Acts.
                pub Acting(bill: String) -> text: String {
                    agent clerk -> text: String {
                        instruction: $prompt,
                        tools: [$tool],
                        max_turns: 3,
                    }
                    clerk
                }
            }
        }
    };
}
acting!(pays, "Pay {bill}.", pay_once);
acting!(pays_now, "Pay {bill} now.", pay_once);
acting!(finds, "Find {bill}.", find_bill);
acting!(finds_now, "Find {bill} now.", find_bill);

static PAID_ONCE: AtomicUsize = AtomicUsize::new(0);

/// Pays an amount.
#[tool]
fn pay_once(amount: f64) -> String {
    PAID_ONCE.fetch_add(1, SeqCst);
    format!("paid {amount}")
}

#[tokio::test]
async fn changed_never_calls_a_tool_again_that_may_act() {
    let model = |tool: &str, args| {
        let script = ScriptedModel::new().on("clerk");
        script.call(tool, args).text("It is done.")
    };
    let folder = Folder::new();
    let record = folder.golden(RunMode::Record);
    record
        .model(model("pay_once", json!({"amount": 250})))
        .run(&pays::Acting::default(), "the rent")
        .await
        .unwrap();
    let files = folder.read("answers.jsonl");
    let changed = folder.golden(RunMode::Changed);
    let refused = changed
        .model(model("pay_once", json!({"amount": 300})))
        .run(&pays_now::Acting::default(), "the rent")
        .await
        .unwrap_err();
    let message = refused.to_string();
    assert!(
        message.contains("`clerk:tool.pay_once@0` would be called with other arguments"),
        "{message}"
    );
    assert_eq!(PAID_ONCE.load(SeqCst), 1);
    assert_eq!(folder.read("answers.jsonl"), files);
    // The same arguments are answered from the record.
    let changed = folder.golden(RunMode::Changed);
    changed
        .model(model("pay_once", json!({"amount": 250})))
        .run(&pays_now::Acting::default(), "the rent")
        .await
        .unwrap();
    assert_eq!(PAID_ONCE.load(SeqCst), 1);

    let folder = Folder::new();
    let record = folder.golden(RunMode::Record);
    record
        .model(model("find_bill", json!({"of": "May"})))
        .run(&finds::Acting::default(), "it")
        .await
        .unwrap();
    let changed = folder.golden(RunMode::Changed);
    changed
        .model(model("find_bill", json!({"of": "June"})))
        .run(&finds_now::Acting::default(), "it")
        .await
        .unwrap();
    assert!(folder.read("golden").contains("the bill of June"));
}
