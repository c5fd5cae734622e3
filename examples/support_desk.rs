//! A support desk: an agent answers simple questions and hands over the others to specialised
//! agents.
//!
//! The agent that ends the conversation writes the ticket. rustc checks that each of the agents
//! does.
//!
//! ```text
//! cargo run --example support_desk -- "invoice 7 is wrong"
//! ```

mod cli;

use adk::prelude::*;
use adk::{Error, ReadonlyContext};
use std::process::ExitCode;

/// What the customer is told, and what the shop keeps.
#[data]
pub struct Ticket {
    /// The answer to the customer, in three sentences at the most.
    pub answer: String,
    /// Whether a person still has to look at it.
    pub open: bool,
}

/// Looks up an invoice of the shop.
#[tool(private)]
fn find_invoice(
    /// Its number.
    number: u32,
) -> Result<String> {
    // A real tool would query a database.
    match number {
        7 => Ok("Invoice 7: one bicycle, 480.00, paid on the 3rd of May.".into()),
        _ => Err(Error::other(format!(
            "there is no invoice {number}; ask the customer for the number on the letter"
        ))),
    }
}

/// Returns the instruction with the chapter for the question, because whole manuals are long.
fn chapter(cx: ReadonlyContext) -> Result<String> {
    let question: String = cx.get("question")?.unwrap_or_default();
    let chapter = match question.to_lowercase() {
        text if text.contains("brake") => {
            "Brakes: the pads are to be changed at 2 mm. Turn the barrel adjuster to the left to \
             tighten."
        }
        text if text.contains("chain") => {
            "Chain: oil it each 200 km. One that jumps is worn: change it with the cassette."
        }
        _ => "Care: wash with cold water, never with a pressure washer. Air each week.",
    };
    Ok(format!(
        "You know one chapter of the manual, and nothing else about bicycles: {chapter}"
    ))
}

workflow! {
    /// Sees to what a customer of a bicycle shop asks.
    #[guards(untrusted(question), strict)]
    pub SupportDesk(question: String) -> ticket: Ticket {
        /// Answers what is simple, and knows who can answer the rest.
        agent desk -> ticket: Ticket {
            global_instruction: "You work for a bicycle shop. It is open from 9 to 18, not on \
                Mondays.",
            instruction: "Answer the customer, or hand over to who knows more: {question}",
            transfer: [billing, workshop],
            max_turns: 3,
        }

        /// Knows invoices and payments.
        agent billing -> ticket: Ticket {
            instruction: "Look at the invoice before you answer: {question}",
            tools: [find_invoice],
            disallow_transfer_to_peers: true,
            max_turns: 4,
        }

        /// Knows how to repair a bicycle.
        agent workshop -> ticket: Ticket {
            instruction: "Ask the manual, then tell the customer what to do: {question}",
            tools: [agent(manual)],
            disallow_transfer_to_peers: true,
            max_turns: 4,
        }

        /// Answers questions about a bicycle from its manual.
        agent manual {
            instruction: chapter,
        }

        desk
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    cli::exit(
        answer(&cli::read(
            &SupportDesk::SPEC,
            "QUESTION",
            "What the customer writes",
        ))
        .await,
    )
}

async fn answer(cli: &cli::Cli) -> Result<()> {
    let question = cli.input()?;
    let rehearsal = Rehearsal::new().with_transfers().with_tool_calls();
    let runner = cli.runner("support_desk", rehearsal)?;
    let outcome = cli
        .show(runner.run(&SupportDesk::default(), question).stream())
        .await?;
    cli.result(&outcome.output.answer)?;
    cli.note(if outcome.output.open {
        "A person still has to look at it."
    } else {
        "The ticket is closed."
    })
}
