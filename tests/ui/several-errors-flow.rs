//! Errors in tokens hide no errors in the flow of a parsed workflow, and cause no other errors.

use adk::prelude::*;

workflow! {
    pub UnknownField(topic: String) -> draft: String {
        agent first -> draft: String { instruction: "{topic}", nonsense: 1 }
        agent second -> other: String { instruction: "{missing}" }

        first;
        second;
        loop < second as third >
    }
}

workflow! {
    pub Limits(topic: String, rounds: u32) -> draft: String {
        agent first -> draft: String { instruction: "{topic}", max_turns: 0, timeout: "soon" }
        agent second -> other: String { instruction: "{missing}" }

        loop(max = 0) < first >
        loop(max = rounds) < second >
        parallel(max_concurrency = -1) < second as third >
        loop < second as fourth >
    }
}

workflow! {
    pub Misspelled(topic: String) -> draft: String {
        agent first -> draft: String { instruktion: "{missing}", tool: [approve], max_turns: 3 }

        loop(maxx = 3) < first >
        until_approved: loop(untill = approved) < first as second >
    }
}

/// Approves.
#[tool]
fn approve(#[key] approved: Out<bool>) {
    approved.set(true);
}

workflow! {
    pub Names(topic: String, topic: String) -> draft: String {
        agent first -> draft: String { instruction: "{topic}" }
        agent first -> draft: String { instruction: "{topic}" }
        agent user -> other: String { instruction: "{missing}" }

        first;
        first;
        user;
        first: loop < user as third >
    }
}

workflow! {
    pub Itself(topic: String) {
        agent first { instruction: "{topic}" }
        first;
        Itself
    }
}

workflow! {
    pub Targets(topic: String) -> draft: String {
        agent first -> draft: String { instruction: "{topic}", transfer: [third], max_turns: 2 }
        agent second -> other: String { instruction: "{missing}" }

        first;
        second;
        parallel < >
        loop < >
        try < second as again > else < >
    }
}

fn main() {
    let _ = (Names::default().first, Limits::default().first);
}
