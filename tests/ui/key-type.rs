use adk::prelude::*;

/// Grades.
#[agent(writes = score)]
fn grade(draft: &str) -> f64 {
    draft.len() as f64
}

/// Ends the loop.
#[agent]
fn enough(score: u32) -> Flow {
    Flow::exit_if(score > 60)
}

workflow! {
    pub Writing(topic: String) -> score: f32 {
        agent writer -> draft: String { instruction: "Write about {topic}." }

        writer;
        loop(max = 2) < grade; enough >
        loop(max = 2, until = score) < writer as again >
        each word in topic < writer as third >
    }
}

/// Counts.
#[tool]
fn count(#[key] topic: Option<u32>, #[key] score: Out<f32>) {
    score.set(topic.unwrap_or_default() as f32);
}

/// Formats the length.
#[agent]
fn measure(topic: &str, #[key] score: Out<Option<f64>>) {
    score.set(Some(topic.len() as f64));
}

workflow! {
    pub Counting(topic: String) {
        let score: f64 = 0.0;
        agent counter { instruction: "Count {topic}.", tools: [count] }

        counter;
        measure
    }
}

const GREETING: &str = "Greet {name} with {token?}.";

/// Issues tokens.
#[agent(writes = tokens)]
fn issue(token: &adk::Secret<String>) -> Vec<adk::Secret<String>> {
    vec![token.clone()]
}

workflow! {
    pub Signing(name: String, token: adk::Secret<String>) {
        agent greeter { instruction: GREETING }
        agent lister { instruction: "List {tokens}." }
        agent other { instruction: "Greet {token}." }

        greeter; issue; lister; other(token = name)
    }
}

workflow! {
    pub Answering() {
        agent answerer -> token: adk::Secret<u8> { instruction: "Make one." }

        answerer
    }
}

fn main() {}
