//! Functions without `#[agent]` or `#[tool]`: one message for each, and the rest of the workflow is looked at.

use adk::prelude::*;

/// Looks a word up.
fn look_up(word: String) -> String {
    word
}

async fn publish(draft: &str) -> String {
    draft.to_owned()
}

llm::agent! {
    /// Answers.
    answerer {
        instruction: "Answer.",
        tools: [look_up, agent(publish)],
    }
}

workflow! {
    pub Post(topic: String) -> draft: String {
        agent writer -> draft: String {
            instruction: "Write about {topic}.",
            tools: [look_up],
        }
        agent critic {
            instruction: "Judge {drfat}.",
        }

        writer;
        loop < critic; publish >
    }
}

mod inside {
    use adk::prelude::*;

    #[inline]
    fn publish(draft: &str) -> String {
        draft.to_owned()
    }

    workflow! {
        pub Published(draft: String) {
            publish as first;
            publish
        }
    }
}

fn main() {}
