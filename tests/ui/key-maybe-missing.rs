use adk::prelude::*;

workflow! {
    pub Writing(topic: String, severity: String) {
        agent writer -> draft: String { instruction: "Write about {topic}. What was said: {criticism}" }
        agent critic -> criticism: String { instruction: "Review {draft}." }
        agent page -> alarm: String { instruction: "Wake somebody." }
        agent log { instruction: "Write it down." }
        agent report { instruction: "Report {alarm}." }

        refinement: loop(max = 5) < writer; critic >
        match severity < "high" => page, _ => log >
        report
    }
}

workflow! {
    pub Talking(question: String) -> answer: String {
        state notes: Option<String>;
        agent clerk -> answer: String { instruction: "Answer {question} by {notes}." }

        clerk
    }
}

workflow! {
    pub Asking(topic: String) -> (answer: String, note: String) {
        agent search -> facts: String { instruction: "On {topic}, after {answer}." }
        agent answerer -> answer: String { instruction: "Answer from {facts}." }
        agent sorry -> note: String { instruction: "Say that {error} happened, and {facts}." }

        try(attempts = 2) < search; answerer > else < sorry >
    }
}

workflow! {
    pub Racing(topic: String) -> answer: String {
        agent quick -> answer: String { instruction: "On {topic}." }
        agent careful -> report: String { instruction: "On {topic}." }

        parallel(first) < quick; careful >
    }
}

workflow! {
    pub Sides(topic: String) {
        agent left -> left: String { instruction: "For {topic}." }
        agent right -> right: String { instruction: "Against {topic}." }
        agent judge { instruction: "Judge {left} and {right?}." }

        parallel(on_error = skip) < left; right >
        judge
    }
}

/// Measures the text.
#[agent(writes = length)]
fn measure(topic: &str, #[key] long: Out<bool>) -> usize {
    long.set(topic.len() > 80);
    topic.len()
}

/// Ends the loop.
#[tool]
fn close(#[key] completed: Out<bool>) {
    completed.set(true);
}

workflow! {
    pub Closing(topic: String) {
        agent closer { instruction: "Close {topic}: {length}, {long}.", tools: [close] }
        agent teller { instruction: "Tell whether it is completed: {completed}." }

        measure;
        closer;
        teller
    }
}

fn main() {}
