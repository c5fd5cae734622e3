//! Two agents of one name below an agent that is a tool.

use adk::prelude::*;

mod bills {
    adk::llm::agent! {
        /// Knows bills.
        pub clerk { instruction: "Answer." }
        /// Hands over.
        pub desk { instruction: "Hand over.", transfer: [clerk] }
    }
}

mod parcels {
    adk::llm::agent! {
        /// Knows parcels.
        pub clerk { instruction: "Answer." }
        /// Hands over.
        pub table { instruction: "Hand over.", transfer: [clerk] }
    }
}

llm::agent! {
    /// Knows everybody.
    pub front { instruction: "Hand over.", transfer: [bills::desk, parcels::table] }
    /// Asks the front.
    pub boss { instruction: "Ask.", tools: [agent(front)] }
}

workflow! {
    /// Uses the front as a tool.
    pub Asking() {
        agent planner { instruction: "Ask.", tools: [agent(front)] }

        planner
    }
}

workflow! {
    /// Uses the front as a tool of another agent.
    pub Bossing() { boss }
}

workflow! {
    /// The same names outside of the tool are other names.
    pub Apart() {
        agent planner { instruction: "Ask.", tools: [agent(bills::desk)] }
        agent second { instruction: "Ask.", tools: [agent(bills::desk), agent(parcels::table)] }

        planner;
        second;
        parcels::clerk
    }
}

fn main() {}
