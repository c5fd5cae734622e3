//! Looks for a history in which a payment is made twice:
//! `cargo run --features testing --example explore`.

use adk::prelude::*;
use adk::testing::{ScriptedModel, World};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// A bank that knows the keys of its payments.
#[derive(Clone, Default)]
struct Bank(Arc<Mutex<Books>>);

#[derive(Default)]
struct Books {
    keys: BTreeSet<String>,
    payments: Vec<f64>,
}

impl Bank {
    fn pay(&self, key: String, amount: f64) {
        let mut books = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if books.keys.insert(key) {
            books.payments.push(amount);
        }
    }

    fn payments(&self) -> usize {
        let books = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        books.payments.len()
    }
}

/// The world outside of the run, which a death of the process does not change.
#[derive(Clone, Default, adk::Resources)]
struct Outside {
    bank: Bank,
}

/// Pays a bill. Each call has a new key, also if it is made again.
#[tool]
fn pay(amount: f64, #[resource] bank: &Bank) -> String {
    bank.pay(format!("payment {}", bank.payments()), amount);
    "paid".to_owned()
}

/// Pays a bill. A call that is made again has the same key.
#[tool]
fn pay_once(amount: f64, #[resource] bank: &Bank, cx: &mut ToolContext) -> String {
    bank.pay(format!("{}/{}", cx.run_id(), cx.call_id()), amount);
    "paid".to_owned()
}

workflow! {
    /// Pays a bill that a person agrees to.
    pub Careless(bill: String) -> receipt: String {
        agent payer -> receipt: String { instruction: "Pay {bill}.", tools: [pay], max_turns: 3 }

        /// Pay {bill}?
        await fine: bool;
        payer
    }
}

workflow! {
    /// Pays a bill that a person agrees to.
    pub Careful(bill: String) -> receipt: String {
        agent payer -> receipt: String {
            instruction: "Pay {bill}.",
            tools: [pay_once],
            max_turns: 3,
        }

        /// Pay {bill}?
        await fine: bool;
        payer
    }
}

/// Answers by the place of a call, so that a call that is made again gets the same answer.
fn model(payer: &str, tool: &str) -> ScriptedModel {
    ScriptedModel::new()
        .at(payer)
        .call(tool, json!({"amount": 250}))
        .text("The rent is paid.")
}

/// Checks the world at the end of each history.
fn paid_once(world: &World) -> Result<(), String> {
    let bank = world.resources::<Outside>().map(|world| &world.bank);
    match bank.map_or(0, Bank::payments) {
        0 if world.is_finished() => Err("not paid".to_owned()),
        0 | 1 => Ok(()),
        more => Err(format!("paid {more} times")),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let careless = adk::explore(&Careless::default(), "the rent")
        .resources(Outside::default)
        .answers(model("careless/payer", "pay"))
        .waits("fine", [true])
        .check(paid_once)
        .report()?;
    println!("{careless}");
    if let Some(shortest) = careless.bad.first() {
        println!("{shortest}");
    }
    // Awaiting it prints the counts, and fails with the shortest bad history.
    adk::explore(&Careful::default(), "the rent")
        .resources(Outside::default)
        .answers(model("careful/payer", "pay_once"))
        .waits("fine", [true])
        .check(paid_once)
        .await?;
    Ok(())
}
