//! A connection pool in a tool: `cargo run --example resources`.

use adk::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;

/// The orders of a shop. Your program has a `PgPool` or a client of a service instead.
#[derive(Clone)]
struct Orders(Arc<HashMap<u64, Vec<&'static str>>>);

/// The resources for tools and agents, found by their types.
#[derive(adk::Resources)]
struct App {
    orders: Orders,
}

/// Finds the orders of a customer.
#[tool]
async fn find_orders(
    #[resource] orders: &Orders,
    customer: u64,
) -> Result<Vec<&'static str>, String> {
    orders
        .0
        .get(&customer)
        .cloned()
        .ok_or_else(|| format!("there is no customer {customer}"))
}

/// Counts the orders of a customer.
#[agent(writes = count)]
async fn count_orders(#[resource] orders: &Orders, customer: u64) -> usize {
    orders.0.get(&customer).map_or(0, Vec::len)
}

workflow! {
    /// Answers a customer.
    pub Desk(customer: u64) -> reply: String {
        /// Answers.
        agent clerk -> reply: String {
            instruction: "Tell customer {customer} about their {count} orders.",
            tools: [find_orders],
            max_turns: 4,
        }

        count_orders; clerk
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let orders = Orders(Arc::new(HashMap::from([(7, vec!["a kettle", "two cups"])])));
    let model = Rehearsal::new().with_tool_calls();
    let runner = Runner::builder()
        .model(model)
        .resources(App { orders })
        .build()?;
    println!("{}", runner.run(&Desk::default(), 7_u64).await?.output);
    Ok(())
}
