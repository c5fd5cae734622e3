use adk::{Secret, prelude::*};

/// Makes a token.
#[agent(writes = token)]
fn token(name: &str) -> Secret<String> {
    Secret::new(name.to_owned())
}

workflow! {
    /// Shows anything.
    Showing(token: adk::Value) -> shown: String {
        agent teller -> shown: String { instruction: "Here: {token}" }
        teller
    }
}

workflow! {
    /// Reads a list of secrets.
    Listed(names: Vec<String>) -> shown: String {
        agent teller -> shown: String { instruction: "Tokens: {token}" }
        each(max = 2) name in names < token >
        teller
    }
}

workflow! {
    /// Reads the items of that list.
    Items(tokens: Vec<Secret<String>>) -> shown: Vec<String> {
        agent teller -> shown: String { instruction: "Token: {token}" }
        each(max = 2) token in tokens < teller >
    }
}

workflow! {
    /// Passes a secret to a workflow that expects another type.
    Hidden(name: String) -> shown: String {
        token;
        Showing
    }
}

/// Writes the value.
#[agent(writes = user:size)]
fn put(request: &str) -> u32 {
    request.len() as u32
}

workflow! {
    /// Measures.
    Measuring(request: String) {
        put
    }
}

/// Reads the value as another type.
#[agent(writes = out)]
fn shows(#[key(user:size)] size: Option<String>) -> String {
    format!("{size:?}")
}

workflow! {
    /// Reads the value that a tool wrote.
    Reads(question: String) -> out: String {
        agent asker -> answer: String { instruction: "{question}", tools: [agent(Measuring)], max_turns: 2 }
        asker;
        shows
    }
}

/// Cuts the text.
#[agent(writes = note)]
fn digits(topic: &str) -> String {
    topic.to_owned()
}

workflow! {
    /// Notes on a topic.
    Noting(topic: String, request: String) -> note: String {
        digits
    }
}

workflow! {
    /// The tool of the instance also reads the number.
    Renamed(number: u32, request: String) -> plan: String {
        agent boss -> plan: String { instruction: "Plan {topic}?", tools: [agent(Noting)], max_turns: 3 }
        boss(topic = number) as second
    }
}

fn main() {}
