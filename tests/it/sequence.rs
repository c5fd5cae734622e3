//! Calls of one reply that read and write the same key: each call sees the writes of the calls
//! before it.

use super::killed::{ByTurn, kill_everywhere};
use adk::engine::MemoryJournal;
use adk::prelude::*;
use adk::testing::ScriptedModel;
use std::time::Duration;

/// Adds to the total. A small number takes longer.
#[tool]
async fn add(n: u32, #[key] total: u32, #[key(total)] sum: Out<u32>) -> String {
    tokio::time::sleep(Duration::from_millis(u64::from(100 / n.max(1)))).await;
    sum.set(total + n);
    format!("{total} + {n}")
}

/// Adds to the total after a person agrees.
#[tool(confirm)]
fn add_much(n: u32, #[key] total: u32, #[key(total)] sum: Out<u32>) -> String {
    sum.set(total + n);
    format!("{total} + {n}")
}

/// Sets the total to 0.
#[tool]
fn clear(#[key(total)] sum: Out<u32>) {
    sum.set(0);
}

/// Keeps a fact.
#[tool]
async fn note(fact: String, #[key] facts: Vec<String>, #[key(facts)] all: Out<Vec<String>>) {
    tokio::time::sleep(Duration::from_millis(u64::from(fact == "a") * 50)).await;
    all.set([facts, vec![fact]].concat());
}

/// Returns the total as of the model's reply.
#[tool]
fn look(#[key] total: u32) -> u32 {
    total
}

workflow! {
    /// Adds and keeps facts.
    Adding(question: String) -> (total: u32, facts: Vec<String>) {
        let total: u32 = 1;
        let facts: Vec<String> = Vec::new();
        agent adder {
            instruction: "{question}",
            tools: [add, add_much, clear, note, look],
            max_turns: 3,
        }
        adder
    }
}

type Calls = &'static [(&'static str, &'static str, u32)];

fn model(calls: Calls) -> ScriptedModel {
    let calls = calls.iter().map(|(tool, argument, n)| {
        let args = match *argument {
            "" => json!({}),
            "fact" => json!({"fact": (["a", "b", "c"][*n as usize])}),
            argument => json!({argument: n}),
        };
        (*tool, args)
    });
    ScriptedModel::new()
        .calls(calls.collect::<Vec<_>>())
        .text("done")
}

/// Returns the total, the facts and the results of the calls.
async fn run_calls(calls: Calls) -> (u32, Vec<String>, Vec<String>) {
    let runner: Runner = Runner::builder().model(model(calls)).build().unwrap();
    let outcome = runner.run(&Adding::default(), "how much?").await.unwrap();
    let answers = outcome
        .session()
        .events()
        .flat_map(|event| event.function_responses());
    let answers = answers
        .map(|answer| answer.response["result"].to_string())
        .collect();
    (outcome.output.total, outcome.output.facts, answers)
}

#[tokio::test(start_paused = true)]
async fn each_call_sees_the_writes_of_the_calls_before_it() {
    let (total, _, answers) = run_calls(&[("add", "n", 1), ("add", "n", 2), ("add", "n", 3)]).await;
    assert_eq!(
        (total, answers),
        (
            7,
            vec!["\"1 + 1\"".into(), "\"2 + 2\"".into(), "\"4 + 3\"".into()]
        )
    );
    let (_, facts, _) = run_calls(&[
        ("note", "fact", 0),
        ("note", "fact", 1),
        ("note", "fact", 1),
    ])
    .await;
    assert_eq!(facts, ["a", "b", "b"]);
    let (total, facts, _) = run_calls(&[
        ("add", "n", 1),
        ("note", "fact", 0),
        ("add", "n", 2),
        ("note", "fact", 2),
    ])
    .await;
    assert_eq!((total, facts), (4, vec!["a".into(), "c".into()]));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_only_writes_the_key_keeps_its_place_and_one_that_only_reads_it_does_not_wait()
{
    assert_eq!(
        run_calls(&[("add", "n", 1), ("clear", "", 0), ("add", "n", 2)])
            .await
            .0,
        2
    );
    assert_eq!(
        run_calls(&[("clear", "", 0), ("add", "n", 2), ("clear", "", 0)])
            .await
            .0,
        0
    );
    let (total, _, answers) = run_calls(&[("add", "n", 5), ("look", "", 0), ("add", "n", 1)]).await;
    assert_eq!((total, &*answers[1]), (7, "1"));
}

/// A call that waits for a person blocks the calls of the same key that follow it, and no other
/// calls.
#[tokio::test(start_paused = true)]
async fn calls_wait_for_an_earlier_call_that_needs_consent() {
    let calls: Calls = &[
        ("add", "n", 1),
        ("note", "fact", 0),
        ("add_much", "n", 100),
        ("add", "n", 2),
    ];
    for (agrees, sum) in [(true, 104), (false, 4)] {
        let runner: Runner = Runner::builder()
            .model(model(calls))
            .engine(MemoryJournal::new())
            .workflow(Adding::default())
            .build()
            .unwrap();
        let error = runner
            .session("u", "s")
            .run(&Adding::default(), "how much?")
            .await
            .unwrap_err();
        assert_eq!(error.kind(), adk::ErrorKind::Paused, "{error}");
        let asked = runner.waiting().await.unwrap();
        runner.answer(&asked[0].id, agrees).await.unwrap();
        let recovered = runner.recover().await.unwrap();
        assert!(
            recovered.iter().all(|recovered| recovered.result.is_ok()),
            "{recovered:?}"
        );
        let session = runner
            .session("u", "s")
            .get(&Default::default())
            .await
            .unwrap()
            .unwrap();
        assert_eq!(*session.state["total"], json!(sum));
        assert_eq!(*session.state["facts"], json!(["a"]));
    }
}

/// The process is killed at each point. No call is made twice, and each call sees the same values.
#[tokio::test(start_paused = true)]
async fn a_resumed_run_adds_the_same_numbers() {
    let adds = ByTurn(|turn| match turn {
        0 => model(&[
            ("add", "n", 1),
            ("note", "fact", 0),
            ("add", "n", 2),
            ("add", "n", 3),
        ]),
        _ => ScriptedModel::new().text("done"),
    });
    let kills = kill_everywhere(&Adding::default(), "how much?", adds, |outcome| {
        assert_eq!(
            (outcome.output.total, outcome.output.facts),
            (7, vec!["a".into()])
        );
    })
    .await;
    assert!(kills > 15, "{kills}");
}

/// Keeps a fact, in place.
#[tool]
async fn keep(fact: String, #[key] facts: &mut Vec<String>) -> usize {
    tokio::time::sleep(Duration::from_millis(u64::from(fact == "a") * 50)).await;
    facts.push(fact);
    facts.len()
}

/// Counts visits of the user.
#[tool(blocking)]
fn visit(#[key(user:visits)] visits: &mut Option<u32>) -> std::result::Result<u32, String> {
    let count = visits.unwrap_or(0) + 1;
    *visits = Some(count);
    if count > 2 {
        Err("too often".into())
    } else {
        Ok(count)
    }
}

workflow! {
    /// Keeps facts.
    Keeping(question: String) -> facts: Vec<String> {
        let facts: Vec<String> = Vec::new();
        agent keeper { instruction: "{question}", tools: [keep, visit], max_turns: 3 }
        keeper
    }
}

#[tokio::test]
async fn a_mutable_parameter_reads_and_writes_its_key() {
    let mut facts = vec!["here".to_owned()];
    assert_eq!(keep("it is called as written".into(), &mut facts).await, 2);
    let calls = [
        ("keep", json!({"fact": "a"})),
        ("visit", json!({})),
        ("keep", json!({"fact": "b"})),
        ("visit", json!({})),
        ("visit", json!({})),
    ];
    let runner: Runner = Runner::builder()
        .model(ScriptedModel::new().calls(calls).text("done"))
        .build()
        .unwrap();
    let outcome = runner.run(&Keeping::default(), "what?").await.unwrap();
    let answers = outcome
        .session()
        .events()
        .flat_map(|event| event.function_responses());
    let answers: Vec<_> = answers
        .map(|answer| json!(answer.response).to_string())
        .collect();
    assert_eq!(
        answers[..4],
        [
            r#"{"result":1}"#,
            r#"{"result":1}"#,
            r#"{"result":2}"#,
            r#"{"result":2}"#
        ]
    );
    assert!(answers[4].contains("too often"), "{answers:?}");
    // A failed call leaves the key unchanged.
    assert_eq!(outcome.get::<u32>("user:visits").unwrap(), Some(2));
    assert_eq!(outcome.output, ["a", "b"]);
}
