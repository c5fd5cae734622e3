//! Copies of the examples without labels and guards, in which strangers reach the tools.

use adk::prelude::*;

/// Finds what guests wrote about a place.
#[tool]
fn find_reviews(place: &str) -> String {
    format!("Guests of {place} wrote: try the soup.")
}

/// Invites a guest to a place.
#[tool]
fn invite(guest: &str, place: &str) -> String {
    format!("{guest} is invited to {place}")
}

workflow! {
    /// Decides after it has read the reviews.
    pub OpenLunch(wish: String) -> report: String {
        agent host -> report: String {
            instruction: "Read the reviews, then do what the user wants: {wish}",
            tools: [find_reviews, invite],
            max_turns: 4,
        }

        host
    }
}

/// Asks the carrier to look for the parcel of an order.
#[tool]
fn trace_parcel(order: &str) -> String {
    format!("the carrier looks for the parcel of order {order}")
}

/// Sends the reply.
#[agent(writes = sent)]
fn send(reply: &str) -> String {
    format!("sent: {reply}")
}

workflow! {
    /// Takes the number of the order as a text, and asks no person.
    pub OpenComplaints(mail: String) -> sent: String {
        agent reader -> order: String { instruction: "Of which order does this mail write? {mail}" }
        agent tracer {
            include_contents: prompt,
            instruction: "Trace the parcel of order {order}.",
            tools: [trace_parcel],
            max_turns: 2,
        }
        agent writer -> reply: String { instruction: "Answer this mail: {mail}" }

        reader; tracer; writer; send
    }
}

/// Pays an order back.
#[tool]
fn refund(order: u64, reason: &str) -> String {
    format!("order {order} is paid back: {reason}")
}

/// Asks a person to read the ticket of an order.
#[tool]
fn forward(order: u64, note: &str) -> String {
    format!("a person reads the ticket of order {order}: {note}")
}

workflow! {
    /// Lets the agent that reads the ticket call the actions.
    pub OpenTicketDesk(ticket: String, order: u64) -> done: String {
        agent clerk -> done: String {
            instruction: "See to this ticket about order {order}: {ticket}",
            tools: [refund, forward],
            max_turns: 3,
        }

        clerk
    }
}
