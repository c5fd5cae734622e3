//! Types with one name in blocks, in expansions of macros, and with names of the standard library.

use adk::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Clone, Serialize, Deserialize)]
pub struct Plan(pub String);

fn blocks() {
    #[derive(Clone, Serialize, Deserialize)]
    pub struct Plan(String);

    #[agent(writes = plan)]
    fn planner(topic: &str) -> Plan {
        Plan(topic.to_owned())
    }

    #[agent]
    fn reader(plan: &Plan) {
        drop(plan.clone());
    }

    {
        #[derive(Clone, Serialize, Deserialize)]
        pub struct Plan(String);

        #[agent]
        fn other(plan: &Plan) {
            drop(plan.clone());
        }

        workflow! { pub Reading(topic: String) { planner; reader; other } }
    }
}

macro_rules! read {
    () => {
        #[derive(Clone, Serialize, Deserialize)]
        pub struct Plan(String);

        #[agent]
        fn made(plan: &Plan) {
            drop(plan.clone());
        }
    };
}

fn twice() {
    read!();
    use made as first;
    {
        read!();
        workflow! { pub Made(plan: Plan) { made as second; first } }
    }
}

macro_rules! data {
    ($inner:ty) => {
        #[adk::data]
        pub struct Note($inner);

        #[agent]
        fn noted(note: &Note) {
            drop(note.clone());
        }
    };
}

fn numbered() {
    data!(String);
    use noted as first;
    {
        data!(u32);
        workflow! { pub Numbered(note: Note) { noted as second; first } }
    }
}

type Maybe = Option<Plan>;

#[agent(writes = plan)]
fn perhaps(topic: &str) -> Maybe {
    Some(Plan(topic.to_owned()))
}

#[agent(writes = plan)]
fn certainly(topic: &str) -> Plan {
    Plan(topic.to_owned())
}

#[agent]
fn reads(plan: Plan) {
    drop(plan);
}

workflow! {
    pub Aliased(topic: String, declared: Maybe) {
        perhaps;
        certainly;
        reads;
        reads(plan = declared) as again
    }
}

mod own {
    use super::Plan;
    use adk::prelude::*;
    use serde::{Deserialize, Serialize};

    #[derive(Clone, Serialize, Deserialize)]
    pub struct Vec<T>(std::vec::Vec<T>);

    #[agent]
    fn lent(plans: &[Plan]) {
        drop(plans.len());
    }

    #[agent]
    fn owned(plans: Vec<Plan>) {
        drop(plans);
    }

    /// Saves a plan.
    #[tool(writes(plans: Plan))]
    fn save(cx: &mut ToolContext) {
        drop(cx.path().clone());
    }

    #[agent]
    fn saved(plans: Option<Vec<Plan>>) {
        drop(plans);
    }

    workflow! { pub Listing(plans: std::vec::Vec<Plan>) { lent; owned } }

    workflow! {
        pub Saving(items: std::vec::Vec<String>) {
            agent saver { instruction: "{item}", tools: [save] }
            each item in items < saver >
            saved
        }
    }
}

#[derive(Clone, Serialize, Deserialize)]
pub struct Draft(pub String);

/// Reads a draft.
#[agent]
fn of_draft(item: Draft) {
    drop(item);
}

/// Reads a number.
#[agent]
fn of_number(item: u32) {
    drop(item);
}

workflow! {
    pub Items(items: Vec<Plan>) {
        agent asker { instruction: "Ask.", tools: [agent(of_draft)] }
        each item in items < asker >
    }
}

workflow! {
    pub Numbers(items: Vec<String>) {
        agent asker { instruction: "Ask.", tools: [agent(of_number)] }
        each item in items < asker >
    }
}

#[agent]
fn counts(error: u32) {
    drop(error);
}

workflow! {
    pub Counting(topic: String) {
        agent teller { instruction: "{topic}" }

        try < teller > else < counts >
    }
}

fn main() {}
