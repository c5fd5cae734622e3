use adk::prelude::*;

mod agents {
    use adk::prelude::*;

    /// Finds the text, if it exists.
    #[agent(writes = answer)]
    pub fn find(question: &str) -> Option<String> {
        Some(question.to_owned())
    }
}

workflow! {
    pub Asking(question: String) -> answer: String {
        agents::find
    }
}

fn main() {}
