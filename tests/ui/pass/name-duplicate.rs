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

/// Steps whose names are like those of declared agents that no step runs, or that other steps run.
mod alike {
    use adk::prelude::*;

    mod agents {
        adk::llm::agent! {
            /// Reviews it.
            pub critics { instruction: "Review it." }
        }
    }
    use agents::critics;

    workflow! {
        pub Reviewing(topic: String) {
            /// Criticises.
            agent critic { instruction: "Criticise it." }
            agent author { instruction: "Write about {topic}.", name: "writer", tools: [agent(critic)], max_turns: 3 }

            author;
            critics;
            super::alike::agents::critics as last
        }
    }

    fn fields() {
        let mut reviewing = Reviewing::default();
        reviewing.author.set_model("a");
        reviewing.critics.set_model("a");
        reviewing.last.set_model("a");
    }
}

mod one_field {
    use adk::prelude::*;

    mod agents {
        adk::llm::agent! {
            /// Reviews it.
            pub critics { instruction: "Review it." }
        }
    }
    use agents::critics;

    workflow! {
        pub Reviewing(topic: String) {
            agent critic { instruction: "Criticise {topic}." }

            critics as critic
        }
    }
}
