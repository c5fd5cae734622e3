use adk::tool;

/// Goes to another agent.
#[tool]
fn transfer_to_agent(name: &str) {
    let _ = name;
}

/// Sets the answer.
#[tool(name = "set_model_response")]
fn answer() {}

fn main() {
    let _ = (transfer_to_agent, answer);
}
