//! Workflows of several modules and files that run each other: the one that closes the circle is told, and nothing else.

mod circles;

use adk::prelude::*;

workflow! {
    /// Runs what a file below declares.
    pub Rooted(text: String) -> text: String { circles::below::Below }
}

mod a {
    use adk::prelude::*;

    workflow! {
        /// Runs the next one.
        pub Writing(text: String) -> text: String { super::b::Reviewing }
    }

    pub mod inner {
        use adk::prelude::*;

        workflow! {
            /// The last one of three.
            pub Third(text: String) -> text: String { super::super::Outside }
        }

        adk::llm::agent! {
            /// Answers.
            pub answers { instruction: "{text}", tools: [agent(crate::b::asks)] }
        }
    }
}

mod b {
    use super::a::{self, inner::Third as Last};
    use adk::prelude::*;

    workflow! {
        /// Runs the one before.
        pub Reviewing(text: String) -> text: String { a::Writing }
    }

    workflow! {
        /// Runs the last one.
        pub Second(text: String) -> text: String { self::inner::Again; Last }
    }

    mod inner {
        use adk::prelude::*;

        workflow! {
            /// Is itself, and the one around.
            pub Again(text: String) -> text: String { super::inner::Again; super::Second }
        }
    }

    adk::llm::agent! {
        /// Asks back.
        pub asks { instruction: "{text}", tools: [agent(super::a::inner::answers)] }
    }
}

workflow! {
    /// Runs a circle without being part of it.
    pub Outside(text: String) -> text: String { b::Second }
}

adk::llm::agent! {
    /// Is a tool of its own.
    pub alone { instruction: "{text}", tools: [agent(self::alone)] }
}

workflow! {
    /// Is a tool of its own.
    pub Tooled(text: String) -> text: String {
        agent writer -> text: String { instruction: "{text}", tools: [agent(crate::Tooled)] }

        writer
    }
}

/// In a block `self` is the module around it.
fn main() {
    workflow! {
        /// Runs what is told elsewhere.
        Checking(text: String) -> text: String { self::a::Writing }
    }
}
