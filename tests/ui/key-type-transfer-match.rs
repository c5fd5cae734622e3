//! A key that only a transfer target, or a tool, writes has no type in the step that is placed: a `match` on it gets the message
//! about the key and nothing else.

use adk::prelude::*;

/// Notes something.
#[tool(writes(memo: String))]
fn note(cx: &mut ToolContext, text: String) -> Result<()> {
    cx.state().set("memo", text)
}

workflow! {
    pub Desk(ticket: String) {
        agent triage -> level: u32 { transfer: [billing], instruction: "{ticket}", tools: [note] }
        agent billing -> kind: String { instruction: "{ticket}" }
        agent closer { instruction: "{ticket}" }

        triage;
        match kind < "bill" => closer, _ => () >
        match memo < "" => (), _ => () >
    }
}

fn main() {}
