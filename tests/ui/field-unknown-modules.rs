mod agents {
    adk::llm::agent! {
        pub critic -> criticism: String {
            instruction: "Review.",
            instruction: "Review it.",
            max_token: 100,
            Temperature: 0.5,
        }
    }
}

fn main() {
    let _ = agents::critic::default();
}
