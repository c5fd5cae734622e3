//! What is half-typed has one message: nothing that it may have meant is missed.

use adk::prelude::*;

#[agent(writes = score)]
fn grade(draft: &str) -> f64 {
    draft.len() as f64
}

#[agent]
fn enough(score: f64) -> Flow {
    Flow::exit_if(score > 60.0)
}

workflow! {
    /// Its steps are still to be written.
    pub Begun(topic: String) -> draft: String {
        agent writer -> draft: String { instruction: }
    }
}

workflow! {
    /// A `>` is missing: what follows stands in the loop.
    pub Torn(draft: String, items: Vec<String>) -> (notes: Vec<String>, summary: String) {
        agent noter -> notes: String { instruction: "Note {item}." }
        agent closer -> summary: String { instruction: "Close {notes}." }

        loop(max = 3) < grade; enough
        each item in items < noter >
        closer
    }
}

workflow! {
    /// The same for a `match`.
    pub Forked(draft: String) -> (note: String, summary: String) {
        agent noter -> note: String { instruction: "Note {draft}." }
        agent closer -> summary: String { instruction: "Close {note}." }

        match draft < "" => (), _ => grade,
        noter;
        closer
    }
}

workflow! {
    /// The same for a `parallel`, in which the two would race.
    pub Parted(draft: String) -> (note: String, summary: String) {
        agent noter -> note: String { instruction: "Note {draft}." }
        agent closer -> summary: String { instruction: "Close {note}." }

        parallel < noter; grade
        closer
    }
}

workflow! {
    /// Of what could not be read, nothing is known.
    pub Sorted(draft: String) {
        agent sorter -> -> kind: String { instruction: "Sort {draft}." }
        agent critic critic -> verdict: String { instruction: "Judge {essay}." }

        sorter;
        critic(essay = draft);
        match kind < kind if kind.len() > 3 => grade, _ => () >
    }
}

workflow! {
    /// A `<` is missing.
    pub Opened(draft: String) -> draft: String {
        agent refiner -> draft: String { instruction: "Refine {draft}." }

        refinement: loop(max = 5) grade; parallel < enough; refiner >; break refinement >
    }
}

workflow! {
    /// What the prompt reads is not known.
    pub Asking(essay: String) -> verdict: String {
        agent critic -> verdict: String { instruction agents::prompts::REVIEW }

        critic(draft = essay)
    }
}

workflow! {
    /// Nor what its tools cost.
    #[bounds(model_calls = 30)]
    pub Searching(topic: String) -> found: String {
        agent searcher -> found: String { instruction: "Find {topic}.", tools: [agents::tools::search], max_turns 3 }

        searcher
    }
}

workflow! {
    /// The path has no end yet.
    pub Prompting(topic: String) -> found: String {
        agent searcher -> found: String { instruction: agents:: }

        searcher
    }
}

workflow! {
    /// A word is missing.
    pub Worded(topic: String) -> found: String {
        done: bool = false;
        agent searcher -> found: String { instruction: "Find {topic}, {done}." }
        agent finder -> found: String { instruction: "Find {topic}." }

        searcher;
        finder
    }
}

fn main() {}
