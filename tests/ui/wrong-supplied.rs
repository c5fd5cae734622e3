use adk::DynAgent;
use adk::prelude::*;
use std::sync::Arc;

workflow! {
    pub Supplied() {
        agent critic: Arc<dyn DynAgent>;
        agent grader(draft: String) -> score: f64 as String;
        critic;
        grader
    }
}

fn main() {
    let _ = Supplied::new;
}
