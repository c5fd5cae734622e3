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

fn model(tool: &str) -> ScriptedModel {
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
    println!("{report}");
    println!("{}", report.to_error().unwrap());
    assert_eq!(report.bad_count, 1);
}

#[tokio::test]
async fn the_careful_payment_is_good_at_each_death() {
    let careful = careful::Paying::default();
    let report = once(adk::explore(&careful, "the bill"), "pay_once")
        .await
        .unwrap();
    println!("{report}");
}
