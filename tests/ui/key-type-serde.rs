//! Types that derive serde's traits by themselves have no number, and are compared all the same.

use adk::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Clone, Serialize, Deserialize)]
struct Plan(u8);

#[derive(Clone, Serialize, Deserialize)]
struct Draft(String);

mod other {
    #[derive(Clone, serde::Serialize, serde::Deserialize)]
    pub(crate) struct Draft(pub String);
}

/// The same type by another name.
type Text = Draft;

#[agent(writes = plan)]
fn planner(_draft: &Text) -> Plan {
    Plan(1)
}

#[agent(writes = draft)]
fn namesake(plan: &Plan) -> other::Draft {
    drop(plan.clone());
    other::Draft(String::new())
}

/// Plain types leave the places to those that need them.
#[agent]
fn judge(a: u8, b: u8, c: u8, plan: &Draft, drafts: Vec<other::Draft>) {
    drop((a, b, c, plan.clone(), drafts));
}

#[agent]
fn right(drafts: &[Draft], plan: Option<&Plan>) {
    drop((drafts.to_vec(), plan.cloned()));
}

#[derive(Clone, Serialize, Deserialize)]
struct Tone(String);

/// There is no place for a fourth one: what takes other room is another type for certain.
#[agent]
fn four(plan: &Plan, draft: &Draft, tone: &Tone, last: &Tone) {
    drop((plan.clone(), draft.clone(), tone.clone(), last.clone()));
}

#[agent]
fn number(plan: u8) {
    drop(plan);
}

workflow! {
    Working(draft: Draft, a: u8, b: u8, c: u8, drafts: Vec<Draft>, tone: Tone, last: Plan) -> plan: Draft {
        planner(_draft = draft);
        namesake;
        judge;
        right;
        four;
        number
    }
}

fn main() {}
