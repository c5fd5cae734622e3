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

adk::llm::agent! { pub critic { instruction: "Review.", tools: [tools::search, tools::find] } }

fn main() {
    let _ = critic::default();
}
