use adk::prelude::*;

workflow! {
    pub Writing() {
        agent writer -> draft: String { instruction: "Write." };
        agent critic { instruction: "Review {draft}." };;

        writer;;
        critic;
        < ; >
        ;critic as second
    };
}

adk::llm::agent! {
    pub one { instruction: "Think." };
    pub two { instruction: "Think again." }
}

fn main() {}
