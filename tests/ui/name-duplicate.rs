use adk::prelude::*;

workflow! {
    pub Writing(topic: String) {
        agent writer { instruction: "Write about {topic}." }
        agent critic { instruction: "Review it." }
        agent critic { instruction: "Review it again." }

        writer;
        critic as writer;
        critic: loop(max = 2) < critic >;
        loop_1: loop(max = 2) < writer as again >;
        loop(max = 2) < writer as writing >
    }
}

fn main() {}
