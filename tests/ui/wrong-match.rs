use adk::prelude::*;

/// The urgency.
#[adk::data]
pub enum Severity {
    High,
    Medium,
    Low,
}

workflow! {
    pub Covered(severity: Severity, count: u64, word: String, levels: Vec<Severity>) {
        agent page { instruction: "Page." }
        agent log { instruction: "Log." }
        agent rate -> rated: Severity { instruction: "Rate." }

        match severity < Severity::High => page, Severity::Low => log >
        triage: match severity { Severity::High => rate }
        match count < 0..=5 => (), n if n > 9 => () >
        match word < "a" => (), "b" => () >
        match rated < Severity::High | Severity::Low => () >
        each level in levels < match level < Severity::High => () > >
    }
}

workflow! {
    pub Typed(severity: Severity, count: u64, word: String) {
        agent page { instruction: "Page." }

        match count < "x" => page, _ => () >
        match severity < Severity::Hihg => (), _ => () >
        match severity < High => (), Medium => (), Low => () >
        match word < Severity::High => (), _ => () >
        match count < n if n => (), _ => () >
        match count < n if m > 3 => (), _ => () >
        match count < Urgency::High => (), _ => () >
        match count < _ => (), 3 => () >
    }
}

// For a missing key, rustc does not also ask for its type, which the guards need.
workflow! {
    pub Guarded(words: Vec<String>) {
        match length < n if n.is_power_of_two() => (), _ => () >
        each word in wrods < match word < text if text.is_empty() => (), _ => () > >
    }
}

fn main() {}
