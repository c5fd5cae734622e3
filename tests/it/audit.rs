//! The audit of a workflow, as `SPEC.audit()` and through a tree.

use adk::prelude::*;

#[data]
pub enum Urgency {
    Low,
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
            instruction: "How urgent is this? {ticket}", tools: [fetch_page], max_turns: 3,
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

#[test]
fn the_report_has_the_places_of_the_source() {
    let source = include_str!("audit.rs");
    let line = |text: &str| {
        let line = source.lines().position(|line| line.starts_with(text));
        line.unwrap() + 1
    };
    let expected = format!(
        "\
Desk (tests/it/audit.rs:{})   guards: untrusted(ticket), fresh, strict
  sources    ticket (input)                glossary, rater
             fetch_page (untrusted)        rater
  private    find_orders                   clerk
  sinks      fetch_page (sends)            rater     no private data
             send_mail (acts)              sender    no untrusted text
  cleaned    rater -> urgency: Urgency     no text
             glossary -> subject           trusts: \"Keeps the words of the glossary.\" \
             (tests/it/audit.rs:{})
             await fine, shows {{draft}}     a person; the default `false` leads elsewhere
  not seen   the bodies of 1 function and 3 tools
  refused    nothing",
        line("    pub Desk"),
        line("fn glossary"),
    );
    assert_eq!(Desk::SPEC.audit().to_string(), expected);
    let strict = Desk::SPEC.audit().strict();
    assert_eq!(
        strict.to_string(),
        expected,
        "the workflow is already strict"
    );
}
