use adk::prelude::*;

/// Ends a loop.
#[agent]
fn enough() -> Flow {
    Flow::Exit
}

/// Ends the loop `outer`.
#[agent(exits(outer))]
fn give_up() -> Flow {
    Flow::ExitTo("outer".into())
}

workflow! {
    pub Writing(topic: String) {
        agent writer { instruction: "Write about {topic}.", tools: [adk::tools::exit_loop] }

        enough;
        writer;
        parallel < break; writer as b >
        refinement: loop(max = 2) < enough as c; break refinment >
        loop(max = 2) < give_up; break outer >
    }
}

fn main() {}
