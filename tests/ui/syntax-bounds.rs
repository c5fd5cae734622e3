use adk::prelude::*;

const CALLS: i32 = -1;

workflow! {
    #[bounds]
    pub Bare() { agent critic { instruction: "Review." } critic }
}

workflow! {
    #[bounds()]
    pub Empty() { agent critic { instruction: "Review." } critic }
}

workflow! {
    #[bounds(calls = 3, model_cals = 3, rounds = 3, rounds = 4)]
    pub Unknown() { agent critic { instruction: "Review." } critic }
}

workflow! {
    #[bounds(model_calls, rounds = "3")]
    pub Half() { agent critic { instruction: "Review." } critic }
}

workflow! {
    #[bounds(model_calls = -3, rounds = 1.5)]
    pub Odd() { agent critic { instruction: "Review." } critic }
}

workflow! {
    #[bounds(30)]
    pub Number() { agent critic { instruction: "Review." } critic }
}

workflow! {
    #[bounds(model_calls = CALLS, rounds = "3".len() as f64)]
    pub Const() { agent critic { instruction: "Review." } critic }
}

fn main() {}
