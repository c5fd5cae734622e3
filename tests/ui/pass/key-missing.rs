//! Every key that is read is an input, a `let`, a `state`, or written before; what may be absent is read with `?`.

use adk::prelude::*;

/// Grades.
#[agent(writes = score)]
fn grade(draft: &str, limit: Option<u32>) -> f64 {
    f64::from(limit.unwrap_or(1)) * draft.len() as f64
}

#[agent(writes = approved)]
fn approve(score: f64) -> bool {
    score > 0.5
}

workflow! {
    pub Writing(topic: String, items: Vec<String>, severity: String) -> draft: String {
        let done: String = "No issues.";
        state user:name: String;
        agent writer -> draft: String { instruction: "Write about {topic} for {user:name}, {app:rules?}, {tone?}." }
        agent critic -> criticism: String { instruction: "Review {draft}. Say {done} if nothing is wrong." }
        agent refiner -> draft: String { instruction: "Apply {criticism} to {draft}.", tools: [adk::tools::exit_loop] }
        agent worker { instruction: "Work on {item}." }
        agent page { instruction: "Page." }
        agent log { instruction: "Log." }

        writer;
        refinement: loop(max = 5) < critic; refiner >
        loop(until = approved) < grade; approve >
        each item in items < worker >
        match severity < "high" => page, _ => log >
        grade(draft = criticism) as second -> mark;
        agents::llm::polisher;
        agents::workflows::Reviewing as third
    }
}

/// Compares.
#[agent(writes = pair)]
fn compare(topic: &str) -> (u32, String) {
    (0, topic.to_owned())
}

workflow! {
    /// Patterns that do not say the type of their key.
    pub Choosing(topic: String, found: Option<String>, tries: Vec<Option<u32>>) {
        compare;
        match found < Some(_) => agents::llm::polisher(draft = topic), None => () >
        match pair < (0, _) => (), (_, text) if text.is_empty() => (), _ => () >
        each attempt in tries < match attempt < None => (), Some(_) => compare as again -> other > >
    }
}
