use adk::prelude::*;

workflow! {
    pub Writing(topics: Vec<String>, topic: String) {
        let part: String = "one";
        agent critic { instruction: "Review." }

        each topic in topics < critic >
        each part in topics < critic as b >
        each item in topics < critic as c >
        inner: each item in topics < critic as d >
        each topic in topics < critic as e >
    }
}

fn main() {}
