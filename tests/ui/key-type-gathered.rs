//! The reader of a list stands inside of the `each` that makes it: what it writes is then a list as well, which is not told.
use adk::prelude::*;

#[agent(writes = notes)]
fn join(findings: &[String]) -> String {
    findings.join("\n")
}

workflow! {
    pub Research(topics: Vec<String>) -> notes: String {
        agent researcher -> findings: String { instruction: "Look {topic} up." }
        each topic in topics < researcher; join >
    }
}

workflow! {
    /// The writer of a key and its reader in two branches, and the key that was meant is read behind them.
    pub Trip(place: String) -> plan: String {
        agent flights -> hotel: String { instruction: "Find a flight to {place}." }
        agent hotels -> hotel: String { instruction: "Find a hotel in {place}." }
        agent planner -> plan: String { instruction: "Plan {flight} and {hotel}." }
        parallel < flights; hotels >
        planner
    }
}

fn main() {}
