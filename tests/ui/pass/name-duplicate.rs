//! One name per definition: `as` makes an instance with a name of its own, and prefixes what stands inside of it.

use adk::prelude::*;

workflow! {
    pub Writing(topic: String) {
        agent author { instruction: "Write about {topic}." }
        agent critic { instruction: "Review it." }

        author;
        critic as second;
        refinement: loop(max = 2) < critic >;
        // An unnamed block of another workflow is called `loop_1` as well, which is allowed.
        loop(max = 2) < agents::workflows::Drafting as drafting_again; agents::workflows::Drafting >;
        agents::llm::critic as third
    }
}
