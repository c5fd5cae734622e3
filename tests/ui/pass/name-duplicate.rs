//! One name per definition: `as` creates an instance with its own name, which prefixes the names
//! inside.

use adk::prelude::*;

workflow! {
    pub Writing(topic: String) {
        agent author { instruction: "Write about {topic}." }
        agent critic { instruction: "Review it." }

        author;
        critic as second;
        refinement: loop(max = 2) < critic >;
        // An unnamed block of another workflow may also have the name `loop_1`.
        loop(max = 2) < agents::workflows::Drafting as drafting_again; agents::workflows::Drafting >;
        agents::llm::critic as third
    }
}

/// Steps with the names of declared agents that no step runs, or that other steps run.
mod alike {
    use adk::prelude::*;

    mod agents {
        adk::llm::agent! {
            /// Reviews the text.
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
            /// Reviews the text.
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
