mod types {
    use adk::prelude::*;

    pub type Score = Result<f64>;
    pub type Verdict = Result<Flow>;
    pub struct Opaque;
}

mod functions {
    use super::types::{Opaque, Score, Verdict};
    use adk::{Flow, agent};

    #[agent]
    pub fn scores() -> Score {
        Ok(0.5)
    }

    #[agent(writes = verdict)]
    pub fn judges() -> Verdict {
        Ok(Flow::Exit)
    }

    #[agent]
    pub fn reads(value: &Opaque) {
        let _ = value;
    }
}

fn main() {
    let _ = (functions::scores, functions::judges, functions::reads);
}
