//! Loops without `max` that can end: by a key, a `break`, a function, a tool.

use adk::prelude::*;

workflow! {
    pub Writing(topic: String) -> draft: String {
        agent writer -> draft: String { instruction: "Write about {topic}." }
        agent critic { instruction: "Review {draft}." }

        refinement: loop < writer; loop < critic; break refinement > >
        loop(until = approved) < agents::functions::approver >
        loop < agents::functions::grader; agents::functions::good_enough >
        outer: loop < loop < agents::functions::give_up; break > >
        loop < writer as again; match topic < "cats" => break, _ => () > >
        agents::llm::second::critic as third;
        loop < agents::llm::refiner(criticism = topic) as fourth >
    }
}
