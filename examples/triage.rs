//! A support desk: an agent rates a ticket, and a `match` selects the agent that handles it.
//!
//! rustc checks the arms: if an arm is missing, or does not write the answer, the program does not
//! compile.
//!
//! ```text
//! cargo run --example triage -- "the shop shows an empty page"
//! ```

mod cli;

use adk::prelude::*;
use std::process::ExitCode;

/// How bad it is.
#[data]
pub enum Severity {
    /// Nobody can work.
    Outage {
        /// How many customers it hits; 1 when the ticket does not say.
        customers: u32,
    },
    /// Something is broken, and work goes on.
    Bug,
    /// The customer wants to know something; nothing is broken.
    Question,
    /// No ticket: advertising, or a mistake.
    Spam,
}

/// The number of affected customers that wakes the engineer on duty.
const MANY: u32 = 10;

/// Wakes the engineer on duty. A ticket can cause this, and can say nothing in the message.
#[agent(writes = answer, acts)]
fn pager() -> &'static str {
    // A real agent would send a message.
    "An engineer is on it, at any hour."
}

/// Throws the ticket away.
#[agent(writes = answer, local)]
fn bin() -> &'static str {
    "(not answered)"
}

llm::agent! {
    /// Writes to a customer. It knows no workflow: each one says which of its keys is the message.
    pub reply -> letter: String {
        include_contents: none,
        instruction: "Write to a customer of a web shop, politely and in three sentences at the \
            most. Say what follows and nothing else; where it is a question, answer it.\n\n\
            {message}",
    }
}

workflow! {
    /// Rates a ticket and sees to it.
    #[guards(untrusted(ticket), strict)]
    pub Triage(ticket: String) -> answer: String {
        /// Says how bad it is.
        agent rater -> severity: Severity {
            include_contents: none,
            instruction: "How bad is what this ticket says?\n\n{ticket}",
        }

        /// Looks for the cause.
        agent engineer -> findings: String {
            include_contents: none,
            instruction: "You maintain a web shop. Name in two sentences the most likely cause of \
                this, and what the customer can do until it is mended:\n\n{ticket}",
        }

        rater;
        match severity <
            Severity::Outage { customers } if customers >= MANY => pager,
            Severity::Outage { .. } | Severity::Bug => <
                engineer;
                reply(message = findings) as polite -> answer
            >,
            Severity::Question => reply(message = ticket) -> answer,
            Severity::Spam => bin,
        >
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    cli::exit(
        answer(&cli::read(
            &Triage::SPEC,
            "TICKET",
            "What the customer writes",
        ))
        .await,
    )
}

async fn answer(cli: &cli::Cli) -> Result<()> {
    let ticket = cli.input()?;
    let runner = cli.runner("triage", Rehearsal::new())?;
    let outcome = cli
        .show(runner.run(&Triage::default(), ticket).stream())
        .await?;
    cli.result(&outcome.output)
}
