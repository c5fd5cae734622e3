//! Words that are only near to reserved ones, and an agent called `user` under another name.

use adk::prelude::*;

workflow! {
    pub Asking() {
        agent users { instruction: "Ask." }
        agent model_1 { instruction: "Answer.", name: "models" }

        users;
        model_1;
        users as each_one;
        agents::by_hand::User as first_user;
        parallel_1: loop(max = 2) < users as again >
    }
}
