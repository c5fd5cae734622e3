//! Every field by its name, once.

use adk::prelude::*;

workflow! {
    pub Writing() {
        agent critic {
            name: "reviewer",
            model: "gemini-2.5-flash",
            instruction: "Review.",
            tools: [agents::tools::search],
            include_contents: default,
            compact: { after: 40, after_tokens: 100_000, keep: 10, by: "gemini-2.5-flash-lite" },
            temperature: 0.5,
            top_p: 1,
            max_output_tokens: 100,
            stop: ["END"],
            seed: 1,
            timeout: "30s",
            retry: 2,
            max_turns: 3,
        }

        loop(max = 2) < critic >
        parallel(max_concurrency = 2) < critic as second >
        sequence < critic as third >
    }
}
