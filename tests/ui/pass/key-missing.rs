//! Every key that is read is an input, a `let`, a `state`, or written before; an optional key is
//! read with `?`.

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

/// Formats the grade.
#[agent]
fn say(note: Option<String>, tone: Option<String>) {
    println!("{note:?} {tone:?}");
}

workflow! {
    /// Polishes a text.
    Polishing(text: String, tone: String = "plain") -> text: String {
        agent editor -> text: String { instruction: "Say this in a {tone} tone: {text}" }

        editor
    }
}

// A key that is renamed and read optionally is written later, on some paths, or held by the
// session.
workflow! {
    pub Polished(text: String, severity: String, tones: Vec<String>) -> text: String {
        state mood: String;
        agent judge -> verdict: String { instruction: "Judge {text}." }
        agent critic -> remark: String { instruction: "Criticise {text}." }
        agent teller { instruction: "Tell a {kind?} story of {text}." }

        loop(max = 2) < say(note = verdict, tone = user:tone); judge >
        match severity < "high" => critic, _ => () >
        say(note = remark, tone = mood) as again;
        teller(kind = mood);
        each tone in tones < say(note = tone) as each_said >
        Polishing(tone = remark) as first -> text
    }
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
    /// Has patterns that do not show the type of their key.
    pub Choosing(topic: String, found: Option<String>, tries: Vec<Option<u32>>) {
        compare;
        match found < Some(_) => agents::llm::polisher(draft = topic), None => () >
        match pair < (0, _) => (), (_, text) if text.is_empty() => (), _ => () >
        each attempt in tries < match attempt < None => (), Some(_) => compare as again -> other > >
    }
}
