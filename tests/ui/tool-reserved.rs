use adk::tool;

/// Transfers to another agent.
#[tool]
fn transfer_to_agent(name: &str) {
    let _ = name;
}

/// Sets the answer.
#[tool(name = "set_model_response")]
fn answer() {}

// The name is reported above, and not again here.
adk::llm::agent! { pub critic { instruction: "Review.", tools: [transfer_to_agent, answer] } }

fn main() {
    let _ = critic::default();
}
