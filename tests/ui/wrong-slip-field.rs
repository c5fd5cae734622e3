//! A slip in the path of a step is one message, also where Rust code uses the field that the step was to have.

use adk::prelude::*;
use agents::critic as judge;
use agents::writer;

mod agents {
    use adk::prelude::*;

    #[agent]
    pub fn writer(topic: &str) {
        let _ = topic;
    }

    #[agent]
    pub fn critic(topic: &str) {
        let _ = topic;
    }
}

#[agent]
fn refiner(topic: &str) {
    let _ = topic;
}

workflow! {
    pub Writing(topic: String) {
        wirter;
        loop(max = 2) < jugde; refiner; reifner as second; break >
    }
}

fn main() {
    let Writing { writer: _, judge: _, second: _, .. } = Writing::default();
    let workflow = Writing::default();
    let _ = (workflow.writer, workflow.judge, workflow.refiner);
}
