use adk::prelude::*;

workflow! {
    pub Writing(draft: String, criticism: String) {
        agents::functions::grader;
        agents::functions::good_enough;
        agents::llm::refiner;
        utter: loop(max = 2) < agents::functions::give_up >
    }
}

fn main() {}
