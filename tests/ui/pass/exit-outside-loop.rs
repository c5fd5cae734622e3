//! Exits inside a loop, and exits inside a loop with the given name.

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
    // The caller's loop is not a loop of the workflow, so the workflow has its own.
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
