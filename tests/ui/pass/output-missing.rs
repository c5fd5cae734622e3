//! Outputs that are written on every path to the end; an input may be an output.

use adk::prelude::*;

workflow! {
    pub Writing(topic: String, severity: String) -> (draft: String, topic: String, alarm: String, found: String) {
        let found: String = "nothing";
        agent writer -> draft: String { instruction: "Write about {topic}." }
        agent page -> alarm: String { instruction: "Wake somebody." }
        agent log -> alarm: String { instruction: "Write it down." }

        loop(max = 2) < writer; break >
        match severity < "high" => page, _ => log >
        agents::functions::finder as second -> found
    }
}

/// Only reports the end: the key keeps the draft of the previous round.
#[tool]
fn done(cx: &mut ToolContext) {
    cx.actions.escalate = true;
    cx.actions.skip_summarization = true;
}

/// Pays, and writes the reply itself.
#[tool]
fn pay(#[key] receipt: Out<String>, cx: &mut ToolContext) {
    cx.actions.skip_summarization = true;
    receipt.set("paid".to_owned());
}

workflow! {
    pub Ending(bill: String) -> (draft: String, receipt: String) {
        agent writer -> draft: String { instruction: "{bill}" }
        agent refiner -> draft: String { instruction: "{draft}", tools: [done] }
        agent payer -> receipt: String { instruction: "{bill}", tools: [pay] }
        agent silent { instruction: "{bill}", tools: [quiet] }
        agent told -> note: String { instruction: "{bill}", tools: [quiet], after_agent: |_| async { None::<String> } }

        writer;
        loop(max = 2) < refiner >
        payer;
        silent;
        told
    }
}

/// Ends the turn.
#[tool]
fn quiet(cx: &mut ToolContext) {
    cx.actions.skip_summarization = true;
}
