//! Functions of an `impl` or a `trait`, with and without `self`, and one that says it is: one message.

use adk::prelude::*;

struct Desk;

impl Desk {
    #[agent(writes = length)]
    fn length(draft: &str) -> usize {
        draft.len()
    }

    /// Looks it up.
    #[tool]
    pub async fn look_up(word: &str) -> usize {
        Self::length(word)
    }

    #[agent(writes = opened)]
    fn open(self) -> bool {
        true
    }
}

struct Shelf;

impl Agent for Shelf {
    const META: adk::AgentMeta<'static> = adk::AgentMeta::custom("shelf");

    #[agent(reads(text: String))]
    async fn run(&self, _: &mut Context) -> Result<Flow> {
        Ok(Flow::Continue)
    }
}

trait Counting {
    #[agent(writes = count)]
    fn count(draft: &str) -> usize;
}

#[agent(writes = this)]
fn this(other: &Self) -> usize {
    1
}

// Neither of these is one.
mod inside {
    use adk::prelude::*;

    #[agent(writes = words)]
    pub fn words(draft: &str) -> usize {
        draft.split_whitespace().count()
    }
}

fn main() {
    #[agent(writes = lines)]
    fn lines(draft: &str) -> usize {
        draft.lines().count()
    }

    workflow! {
        /// Counts.
        Counting(draft: String) -> lines: usize {
            inside::words;
            lines
        }
    }
}
