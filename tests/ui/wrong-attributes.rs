use adk::prelude::*;

/// Reviews the draft.
#[agent = "criticism"]
fn critic(draft: &str) {
    let _ = draft;
}

/// Looks a word up.
#[tool = "look_up"]
fn look_up(word: String) {
    drop(word);
}

/// A plan.
#[data = "plan"]
struct Plan {
    steps: Vec<String>,
}

fn main() {
    let _ = Plan { steps: Vec::new() }.steps;
}
