mod tools {
    // A comment is no doc comment.
    #[adk::tool]
    pub fn search(query: String) -> String {
        query
    }

    #[doc = " "]
    #[adk::tool]
    pub fn find() {}
}

mod helpers {
    use adk::prelude::*;

    adk::llm::agent! { pub thinker { instruction: "Think." } }

    #[agent(writes = words)]
    pub fn count(text: &str) -> usize {
        text.split_whitespace().count()
    }

    workflow! {
        pub Thinking(text: String) { thinker }
    }
}

adk::llm::agent! {
    pub critic {
        instruction: "Review {text}.",
        tools: [tools::search, tools::find],
    }
}

adk::llm::agent! {
    pub reviewer {
        instruction: "Review {text}.",
        tools: [agent(helpers::thinker), agent(helpers::count), agent(helpers::Thinking)],
    }
}

fn main() {
    let _ = (critic::default(), reviewer::default());
}
