//! Functions that are agents.

use adk::{Flow, agent};

/// Reads `draft: String`, writes `score: f64`.
#[agent(writes = score)]
pub fn grader(draft: &str) -> f64 {
    f64::from(u32::try_from(draft.len()).unwrap_or(u32::MAX))
}

/// Reads `score: f64`, may end a loop.
#[agent]
pub fn good_enough(score: f64) -> Flow {
    Flow::exit_if(score > 0.5)
}

/// Reads `score: f64`, may end the loop with the name `outer`.
#[agent(exits(outer))]
pub fn give_up(score: f64) -> Flow {
    if score < 0.1 {
        Flow::ExitTo("outer".into())
    } else {
        Flow::Continue
    }
}

/// Reads `items: Vec<String>`, writes `count: u32`.
#[agent(writes = count)]
pub fn counter(items: &[String]) -> u32 {
    u32::try_from(items.len()).unwrap_or(u32::MAX)
}

/// Writes `items: Vec<String>`.
#[agent(writes = items)]
pub fn lister() -> Vec<String> {
    vec!["one".to_owned()]
}

/// Writes `approved: bool`.
#[agent(writes = approved)]
pub fn approver() -> bool {
    true
}

/// Writes `draft: String` on some paths.
#[agent(writes = draft)]
pub fn finder() -> Option<String> {
    None
}
