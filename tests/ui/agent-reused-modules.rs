use adk::prelude::*;

mod drafts {
    adk::llm::agent! { pub writer -> draft: String { instruction: "Write." } }

    pub mod again {
        pub use super::writer as author;
    }

    adk::workflow! {
        pub Drafting() -> draft: String {
            writer
        }
    }
}

workflow! {
    pub Writing() {
        drafts::writer;
        drafts::again::author;
        drafts::Drafting;
    }
}

fn main() {}
