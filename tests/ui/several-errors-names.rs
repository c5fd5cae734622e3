use adk::prelude::*;

/// Grades.
#[agent(writes = score)]
fn grade(text: &str) -> f64 {
    text.len() as f64
}

/// Judges.
#[agent(writes = good)]
fn judge(score: u32) -> bool {
    score > 60
}

workflow! {
    /// Steps whose names are at fault, before others whose keys are.
    pub Named(text: String) -> (score: f64, last: String) {
        agent user -> mine: String { instruction: "Rewrite {txt}." }
        agent critic -> criticism: String { instruction: "Criticise {mine}." }
        agent refiner -> text: String { instruction: "Apply {criticsm} to {text}." }

        user;
        critic;
        critic;
        refiner as critic;
        grade as model;
        judge
    }
}

workflow! {
    /// It is a step of its own, by two names.
    pub Itself(text: String) -> criticism: String {
        agent critic -> criticism: String { instruction: "Criticise {txt}." }

        critic;
        Itself;
        self::Itself as inner
    }
}

workflow! {
    /// Its agents are tools of each other.
    pub Circles(text: String) -> criticism: String {
        /// Criticises.
        agent critic -> criticism: String {
            instruction: "Criticise {txt}.",
            tools: [agent(helper), agent(critic), agent(Circles)],
            max_turns: 3,
        }
        /// Helps.
        agent helper -> help: String { instruction: "Help.", tools: [agent(critic)], transfer: [expert], max_turns: 3 }
        /// Knows.
        agent expert -> help: String { instruction: "Know.", tools: [agent(helper)], max_turns: 3 }

        critic
    }
}

fn main() {}
