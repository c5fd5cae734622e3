//! An agent that is placed a second time with `as`.

use adk::prelude::*;

mod agents {
    adk::llm::agent! { pub grader -> score: String { instruction: "Grade." } }
}
use agents::grader;

workflow! {
    pub Writing() {
        agent critic { instruction: "Review." }

        critic;
        loop(max = 2) < critic as second_critic; critic as again >;
        grader;
        agents::grader as second_grader;
        critic as third_critic
    }
}

workflow! {
    pub Grading() {
        Writing;
        grader as last_grader;
    }
}

workflow! {
    pub Drafting(topic: String) {
        ::agents::llm::writer;
        ::agents::llm::writer as second_writer;
    }
}

/// Agents with equal names in different modules.
mod names {
    use super::agents::{self, grader as Grading};
    use adk::prelude::*;

    workflow! {
        /// Grades the text of its agent.
        pub Writing(topic: String) -> score: String { super::Writing as first; Grading }
    }

    pub mod local_too {
        use adk::prelude::*;

        #[cfg(any())]
        mod other {
            adk::workflow! { pub Outer(text: String) { super::super::other::Outer } }
        }
        #[cfg(not(any()))]
        mod other {
            adk::workflow! { pub Inner(topic: String) -> score: String { super::super::agents::grader } }
        }

        workflow! {
            /// Runs an agent with its own name from another module.
            pub Outer(topic: String) -> score: String { self::other::Inner }
        }
    }

    mod other {
        adk::workflow! {
            /// Runs a workflow that runs another module of this name.
            pub Inner(topic: String) -> score: String { super::local_too::Outer as second_outer }
        }
    }

    workflow! {
        /// Runs agents of modules.
        pub All(topic: String) -> score: String { other::Inner as last }
    }
}

/// A local agent hides the agent that runs this workflow.
mod hidden {
    use adk::prelude::*;

    workflow! {
        /// Leads.
        pub Leading(text: String) -> text: String {
            /// Helps in this workflow.
            agent helper -> text: String { instruction: "{text}" }
            agent lead -> text: String { instruction: "{text}", tools: [agent(helper)] }

            lead
        }
    }

    adk::llm::agent! {
        /// Helps in the other module.
        pub helper -> text: String { instruction: "{text}", tools: [agent(Leading)] }
    }
}

/// Blocks hide outer items, and modules inside them do not.
fn blocks() {
    mod other {
        adk::workflow! { pub Inner(topic: String) -> score: String { super::names::All } }
    }
    adk::workflow! {
        /// Runs the module of this block.
        All(topic: String) -> score: String { other::Inner as first }
    }
}
