use adk::prelude::*;

/// Grades.
#[agent(writes = score)]
fn grade(draft: &str) -> f64 {
    draft.len() as f64
}

/// Ends the loop.
#[agent]
fn enough(score: u32) -> Flow {
    Flow::exit_if(score > 60)
}

workflow! {
    pub Writing(topic: String) -> score: f32 {
        agent writer -> draft: String { instruction: "Write about {topic}." }

        writer;
        loop(max = 2) < grade; enough >
        loop(max = 2, until = score) < writer as again >
        each word in topic < writer as third >
    }
}

fn main() {}
