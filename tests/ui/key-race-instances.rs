use adk::prelude::*;

// The intended key of the second critic was `criticism_2`.
workflow! {
    pub Writing(goal: String, report: String) -> essay: String {
        agent critic -> criticism: String { instruction: "Review {text}." }
        agent editor -> essay: String { instruction: "Edit {report}: {criticism} {criticism_2}" }

        parallel < critic(text = report); critic(text = goal) as second >
        editor
    }
}

fn main() {}
