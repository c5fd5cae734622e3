//! Reads a mail of a stranger in agents that cannot act: `cargo run --example quarantined_reader`.

use adk::prelude::*;

/// Asks the carrier to look for the parcel of an order.
#[tool(acts)]
fn trace_parcel(order: u32) -> String {
    format!("the carrier looks for the parcel of order {order}")
}

/// Sends the reply.
#[agent(writes = sent, acts)]
fn send(reply: &str) -> String {
    format!("sent: {reply}")
}

/// Sends nothing.
#[agent(writes = sent, local)]
fn discard() -> &'static str {
    "(not sent)"
}

workflow! {
    /// Looks for the parcel that a mail complains about, and answers the mail.
    #[guards(untrusted(mail), fresh, strict)]
    pub Complaints(mail: String) -> sent: String {
        // A number carries no text of the mail.
        agent reader -> order: String { instruction: "Of which order does this mail write? {mail}" }
        agent tracer {
            include_contents: prompt,
            instruction: "Trace the parcel of order {order}.",
            tools: [trace_parcel],
            max_turns: 2,
        }
        // The reply may repeat anything of the mail, so a person sees it first.
        agent writer -> reply: String { instruction: "Answer this mail: {mail}" }

        reader; tracer; writer;
        /// May the reply be sent?
        await yes: bool;
        match yes < true => send, false => discard >
    }
}

fn main() {}
