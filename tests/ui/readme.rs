use adk::prelude::*;

/// Grades a text, from 0 to 100.
#[agent(writes = score)]
fn grade(text: &str) -> f64 {
    text.len().min(100) as f64
}

/// Says whether it is good enough.
#[agent(writes = good)]
fn is_good(score: u32) -> bool {
    score > 60
}

workflow! {
    /// Criticises a text from two sides, then improves it.
    pub Improving(text: String) -> text: String {
        agent critic -> criticism: String { instruction: "Criticise {text}." }
        agent refiner -> text: String { instruction: "Apply {criticsm} to {text}." }

        parallel < critic; critic as second_critic >
        loop(max = 5, until = good) < refiner; grade; is_good >
    }
}

fn main() {}
