//! Keys that are written on every path: by each arm, before a point where a loop may end, or before
//! the loop.

use adk::prelude::*;

#[agent]
fn enough(topic: &str) -> Flow {
    Flow::exit_if(topic.is_empty())
}

#[agent(writes = found)]
fn find(topic: &str) -> Option<String> {
    Some(topic.to_owned())
}

workflow! {
    /// Reads a state key as optional until it is written.
    pub Minutes(line: String) -> summary: String {
        state notes: Option<String>;
        agent keeper -> notes: String { instruction: "Add {line} to: {notes?}" }
        agent summer -> summary: String { instruction: "Sum up {notes}." }

        keeper; summer
    }
}

workflow! {
    pub Writing(topic: String, severity: String) {
        agent writer -> draft: String { instruction: "Write about {topic}. What was said: {criticism?}" }
        agent critic -> criticism: String { instruction: "Review {draft}." }
        agent page -> alarm: String { instruction: "Wake somebody." }
        agent log -> alarm: String { instruction: "Write it down." }
        agent report { instruction: "Report {alarm} and {found?}." }

        refinement: loop(max = 5) < writer; critic >
        match severity < "high" => page, "low" => log, _ => log as other >
        outer: loop(max = 2) < match severity < "high" => < break >, _ => page as again > critic as second >
        find;
        report
    }
}

/// Reports the start.
fn begins(cx: &mut CallbackContext) {
    println!("{}", cx.agent_name());
}

/// Reports the start asynchronously.
async fn begins_later(cx: &mut CallbackContext) -> Result<()> {
    println!("{}", cx.agent_name());
    Ok(())
}

workflow! {
    /// Callbacks that never reply skip nothing.
    pub Told(topic: String) -> (draft: String, note: String) {
        agent teller -> draft: String { instruction: "Tell of {topic}." }
        agent noter -> note: String { instruction: "Note {draft}." }

        telling: sequence(before_agent = [begins, begins_later]) < teller >
        noting: loop(max = 2, before_agent = |cx| { println!("{}", cx.agent_name()); }) < noter >
    }
}

#[agent(writes = answer)]
fn apologise(error: String) -> String {
    error
}

workflow! {
    /// Both the steps and the `else` write the key, and so does each branch of a race.
    pub Asking(topic: String) -> (answer: String, reply: String) {
        agent search -> facts: String { instruction: "On {topic}, after {answer?}." }
        agent answerer -> answer: String { instruction: "Answer from {facts}." }
        agent quick -> reply: String { instruction: "On {answer}." }
        agent careful -> reply: String { instruction: "On {answer}." }

        try(attempts = 2, delay = std::time::Duration::from_secs(1)) < search; answerer > else < apologise >
        parallel(first, max_concurrency = 2) < quick; careful >
    }
}
