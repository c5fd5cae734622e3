//! A part of `#[data]` that lacks some of the traits of data is told once, though each derive of each struct asks for one.

use adk::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Lacks `JsonSchema`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Untold(u8);

#[data]
pub struct Note {
    pub one: Untold,
    pub many: Vec<Untold>,
}

#[data]
pub enum Notes {
    Named { untold: Option<Untold> },
    Other(Note),
}

/// Reads it.
#[tool]
fn read(untold: Untold) -> u8 {
    untold.0
}

/// Lacks `Debug`.
#[derive(Clone, JsonSchema, Serialize, Deserialize)]
pub struct Hidden(u8);

/// Lacks `Clone`, and is shared first.
#[derive(Debug, JsonSchema, Serialize, Deserialize)]
pub struct Single(u8);

#[data]
pub struct Both {
    pub hidden: Hidden,
    pub shared: std::sync::Arc<Single>,
    pub single: Single,
}

#[data]
pub struct More {
    pub hidden: Hidden,
    pub single: Single,
}

/// Lacks `Serialize`.
#[derive(Clone, Debug, JsonSchema, Deserialize)]
pub struct Taken(u8);

#[data]
pub struct Holder {
    pub taken: Taken,
}

#[agent(writes = taken)]
fn take(holder: Holder) -> Taken {
    holder.taken
}

workflow! {
    pub Taking(holder: Holder) -> taken: Taken { take }
}

fn main() {}
