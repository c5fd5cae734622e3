use adk::prelude::*;

#[data]
struct Review {
    notes: String,
}

workflow! {
    pub Writing(topic: String) -> text: String {
        agent critic -> review: Review { instruction: "Review {topic}." }
        agent writer -> text: String { instruction: "Apply {review.notes} to {topic}." }

        critic;
        writer
    }
}

fn main() {}
