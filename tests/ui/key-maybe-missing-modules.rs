use adk::prelude::*;

mod agents {
    use adk::prelude::*;

    adk::llm::agent! {
        pub critic -> criticism: String { instruction: "Review {draft}." }
        pub writer -> draft: String { instruction: "Write about {topic}, mind {criticism}." }
    }

    /// Finds a title, if one exists.
    #[agent(writes = title)]
    pub fn title(draft: &str) -> Option<String> {
        draft.lines().next().map(str::to_owned)
    }

    /// Prints the title.
    #[agent]
    pub fn print(title: &str) {
        println!("{title}");
    }
}

workflow! {
    pub Writing(topic: String) {
        loop(max = 3) < agents::writer; agents::critic >
        agents::title;
        agents::print;
    }
}

fn main() {}
