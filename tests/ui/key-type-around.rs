//! A wrong type of an input, or of an output, is told in the workflow that declares it, and not again in those around it.

use adk::prelude::*;

/// Good or bad.
#[adk::data]
struct Verdict {
    good: bool,
}

#[agent(writes = verdict)]
fn judge(draft: &str) -> Verdict {
    Verdict { good: draft.len() > 3 }
}

#[agent]
fn log(verdict: &Verdict) {
    println!("{}", verdict.good);
}

workflow! {
    pub Judging(draft: String) -> verdict: String {
        judge
    }
}

workflow! {
    pub Measuring(draft: u32) -> verdict: Verdict {
        judge
    }
}

workflow! {
    pub Outer(topic: String) -> verdict: Verdict {
        agent writer -> draft: String { instruction: "Write about {topic}." }

        writer;
        Judging;
        log;
    }
}

workflow! {
    pub Other(topic: String, tone: u32) -> verdict: Verdict {
        agent writer -> draft: String { instruction: "Write about {topic}." }
        agent counter -> tone: String { instruction: "Count {draft}." }

        writer;
        Measuring;
        log;
        counter;
    }
}

fn main() {}
