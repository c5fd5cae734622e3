//! A tool ends the turn of an agent that must answer: a step, a typed agent, a transfer target, an
//! agent as a tool, one tool of several, and a tool of another module.

use adk::prelude::*;

/// Pays.
#[tool]
fn pay(cx: &mut ToolContext) -> String {
    cx.actions.skip_summarization = true;
    "paid".into()
}

/// Looks up the order.
#[tool]
fn look(what: String) -> String {
    what
}

mod bank {
    use adk::prelude::*;

    /// Refunds, and says nothing more when there is nothing to refund.
    #[tool]
    pub async fn refund(amount: u32, cx: &mut ToolContext) -> Result<String> {
        if amount == 0 {
            cx.actions.skip_summarization = true;
        }
        Ok(format!("refunded {amount}"))
    }
}

#[data]
struct Receipt {
    amount: u32,
}

workflow! {
    pub Paying(bill: String) -> receipt: String {
        agent payer -> receipt: String { instruction: "{bill}", tools: [pay] }
        payer
    }
}

workflow! {
    pub Typed(bill: String) -> receipt: Receipt {
        agent payer -> receipt: Receipt { instruction: "{bill}", tools: [look, bank::refund] }
        payer
    }
}

workflow! {
    pub Handing(bill: String) -> receipt: String {
        agent desk -> receipt: String { instruction: "{bill}", transfer: [clerk] }
        agent clerk -> receipt: String { instruction: "{bill}", tools: [pay] }
        desk
    }
}

workflow! {
    pub Asking(bill: String) -> receipt: String {
        agent desk -> receipt: String { instruction: "{bill}", tools: [agent(clerk)], max_turns: 2 }
        /// Pays bills.
        agent clerk -> note: String { instruction: "{bill}", tools: [pay], max_turns: 2 }
        desk
    }
}

llm::agent! {
    /// Pays.
    pub payer -> receipt: String { instruction: "{bill}", tools: [pay] }
}

fn main() {}
