use adk::prelude::*;

mod agents {
    adk::llm::agent! { pub grader -> score: String { instruction: "Grade." } }
}
use agents::grader;

workflow! {
    pub Writing() {
        agent critic { instruction: "Review." }

        critic;
        loop(max = 2) < critic; critic as again >;
        critic
    }
}

workflow! {
    pub Marking() {
        grader;
        agents::grader;
    }
}

workflow! {
    pub Grading() {
        Marking;
        grader;
    }
}

workflow! {
    pub Repeating() { grader; Repeating }
}

fn main() {}
