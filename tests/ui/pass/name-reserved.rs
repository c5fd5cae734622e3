//! Names that are similar to reserved names, and an agent called `user` under another name.

use adk::prelude::*;

mod agents {
    adk::llm::agent! { pub models -> text: String { instruction: "Write." } }
}

workflow! {
    pub Asking() {
        agent users { instruction: "Ask." }
        agent critic { instruction: "Review.", name: "my_model" }

        users;
        critic;
        critic as each_one;
        agents::models;
        parallel_1: loop(max = 2) < critic as again >
    }
}

workflow! {
    pub Answering() {
        agent model_1 { instruction: "Answer.", name: "models" }

        model_1;
        ::agents::by_hand::User as first_user;
    }
}
