//! Limits of types that no cast makes a number of: one message each, under the limit.

use adk::prelude::*;
use std::time::Duration;

const LONG: Duration = Duration::from_secs(5);
const SOME: Option<u32> = Some(3);
const TEXT: &str = "3";

#[agent(writes = draft)]
fn writer() -> String {
    "a draft".to_owned()
}

workflow! {
    pub Long {
        loop(max = LONG) < writer >
    }
}

workflow! {
    pub Called {
        loop(max = Duration::from_secs(5)) < writer >
    }
}

workflow! {
    pub Optional {
        parallel(max_concurrency = SOME) < writer >
    }
}

workflow! {
    #[bounds(rounds = TEXT)]
    pub Text {
        loop(max = 2) < writer >
    }
}

fn main() {}
