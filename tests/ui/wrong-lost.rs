//! `#[agent]`, `#[tool]` and `#[data]` that are misspelt, or that nothing imports: rustc says so, and of uses nothing is said.

use adk::prelude::*;
use agents::{count, count as counted};
use types::{Page, Verdict};

mod types {
    #[data]
    #[derive(Clone, Debug, PartialEq)]
    pub struct Page {
        pub text: String,
    }

    #[dta]
    #[derive(Debug)]
    pub enum Verdict {
        Good,
        Bad,
    }
}

mod agents {
    use super::types::{Page, Verdict};

    #[agent(writes = words)]
    pub fn count(page: &Page) -> usize {
        page.text.len()
    }

    pub mod more {
        use super::*;
        use adk::prelude::*;

        #[agent(writes = verdict)]
        pub fn judge(page: Page, words: usize) -> Verdict {
            if page.text.len() > words { Verdict::Good } else { Verdict::Bad }
        }
    }
}

mod tools {
    use adk::prelude::*;

    /// Looks it up.
    #[Tool]
    pub fn look_up(word: String) -> String {
        word
    }

    /// Looks at it.
    #[tool]
    pub fn look(page: super::Page, sides: Option<Sides>) -> Vec<Sides> {
        drop((page, sides));
        Vec::new()
    }

    #![data]
    #[derive(Clone, Debug)]
    pub struct Sides(pub u8);
}

#[agnt(writes = note)]
async fn note(words: usize) -> Result<String> {
    Ok(words.to_string())
}

llm::agent! {
    /// Answers.
    pub answerer -> answer: Verdict {
        instruction: "Answer.",
        tools: [tools::look_up, tools::look, agent(note)],
    }
}

workflow! {
    pub Judging(page: Page) -> (verdict: types::Verdict, note: String) {
        agent writer -> text: String { instruction: "Write about {page}.", tools: [tools::look_up] }

        count;
        agents::count as again;
        loop(max = 2) < counted as once_more; agents::more::judge >
        match verdict < Verdict::Good => writer, types::Verdict::Bad => answerer >
        parallel < note; writer as other >
    }
}

// Only where nothing brings them.
mod brought {
    mod all {
        pub use adk::prelude::*;
    }

    mod by_all {
        use super::all::*;

        #[agent(writes = words)]
        pub fn count(page: &str) -> usize {
            page.len()
        }
    }

    adk::workflow! {
        Counting(page: String) -> words: usize { by_all::count }
    }
}

// No derive has the name of an attribute.
mod derived {
    use adk::prelude::*;

    #[derive(Debug, data)]
    pub struct Chapter {
        pub title: String,
    }

    #[data]
    pub struct Outline {
        pub chapters: Vec<Chapter>,
    }

    #[agent(writes = chapters)]
    fn split(outline: &Outline) -> Vec<Chapter> {
        outline.chapters.clone()
    }

    #[agent(writes = book)]
    fn bind(chapters: &[Chapter]) -> String {
        chapters.iter().map(|chapter| chapter.title.as_str()).collect()
    }
}

fn main() {
    let page = Page { text: String::new() };
    println!("{}", page.clone() == page);
}
