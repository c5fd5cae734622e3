//! Remarks as other languages have them: each is passed over with its line.

use adk::prelude::*;

workflow! {
    # Writes a text.
    pub Writing(topic: String) -> draft: String {
        # first the agents
        agent writer -> draft: String { instruction: "Write about {topic}." }
        # and another
        agent critic -> criticism: String { instruction: "Review {draft}." }

        # now they run
        writer; # then the critic
        loop(max = 2) <
            # again
            critic
        >
    }
}

fn main() {
    let flow = Writing::default();
    let _ = (&flow.writer, &flow.critic);
}
