//! Lets a ticket of a stranger select one of three actions: `cargo run --example action_selector`.

use adk::prelude::*;

/// What the shop does about a ticket.
#[data]
pub enum Action {
    /// Send the order again.
    Resend,
    /// Pay the money back.
    Refund,
    /// Let a person read the ticket.
    Forward,
}

/// Sends an order again.
#[agent(writes = done, acts)]
fn resend(order: u64) -> String {
    format!("order {order} is sent again")
}

/// Pays an order back.
#[agent(writes = done, acts)]
fn refund(order: u64) -> String {
    format!("order {order} is paid back")
}

/// Asks a person to read the ticket of an order.
#[agent(writes = done, acts)]
fn forward(order: u64, ticket: &str) -> String {
    format!("a person reads the ticket of order {order}: {ticket}")
}

workflow! {
    /// Does one of three things about a ticket. The order comes from the shop, not from the ticket.
    #[guards(untrusted(ticket), strict)]
    pub TicketDesk(ticket: String, order: u64) -> done: String {
        agent rater -> action: Action { instruction: "What does this ticket call for? {ticket}" }

        rater;
        match action <
            Action::Resend => resend,
            Action::Refund => refund,
            Action::Forward => forward,
        >
    }
}

fn main() {}
