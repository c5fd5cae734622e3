//! The signs of other languages in a step, one in each workflow: what stands behind them follows from nothing.

use adk::prelude::*;

#[data]
pub enum Level {
    Low,
    High { score: u32 },
}

/// Counts what was written.
#[tool]
fn count(text: String) -> usize {
    text.len()
}

pub mod research {
    use adk::prelude::*;

    workflow! {
        pub Researching(subject: String) -> facts: String {
            agent finder -> facts: String { instruction: "Find facts about {subject}." }

            finder
        }
    }
}

workflow! {
    #[bounds(model_calls = 9)]
    pub Behind() {
        agent writer -> draft: String { instruction: "Write." }

        rounds: loop < writer > (max = 5)
    }
}

workflow! {
    pub Swapped() {
        agent writer -> draft: String { instruction: "Write." }
        agent refiner -> draft: String { instruction: "Refine {draft}.", tools: [exit_loop] }

        rounds: loop(max = 5) > writer; refiner >
    }
}

workflow! {
    pub Bare(level: Level) {
        agent writer { instruction: "Write." }

        match level <
            Level::High { score } score > 10 => writer,
            Level::High { .. } | Level::Low => (),
        >
    }
}

workflow! {
    pub Called(a: String, b: String) {
        agent critic -> note: String { instruction: "Judge {draft}." }

        critic(draft = a);
        critic(draft = b) is second -> other
    }
}

workflow! {
    pub Assigned(a: String, b: String) {
        agent critic -> note: String { instruction: "Judge {draft}." }

        parallel < critic(draft = a); critic(draft = b) as second = other >
    }
}

workflow! {
    pub Arrowed(a: String, b: String) {
        agent critic -> note: String { instruction: "Judge {draft}." }

        parallel < critic(draft = a); critic(draft = b) as second => other >
    }
}

workflow! {
    pub Misspelled(topics: Vec<String>) {
        agent researcher -> finding: String { instruction: "Look into {topic}." }

        eech(max_concurrency = 4) topic in topics < researcher >
    }
}

workflow! {
    pub Angled(goal: String) {
        research::Researching<subject = goal>
    }
}

workflow! {
    pub Constructed(goal: String) {
        research::Researching::default()
    }
}

workflow! {
    pub Waits() {
        /// May it go?
        await<timeout = "72h", default = false> approved: bool;
        match approved < true => (), false => () >
    }
}

workflow! {
    pub Exits() {
        agent writer -> draft: String { instruction: "Write." }

        outer: loop(max = 5) < inner: loop(max = 2) < writer; exit outer > >
    }
}

workflow! {
    pub Breaks() {
        agent writer -> draft: String { instruction: "Write." }

        outer: loop(max = 5) < inner: loop(max = 2) < writer; break outer inner > >
    }
}

workflow! {
    pub Listed() {
        agent writer -> draft: String { instruction: "Write.", tools: exit_loop, count, max_turns: 3 }

        loop(max = 5) < writer >
    }
}

workflow! {
    pub Hooked() {
        agent writer -> draft: String {
            instruction: "Write.",
            before_tool: |_, call| { let _ = call None },
            max_turns: 3,
        }

        writer
    }
}

fn main() {}
