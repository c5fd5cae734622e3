use adk::prelude::*;

workflow! {
    pub Support(ticket: String) {
        agent triage { instruction: "Sort {ticket}.", transfer: [biling, legal, triage, refunds, refunds, log] }
        agent billing { instruction: "Answer {ticket}.", transfer: [refunds] }
        agent refunds { instruction: "Answer {ticket}.", transfer: [closing] }
        agent closing { instruction: "Answer {ticket}.", transfer: [triage] }
        agent log { instruction: "Note {ticket}." }

        triage; billing; log;
        closing: loop(max = 2) < log as second >
    }
}

fn main() {}
