use adk::prelude::*;

const NONE: usize = 0;

workflow! {
    pub Writing() {
        agent critic { instruction: "Review." }

        parallel(max_concurrency = 0) < critic as b >
        parallel(max_concurrency = "4") < critic as c >
    }
}

workflow! {
    pub Reviewing() {
        agent critic { instruction: "Review." }

        parallel(max_concurrency = NONE) < critic >
    }
}

workflow! {
    pub Elements(items: Vec<String>) {
        agent critic { instruction: "Review {item}." }

        each(max = NONE, max_concurrency = NONE) item in items < critic >
    }
}

workflow! {
    pub Typed(items: Vec<String>) {
        agent critic { instruction: "Review {item}." }

        each(max = TEXT) item in items < critic >
    }
}

const TEXT: &str = "3";

fn main() {}
