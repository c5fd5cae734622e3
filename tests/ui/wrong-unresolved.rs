//! What is not found is told once, under what the user wrote, and nothing else is told about it.

use adk::llm::agent;
use adk::prelude::*;

#[agent(writes = score)]
fn grade(draft: &str) -> Scor {
    draft.len()
}

#[agent]
async fn stop(draft: &str) -> (Scor, Flow) {
    (draft.len(), Flow::Exit)
}

/// Looks something up.
#[tool]
fn look_up(word: &str) -> Definition {
    word
}

agent! {
    pub helper -> plan: String { instruction: PLAN }
}

workflow! {
    Writing(topic: String) -> draft: String {
        agent writer -> draft: String {
            instruction: WRITE,
            global_instruction: prompts::ALWAYS,
            tools: [look_up],
        }

        writer;
        loop(max = 2) < grade; stop >
    }
}

// A letter might have been meant as a parameter of the workflow, which has none.
workflow! {
    pub Lettered(topic: String) {
        agent grader: G;

        N;
        grader
    }
}

fn main() {}
