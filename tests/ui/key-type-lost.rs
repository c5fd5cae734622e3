use adk::prelude::*;

#[date]
pub struct Ticket {
    pub answer: String,
}

#[data]
pub struct Draft {
    /// The text.
    pub text: String
    /// Whether it is done.
    pub done: bool,
}

mod agents {
    use super::{Draft, Ticket};
    use adk::prelude::*;

    /// Wakes somebody.
    #[agent(writes = ticket)]
    pub fn page(question: &str) -> Ticket {
        Ticket { answer: question.to_owned() }
    }

    /// Shortens it.
    #[agent(writes = draft)]
    pub fn shorten(draft: &Draft) -> Draft {
        draft.clone()
    }
}

workflow! {
    pub Desk(question: String) -> ticket: Ticket {
        agent clerk -> ticket: Ticket { instruction: "{question}" }

        clerk;
        agents::page
    }
}

workflow! {
    pub Drafting(question: String) -> draft: Draft {
        agent writer -> draft: Draft { instruction: "{question}" }

        writer;
        agents::shorten
    }
}

fn main() {}
