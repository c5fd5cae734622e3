//! One mistake, one message: what is wrong with a key is not told once more by what reads it.

use adk::DynAgent;
use adk::prelude::*;
use std::sync::Arc;

#[agent(writes = text)]
fn a(topic: &str) -> String {
    topic.to_owned()
}

workflow! {
    /// The arms of the `match` say nothing about a type that the item does not have.
    Matched(topic: String) {
        each word in topic < match word < 1 => a, _ => a as other > >
    }
}

workflow! {
    Nested(topic: String) {
        each word in topic {
            each letter in word < a(topic = letter) >
            a(topic = word) as other;
            loop(max = 2, until = word) < a as third >
        }
    }
}

workflow! {
    /// The first of the two counts.
    Supplied(topic: String) {
        agent reviewer(topic: String, topic: u8) -> score: f64 as Arc<dyn DynAgent>;
        reviewer
    }
}

fn main() {}
