//! What may end a loop stands in one, and in one of that name.

use adk::prelude::*;

#[agent]
fn enough() -> Flow {
    Flow::Exit
}

#[agent(exits(outer))]
fn give_up() -> Flow {
    Flow::ExitTo("outer".into())
}

workflow! {
    // The loop around a workflow is none of its own, so that it has to have one.
    pub Inner(draft: String) {
        loop(max = 2) < enough >
    }
}

workflow! {
    pub Writing(topic: String) {
        agent writer { instruction: "Write about {topic}.", tools: [adk::tools::exit_loop] }

        loop(max = 2) < writer; parallel < break; writer as b > >
        outer: loop(max = 2) < loop(max = 2) < give_up; break outer > >
        loop(max = 2) < Inner(draft = topic) as inner_1; agents::functions::grader(draft = topic) as c >
    }
}
