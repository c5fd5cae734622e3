//! A type with the same name at the same place of another crate with the same name.

use adk::prelude::*;

#[adk::data]
pub struct Plan<const STEPS: usize> {
    pub text: String,
}

#[agent]
pub fn own_reader(plan: &Plan<3>) {
    drop(plan.clone());
}

#[agent]
pub fn perhaps(plan: Option<Plan<3>>) {
    drop(plan);
}

workflow! {
    pub Reading(topic: String) {
        one::planner;
        one::reader;
        two::reader as second;
        own_reader
    }
}

workflow! {
    pub Buying(topic: String) {
        one::pricing;
        one::buyer;
        two::buyer as second
    }
}

workflow! {
    pub Saving(topic: String) {
        agent saver { instruction: "{topic}", tools: [one::save] }
        saver;
        perhaps
    }
}

fn main() {}
