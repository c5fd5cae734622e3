//! A payment whose process dies: the careless one pays twice, and the careful one does not.

use adk::prelude::*;
use adk::testing::{Explore, ScriptedModel};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

/// The payments of one history.
#[derive(Clone, Default)]
pub struct Bank(Arc<Mutex<BankBooks>>);

#[derive(Default)]
struct BankBooks {
    paid: Vec<f64>,
    known: BTreeSet<String>,
}

impl Bank {
    fn pay(&self, amount: f64) {
        self.0.lock().unwrap().paid.push(amount);
    }

    fn pay_once(&self, key: String, amount: f64) {
        let mut books = self.0.lock().unwrap();
        if books.known.insert(key) {
            books.paid.push(amount);
        }
    }

    pub fn paid(&self) -> usize {
        self.0.lock().unwrap().paid.len()
    }
}

#[derive(Clone, Default, adk::Resources)]
pub struct World {
    pub bank: Bank,
}

/// Pays, without a thought for deaths.
#[tool]
fn pay(amount: f64, #[resource] bank: &Bank) -> String {
    bank.pay(amount);
    "paid".into()
}

/// Pays once for each call.
#[tool]
fn pay_once(amount: f64, #[resource] bank: &Bank, cx: &mut ToolContext) -> String {
    bank.pay_once(format!("{}/{}", cx.run_id(), cx.call_id()), amount);
    "paid".into()
}

macro_rules! paying {
    ($module:ident, $tool:ident) => {
        pub mod $module {
            use super::*;
            workflow! {
                /// Pays a bill that a person agrees to.
                pub Paying(bill: String) -> receipt: String {
                    agent reader -> amount: String { instruction: "What does {bill} say?" }
                    agent payer -> receipt: String {
                        instruction: "Pay {amount}.",
                        tools: [$tool],
                        max_turns: 3,
                    }
                    reader;
                    /// Pay {amount}?
                    await fine: bool;
                    payer
                }
            }
        }
    };
}
paying!(careless, pay);
paying!(careful, pay_once);

pub fn model(tool: &str) -> ScriptedModel {
    ScriptedModel::new()
        .at("paying/reader")
        .text("250")
        .at("paying/payer")
        .call(tool, json!({"amount": 250}))
        .text("done")
}

/// The settings of both programs.
fn once<'a, W: adk::Workflow>(all: Explore<'a, W>, tool: &str) -> Explore<'a, W, World> {
    all.resources(World::default)
        .answers(model(tool))
        .waits("fine", [true])
        .check(|world| {
            let paid = world
                .resources::<World>()
                .map_or(0, |world| world.bank.paid());
            match paid {
                0 if world.is_finished() => Err("the run ends without a payment".to_owned()),
                0 | 1 => Ok(()),
                _ => Err(format!("paid {paid} times")),
            }
        })
}

#[tokio::test]
async fn the_careless_payment_is_found_with_the_shortest_history() {
    let careless = careless::Paying::default();
    let report = once(adk::explore(&careless, "the bill"), "pay")
        .report()
        .unwrap();
    let shortest = &report.bad[0];
    assert_eq!(shortest.fault, "paid 2 times");
    let [choice] = &shortest.choices[..] else {
        panic!("{:?}", shortest.choices);
    };
    let (_, text) = choice.split_once(": ").unwrap();
    assert_eq!(
        text,
        "the process dies after the call `paying/payer:tool.pay@0` was made, before it is recorded"
    );
    // The other bad histories differ only in the time of the answer.
    let has_choice =
        |bad: &adk::testing::BadHistory| bad.choices.iter().any(|own| own.contains(text));
    assert!(report.bad.iter().all(has_choice), "{:#?}", report.bad);
    let calls: Vec<_> = shortest.world.calls_of("pay").collect();
    assert_eq!(calls.len(), 2);
    assert_eq!(calls[0].args, json!({"amount": 250}));
    assert_eq!(
        (calls[0].is_recorded, calls[1].is_recorded),
        (false, true),
        "{calls:?}"
    );
    assert_eq!(shortest.world.key("receipt"), Some(&json!("done")));
}

#[tokio::test]
async fn the_careful_payment_is_good_at_each_death() {
    let careful = careful::Paying::default();
    let report = once(adk::explore(&careful, "the bill"), "pay_once")
        .await
        .unwrap();
    assert_eq!(report.deaths, DEATHS, "{report}");
    assert_eq!(report.bad_count, 0);
}

#[tokio::test]
async fn two_deaths_are_explored_too() {
    let careful = careful::Paying::default();
    let all = once(adk::explore(&careful, "the bill"), "pay_once").crashes(2);
    let report = all.await.unwrap();
    assert_eq!(report.deaths, DEATHS, "{report}");
    assert!(report.histories > DEATHS * DEATHS / 2, "{report}");
    let careless = careless::Paying::default();
    let all = once(adk::explore(&careless, "the bill"), "pay").crashes(2);
    let report = all.report().unwrap();
    let thrice = report.bad.iter().filter(|bad| bad.fault == "paid 3 times");
    assert!(thrice.count() >= 1, "{report}");
}

/// 6 events, 4 calls with a time before each and one before its record, 1 question, and the status
/// of the run.
const DEATHS: usize = 16;

#[tokio::test]
async fn a_search_gives_the_same_report_each_time() {
    let careless = careless::Paying::default();
    let search = || {
        let all = once(adk::explore(&careless, "the bill"), "pay").crashes(2);
        let report = all.report().unwrap();
        let bad: Vec<_> = report.bad.iter().map(|bad| bad.choices.clone()).collect();
        (report.to_string(), bad)
    };
    let (first, bad) = search();
    assert!(bad.len() > 2);
    for _ in 0..3 {
        assert_eq!(search(), (first.clone(), bad.clone()));
    }
}

#[tokio::test]
async fn a_printed_history_is_replayed_by_itself() {
    let careless = careless::Paying::default();
    let all = || once(adk::explore(&careless, "the bill"), "pay");
    let report = all().report().unwrap();
    let choices = &report.bad[0].choices;
    let again = all().replay(choices).report().unwrap();
    assert_eq!((again.histories, again.bad_count), (1, 1));
    assert_eq!(again.bad[0].choices, *choices);
    let error = all().replay(["3: it rains"]).report().unwrap_err();
    assert!(
        error
            .to_string()
            .contains("decision 3: it rains does not come again"),
        "{error}"
    );
    let error = all().replay(["it rains"]).report().unwrap_err();
    assert!(
        error.to_string().contains("`it rains` is no choice"),
        "{error}"
    );
}

/// The report prints the test in `printed.rs`, where the lines that only the author knows follow
/// the comment.
#[tokio::test]
async fn the_report_prints_a_test_that_compiles() {
    let careless = careless::Paying::default();
    let report = once(adk::explore(&careless, "the bill"), "pay")
        .report()
        .unwrap();
    let lines = |text: &str| -> Vec<String> {
        let lines = text
            .lines()
            .skip_while(|line| !line.contains("fn paying_is_bad"));
        let known =
            lines.filter(|line| !line.contains("        //") && !line.ends_with("// added"));
        known.map(|line| line.replace("pub ", "")).collect()
    };
    let printed = lines(&report.bad[0].test);
    assert!(printed.len() > 5, "{printed:?}");
    assert_eq!(printed, lines(include_str!("printed.rs")));
    let error = super::printed::paying_is_bad().await.unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with("paying: 1 histories, 1 deaths tried, 1 bad"),
        "{text}"
    );
    assert!(
        text.contains("\n\nhelp: this test replays it:\n\n#[tokio::test]\n"),
        "{text}"
    );
}
