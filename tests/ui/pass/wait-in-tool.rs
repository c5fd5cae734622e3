//! A waiting agent is a step, a sub-agent, or a tool of the agent itself; an agent as a tool does
//! not wait.

use adk::prelude::*;

/// Pays.
#[tool(confirm)]
pub fn pay(to: &str) -> String {
    to.into()
}

/// Knows the prices.
#[tool]
pub fn price(of: &str) -> usize {
    of.len()
}

workflow! {
    /// Asks.
    pub Asking(request: String) -> ok: bool {
        /// {request}?
        await ok: bool
    }
}

workflow! {
    /// Works.
    pub Work(request: String) -> out: String {
        /// Pays.
        agent payer -> out: String { instruction: "Pay.", tools: [pay] }
        /// Knows the cost.
        agent clerk -> cost: String { instruction: "What does it cost?", tools: [price] }
        agent boss -> out: String {
            instruction: "{request}: {ok}",
            tools: [pay, agent(clerk)],
            transfer: [payer],
        }

        Asking;
        boss
    }
}
