use adk::prelude::*;

/// Grades.
#[agent(writes = score)]
fn grade(draft: &str, limit: u32) -> f64 {
    f64::from(limit) + draft.len() as f64
}

workflow! {
    pub Words(topic: String) {
        agent writer -> draft: String { instruction: "Write about {topic}." }
        agent worker { instruction: "Work." }
        agent page { instruction: "Page." }
        agent log { instruction: "Log." }

        writer;
        grade;
        loop(until = approved) < writer as again >
        each item in items < worker >
        match severity < "high" => page, _ => log >
        grade(draft = drafts, limit = topik) as second -> mark;
    }
}

fn main() {}
