//! What strangers can reach in a workflow: `cargo run --example audit`.

use adk::prelude::*;

/// The urgency of a ticket.
#[data]
pub enum Urgency {
    /// It may wait.
    Low,
    /// It must not wait.
    High,
}

/// Fetches a page.
#[tool(untrusted, sends)]
fn fetch_page(url: &str) -> String {
    format!("the text of {url}")
}

/// Finds the orders of a customer.
#[tool(private)]
fn find_orders(customer: u64) -> String {
    format!("2 orders of {customer}")
}

/// Sends a mail.
#[tool(acts)]
fn send_mail(body: &str) -> String {
    format!("sent {body}")
}

/// Keeps the words of the glossary.
#[agent(writes = subject, trusts)]
fn glossary(ticket: &str) -> String {
    let words = ticket.split(' ');
    words
        .filter(|word| ["invoice", "parcel"].contains(word))
        .collect()
}

workflow! {
    /// Answers a ticket by mail.
    #[guards(untrusted(ticket), fresh, strict)]
    pub Desk(ticket: String, customer: u64) {
        agent rater -> urgency: Urgency {
            instruction: "How urgent is this? {ticket}",
            tools: [fetch_page],
            max_turns: 3,
        }
        agent clerk -> draft: String {
            include_contents: none,
            instruction: "Answer customer {customer}, urgency {urgency}.",
            tools: [find_orders],
            max_turns: 3,
        }
        agent sender {
            include_contents: none,
            instruction: "Mail {draft} with the subject {subject}.",
            tools: [send_mail],
            max_turns: 2,
        }

        glossary; rater; clerk;
        /// May this be sent? {draft}
        await(timeout = "1h", default = false) fine: bool;
        match fine < true => sender, false => () >
    }
}

fn main() {
    let audit = Desk::SPEC.audit();
    println!("{audit}");
    assert!(audit.is_clean());
}
