//! A support desk: a typed reply, resources, a `try` with `else`, a race in an arm, and bounds for
//! all of it.

use adk::prelude::*;
use adk::testing::{Reply, ScriptedModel};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// The subject of a ticket.
#[adk::data]
#[derive(PartialEq)]
pub enum Category {
    /// Money.
    Billing,
    /// Other subjects.
    Other,
}

/// The database of the shop, which fails `failures` times before it answers.
#[derive(Debug)]
pub struct PgPool {
    failures: AtomicU32,
    facts: &'static str,
}

#[derive(adk::Resources)]
struct Shop {
    db: PgPool,
}

/// Looks the customer up.
#[agent(writes = facts)]
async fn look_up(#[resource] db: &PgPool, customer: u64) -> Result<String> {
    let left = db
        .failures
        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
            left.checked_sub(1)
        });
    if left.is_ok() {
        tokio::time::sleep(Duration::from_secs(60)).await;
    }
    Ok(format!("customer {customer}: {}", db.facts))
}

/// Reports that no facts are known.
#[agent(writes = facts)]
fn no_facts(error: &str) -> String {
    format!("nothing is known: {error}")
}

/// Finds the orders of a customer.
#[tool]
async fn find_orders(#[resource] db: &PgPool, customer: u64) -> Vec<String> {
    vec![format!("{customer} bought {}", db.facts)]
}

workflow! {
    /// Answers a ticket from what the shop knows.
    #[bounds(model_calls = 14, time = "5m")]
    pub Desk(ticket: String, customer: u64) -> reply: String {
        agent classifier -> category: Category { instruction: "What is this about? {ticket}" }
        agent clerk -> reply: String {
            instruction: "Answer {ticket} for {facts}",
            tools: [find_orders],
            max_turns: 4,
        }
        agent quick_reply -> reply: String { instruction: "Answer {ticket} at once" }
        agent careful_reply -> reply: String {
            instruction: "Answer {ticket} with care, for {facts}",
        }

        classifier;
        try(attempts = 2, timeout = "20s") < look_up > else < no_facts >
        match category <
            Category::Billing => clerk,
            Category::Other => parallel(first) < quick_reply; careful_reply >,
        >
    }
}

fn shop(failures: u32) -> Shop {
    Shop {
        db: PgPool {
            failures: AtomicU32::new(failures),
            facts: "a kettle",
        },
    }
}

fn ask(ticket: &str) -> DeskInput {
    DeskInput {
        ticket: ticket.into(),
        customer: 7,
    }
}

#[test]
fn the_worst_case_of_the_desk_is_known() {
    let bounds = Desk::SPEC.bounds();
    assert_eq!((bounds.model_calls, bounds.rounds), (Some(7), Some(0)));
    assert_eq!(Desk::SPEC.lints(), []);
}

#[tokio::test(start_paused = true)]
async fn a_billing_ticket_is_answered_from_the_second_attempt() {
    let model = ScriptedModel::new()
        .on("classifier")
        .text("It is about money, so:\n```json\n\"Billing\"\n```")
        .on("clerk")
        .call("find_orders", json!({"customer": 7}))
        .text("You bought a kettle.");
    let runner = Runner::builder()
        .model(model.clone())
        .resources(shop(1))
        .build()
        .unwrap();
    let workflow = Desk::default();
    let mut stream = runner.run(&workflow, ask("What did I buy?")).stream();
    let mut attempts = Vec::new();
    while let Some(event) = stream.next().await {
        attempts.extend(event.unwrap().failed_attempt());
    }
    let RunEnd::Finished(outcome) = stream.end() else {
        panic!("it has not finished")
    };
    assert_eq!(outcome.output, "You bought a kettle.");
    assert_eq!(
        (attempts.len(), attempts[0].attempt, attempts[0].again),
        (1, 1, true)
    );
    assert!(
        attempts[0].error.contains("desk/try_1#1"),
        "{}",
        attempts[0].error
    );
    assert!(
        model.requests_of("clerk")[0]
            .system_instruction
            .contains("customer 7: a kettle")
    );
}

#[tokio::test(start_paused = true)]
async fn without_facts_the_first_of_two_replies_wins() {
    let model = ScriptedModel::new()
        .on("classifier")
        .text("\"Refund\"")
        .text("\"Other\"")
        .on("quick_reply")
        .reply(Reply::new().text("Hello!").after(Duration::from_secs(1)))
        .on("careful_reply")
        .reply(
            Reply::new()
                .text("Dear customer.")
                .after(Duration::from_secs(9)),
        );
    let runner = Runner::builder()
        .model(model.clone())
        .resources(shop(9))
        .build()
        .unwrap();
    let outcome = runner.run(&Desk::default(), ask("Hello?")).await.unwrap();
    assert_eq!(outcome.output, "Hello!");
    let facts = outcome.get::<String>("facts").unwrap().unwrap();
    assert!(
        facts.starts_with("nothing is known: the attempt took longer"),
        "{facts}"
    );
    assert_eq!(model.requests_of("classifier").len(), 2);
}
