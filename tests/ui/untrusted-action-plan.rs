//! Plans before it reads what strangers wrote: `cargo run --example plan_execute`.

use adk::prelude::*;

/// What the user wants.
#[data]
pub struct Plan {
    /// Whom to invite.
    pub guest: String,
    /// Where to eat.
    pub place: String,
}

/// Finds what guests wrote about a place.
#[tool(untrusted, sends)]
fn find_reviews(place: &str) -> String {
    format!("Guests of {place} wrote: try the soup.")
}

/// Invites a guest to a place.
#[tool(acts)]
fn invite(guest: &str, place: &str) -> String {
    format!("{guest} is invited to {place}")
}

workflow! {
    /// Invites a guest, and reports what strangers wrote about the place.
    #[guards(fresh, strict)]
    pub Lunch(wish: String) -> report: String {
        agent planner -> plan: Plan { instruction: "Plan what the user wants: {wish}" }
        agent reader -> report: String {
            instruction: "Report what guests wrote about the place of {plan}",
            tools: [find_reviews],
            max_turns: 3,
        }
        agent host {
            include_contents: prompt,
            instruction: "Invite the guest as planned: {plan} Mind what guests wrote: {report}",
            tools: [invite],
            max_turns: 2,
        }

        planner; reader; host
    }
}

fn main() {}
