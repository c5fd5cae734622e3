//! Agents of two macro calls that hand over to each other: rustc reports a cycle of constants.

use adk::prelude::*;

mod shop {
    adk::llm::agent! { pub seller { instruction: "Sell.", transfer: [crate::stock::keeper] } }
}

mod stock {
    adk::llm::agent! { pub keeper { instruction: "Count.", transfer: [crate::shop::seller] } }
}

workflow! {
    pub Desk() { shop::seller }
}

fn main() {}
