//! Types that are that of no agent: one message for each.

use adk::prelude::*;

workflow! {
    pub Supplied(text: String) {
        agent a: dyn Agent;
        agent b: impl Agent;
        agent c: [u8];
        agent d: str;
        agent e: Box<dyn Agent>;
        agent f: _;
        agent g(text: String) -> found: String as dyn DynAgent;
        agent h(text: String) -> found: String as std::sync::Arc<dyn Agent>;

        a; b; c; d; e; f; g; h
    }
}

// A trait without `dyn`, by whatever path. What is meant is checked.
mod traits {
    use adk::prelude::*;
    use adk::DynAgent;

    workflow! {
        pub Open(text: String) -> found: u8 {
            agent a: Agent;
            agent b: adk::prelude::Agent;
            agent c(text: String) -> found: u8 as DynAgent;
            agent d(text: String) -> more: String as adk::DynAgent;

            a; b; c; d
        }
    }
}

fn main() {}
