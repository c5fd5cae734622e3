//! Ten mistakes in one workflow, ten messages.

use adk::prelude::*;

#[agent(writes = score)]
fn grade(draft: &str) -> f64 {
    draft.len() as f64
}

#[agent]
fn good_enough(score: u32) -> Flow {
    Flow::exit_if(score > 60)
}

#[agent]
fn stop(draft: &str) -> Flow {
    Flow::exit_if(draft.is_empty())
}

workflow! {
    pub Writing(topic: String, kind: String) -> (draft: String, summary: String) {
        agent writer -> draft: String { instruction: "Write about {topik}." }
        agent critic -> criticism: String { instruction: "Review {draft}." }
        agent editor -> criticism: String { instruction: "Edit {draft}." }
        agent noter -> notes: String { instruction: "Note {one}." }
        agent closer -> summary: String { instruction: "Close {draft}." }

        writer;
        parallel < critic; editor >
        grade;
        loop(max = 2) < good_enough >
        critic(draaft = draft) as third -> third_criticism;
        each one in kind < noter >
        match kinnd < "short" => closer, _ => () >
        loop(max = 2, until = topic) < grade as second_grade >
        critic(draft = dratf) as fourth -> fourth_criticism;
        stop
    }
}

fn main() {}
