use adk::prelude::*;

/// Pays.
#[tool(confirm)]
fn pay(to: &str) -> String {
    to.into()
}

/// Orders a review.
#[tool(long_running)]
fn order() -> String {
    "ordered".into()
}

workflow! {
    /// Asks.
    pub Asking(request: String) -> ok: bool {
        /// {request}?
        await ok: bool
    }
}

workflow! {
    pub Work(q: String) -> out: String {
        /// Pays.
        agent payer -> h: String { instruction: "Pay.", tools: [pay] }
        /// Hands over to the agent that pays.
        agent clerk -> done: String { instruction: "Hand over.", transfer: [cashier] }
        /// Pays in cash.
        agent cashier -> done: String { instruction: "Pay.", tools: [pay] }
        /// Gets a review.
        agent reviewer -> review: String { instruction: "Order a review.", tools: [order] }
        /// Asks the paying agent: of two calls, the inner call is at fault.
        agent middle -> m: String { instruction: "Let it be paid.", tools: [agent(payer)] }
        agent boss -> out: String {
            instruction: "{q}",
            tools: [agent(middle), agent(clerk), agent(reviewer), agent(Asking)],
        }

        boss
    }
}

fn main() {}
