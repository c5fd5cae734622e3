//! One message each: what is imported for a step whose name cannot be one is no unused import as well.
#![deny(warnings)]

use adk::prelude::*;
use library::user;
use library::{model, other};

mod library {
    pub mod model {
        adk::llm::agent! {
            /// Asks.
            pub model { instruction: "Ask." }
        }
    }

    pub mod other {
        adk::llm::agent! {
            /// Asks.
            pub asker { instruction: "Ask." }
        }
    }

    adk::llm::agent! {
        /// Reviews.
        pub critic { instruction: "Review." }
    }

    pub use critic as user;
}

workflow! {
    pub Writing() {
        agent asker { instruction: "Ask." }

        asker;
        user;
        model::model;
        other::asker;
        // There is no agent of this name.
        parallel
    }
}

fn main() {}
