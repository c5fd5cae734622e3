use adk::prelude::*;
use agents::by_hand::User;

workflow! {
    pub Writing() {
        agents::by_hand::User;
        User as model;
    }
}

workflow! {
    pub Model() {
        agents::llm::writer as each
    }
}

fn main() {}
