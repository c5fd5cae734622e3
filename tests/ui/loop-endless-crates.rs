use adk::prelude::*;

workflow! {
    pub Writing(topic: String) {
        outer: loop < inner: loop < agents::llm::writer; agents::functions::grader; agents::functions::good_enough > >
        loop < agents::functions::lister >
    }
}

fn main() {}
