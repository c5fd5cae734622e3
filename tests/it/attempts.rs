//! `try` and `parallel(first)` in the language.
#![allow(clippy::unwrap_used, missing_docs, reason = "a test fails by a panic")]

use adk::prelude::*;
use adk::testing::ScriptedModel;
use adk::{ErrorKind, Runner};
use std::time::Duration;

#[adk::data]
pub enum Category {
    Billing,
    Other,
}

#[agent(writes = facts)]
async fn look_up(cx: &mut Context) -> Result<String> {
    match cx.iteration() {
        Some(0) => Err(adk::Error::new(
            ErrorKind::Timeout,
            "the shop does not answer",
        )),
        _ => Ok("three orders".to_owned()),
    }
}

#[agent(writes = facts)]
fn no_facts(error: &str) -> String {
    format!("none, since {error}")
}

#[agent(writes = category)]
fn sort(ticket: &str) -> Category {
    if ticket == "bill" {
        Category::Billing
    } else {
        Category::Other
    }
}

const TRIES: u32 = 2;
const WAIT: Duration = Duration::from_millis(20);

workflow! {
    /// Answers a ticket.
    pub Desk(ticket: String) -> reply: String {
        agent clerk -> reply: String { instruction: "Answer {ticket} for {facts}" }
        agent quick_reply -> reply: String { instruction: "Answer {ticket} quickly" }
        agent careful_reply -> reply: String {
            instruction: "Answer {ticket} carefully, {category}",
        }

        sort;
        try(attempts = TRIES, timeout = "20s", delay = WAIT) < look_up > else < no_facts >
        match category <
            Category::Billing => try(on = all) < clerk > else { careful_reply as second },
            Category::Other => race: parallel(first, max_concurrency = 2) <
                quick_reply; careful_reply
            >,
        >
    }
}

#[tokio::test(start_paused = true)]
async fn a_workflow_with_try_and_parallel_first_runs() {
    let model = ScriptedModel::new()
        .on("clerk")
        .text("Paid.")
        .on("quick_reply")
        .text("Hm.")
        .on("careful_reply")
        .reply(
            adk::testing::Reply::new()
                .text("Well.")
                .after(Duration::from_secs(60)),
        );
    let runner = Runner::builder().model(model).build().unwrap();
    let ended = runner.run(&Desk::default(), "bill").await.unwrap();
    assert_eq!(ended.output, "Paid.");
    assert_eq!(
        ended.get::<String>("facts").unwrap().unwrap(),
        "three orders"
    );
    let ended = runner.run(&Desk::default(), "other").await.unwrap();
    let winner = ended
        .session()
        .events()
        .filter_map(|event| event.winner())
        .next_back()
        .map(str::to_owned);
    assert_eq!(winner.as_deref(), Some("quick_reply"));
    assert_eq!(ended.output, "Hm.");
}

#[test]
fn diagrams_show_try_and_parallel_first() {
    assert_eq!(
        Desk::SPEC.to_string(),
        "\
desk(ticket: String) -> reply: String
├─ sort -> category
├─ try(attempts = 2, timeout = 20s, delay = 20ms)
│  ├─ look_up -> facts
│  └─ else
│     └─ no_facts -> facts
└─ match category
   ├─ Category::Billing => try(attempts = 3, on = all)
   │  ├─ clerk -> reply
   │  └─ else
   │     └─ careful_reply as second -> reply
   └─ Category::Other => race: parallel(first, max_concurrency = 2)
      ├─ quick_reply -> reply
      └─ careful_reply -> reply"
    );
    let drawn = Desk::SPEC.mermaid();
    for arrow in [
        "n2 --> n3",
        "n2 -.->|\"else\"| n5",
        "n3 --> n6",
        "n5 --> n6",
    ] {
        assert!(drawn.contains(arrow), "{arrow} is not in {drawn}");
    }
}

#[test]
fn bounds_count_every_attempt_and_every_branch() {
    assert_eq!(Desk::SPEC.bounds().model_calls, Some(4));
    assert_eq!(Desk::SPEC.lints(), []);
}
