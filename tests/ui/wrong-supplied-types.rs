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

fn main() {}
