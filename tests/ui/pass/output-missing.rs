//! Outputs that are written on every path to the end; an input may be one.

use adk::prelude::*;

workflow! {
    pub Writing(topic: String, severity: String) -> (draft: String, topic: String, alarm: String, found: String) {
        let found: String = "nothing";
        agent writer -> draft: String { instruction: "Write about {topic}." }
        agent page -> alarm: String { instruction: "Wake somebody." }
        agent log -> alarm: String { instruction: "Write it down." }

        loop(max = 2) < writer; break >
        match severity < "high" => page, _ => log >
        agents::functions::finder as second -> found
    }
}
