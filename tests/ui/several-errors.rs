use adk::prelude::*;

mod drafts {
    adk::workflow! {
        pub Drafting(topic: String) -> draft: String {
            agent writer -> draft: String { instruction: "Write about {topic}." }
            writer
        }
    }
}

const ROUNDS: u32 = 0;

workflow! {
    pub Writing(topic: String, topic: String) -> draft: String {
        agent writer -> draft: String { instruction: "Write about {topic}." }
        agent critic { instruction: "Review {draft}." }

        writer;
        drafts::Drafting;
        loop(max = ROUNDS) < critic; critic >
    }
}

workflow! {
    pub Reviewing(topic: String) {
        agent critic { instruktion: "Review {topic}." }

        critic;
        parallel < >
    }
}

fn main() {
    let _ = Writing::default().critic;
}
