//! The help desk: a workflow with branches, elements, instances with renamed keys, and transfers.

use adk::prelude::*;

/// The urgency.
#[adk::data]
pub enum Severity {
    /// A person must act at once.
    High,
    /// The ticket can wait.
    Low,
}

workflow! {
    /// Answers a ticket.
    pub HelpDesk(ticket: String) -> answer: String {
        /// Judges the ticket.
        agent triage -> severity: Severity { instruction: "How bad is it? {ticket}" }

        /// Lists the questions.
        agent splitter -> questions: Vec<String> { instruction: "List the questions of {ticket}." }

        /// Answers one question.
        agent researcher -> finding: String { instruction: "Answer {question}." }

        /// Writes the answer.
        agent author -> answer: String {
            instruction: "Answer {ticket} with {finding?} in a {tone?} tone.",
            transfer: [billing],
        }

        /// Knows about invoices.
        agent billing -> answer: String { instruction: "Answer {ticket}." }

        /// Makes a text shorter.
        agent shortener -> summary: String { instruction: "Shorten {text}." }

        triage;
        match severity <
            Severity::High => crate::steps::page,
            Severity::Low => < splitter; research: each question in questions < researcher > >,
        >;
        shortener(text = ticket) as digest -> gist;
        author
    }
}
