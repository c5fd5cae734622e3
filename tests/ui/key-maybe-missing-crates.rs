use adk::prelude::*;
use agents::{data::Severity, functions, llm};

workflow! {
    pub Writing(topic: String) {
        llm::triage;
        match severity < Severity::High => llm::writer, Severity::Low => functions::finder >
        llm::critic;
        loop(max = 2) < functions::good_enough; functions::grader >
    }
}

fn main() {}
