//! Code that a condition removes is not compiled, so its types need not exist.
#![allow(
    clippy::non_minimal_cfg,
    reason = "a condition that always holds is one of those that are tried"
)]

use adk::prelude::*;

#[data]
pub struct Ticket {
    text: String,
    #[cfg(any())]
    left_out: Missing,
    #[cfg(any())]
    borrowed: &'static [Missing],
    #[cfg(all())]
    kept: Level,
}

#[data]
pub struct Pair(#[cfg(any())] Missing, Level);

#[data]
pub enum Level {
    #[cfg(any())]
    LeftOut(Missing),
    #[cfg(any())]
    LeftOutWithName { missing: Missing },
    /// The distance.
    Kept {
        #[cfg(any())]
        missing: Missing,
        distance: Vec<Distance>,
    },
}

#[data]
pub struct Distance(u32);

#[data]
#[cfg(any())]
pub struct LeftOut {
    missing: Missing,
}

#[derive(adk::Resources)]
pub struct Desk {
    ticket: Ticket,
    #[cfg(any())]
    missing: Missing,
}

#[agent(writes = answer)]
#[cfg(any())]
pub fn left_out(missing: &Missing) -> Missing {
    missing.clone()
}

#[tool]
#[cfg(any())]
pub fn left_out_tool(missing: Missing) -> Missing {
    missing
}

#[derive(Default)]
pub struct ByHand;

#[agent(reads(missing: Missing))]
#[cfg(any())]
impl adk::Agent for ByHand {
    const META: AgentMeta<'static> = AgentMeta::custom("by_hand");
}
