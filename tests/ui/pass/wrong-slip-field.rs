//! A name from the user's own prelude is not a misspelling of a similar name.

mod own {
    pub mod prelude {
        use adk::prelude::*;

        #[agent]
        pub fn writer(topic: &str) {
            let _ = topic;
        }

        /// Searches.
        #[tool]
        pub fn search(topic: &str) -> String {
            topic.to_owned()
        }
    }
}

use adk::prelude::*;
use own::prelude::*;

#[agent]
fn writer2(topic: &str) {
    let _ = topic;
}

workflow! {
    pub Writing(topic: String) {
        agent searcher { instruction: "Search for {topic}.", tools: [search] }

        writer;
        searcher
    }
}

workflow! {
    pub Other(topic: String) { writer2 }
}

fn fields(writing: Writing, other: Other) {
    let (
        Writing {
            writer: _,
            searcher: _,
        },
        Other { writer2: _ },
    ) = (writing, other);
}
