//! Keys where only Rust is read, and instructions that are no text: rustc would speak of names and of `String`.

use adk::prelude::*;

const DESK: &str = "Answer {message}.";

#[adk::data]
enum Severity {
    High { customers: u32 },
    Low,
}

workflow! {
    pub Support(message: String, limit: u32) -> ticket: String {
        let contacts: u32 = 0;

        agent rater -> severity: Severity { instruction: message, max_turns: limit }
        agent desk -> ticket: String { instruction: "Help. " + DESK, temperature: contacts }
        agent sales -> ticket: String { instruction: "Sell. " + "{message}" }
        agent billing -> ticket: String {
            instruction: Look at the order, then answer,
            after_agent: (cx) => { Ok(()) },
            model: "rehearsal",
        }

        rater;
        match severity <
            Severity::High { customers } if customers > 10 && contacts > 3 => desk,
            Severity::High { .. } => sales,
            Severity::Low => billing,
        >
    }
}

workflow! {
    /// The same, as the messages propose it.
    pub Helped(message: String, limit: u32) -> ticket: String {
        let contacts: u32 = 0;

        agent rater -> severity: Severity { instruction: "{message}", max_turns: 3 }
        agent desk -> ticket: String { instruction: DESK, temperature: 0.5 }
        agent sales -> ticket: String { instruction: concat!("Sell. ", "{message}") }
        agent billing -> ticket: String {
            instruction: "Look at the order, then answer",
            after_agent: |cx| { let _ = cx; Ok(()) },
            model: "rehearsal",
        }

        rater;
        match severity <
            Severity::High { customers } if customers > 10 => match contacts < n if n > 3 => desk, _ => billing >,
            Severity::High { .. } => sales,
            Severity::Low => billing as small_billing,
        >
    }
}

fn main() {
    let mut flow = Helped::default();
    flow.rater.set_max_turns(2);
    flow.desk.set_temperature(0.1);
}
