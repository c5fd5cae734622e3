//! More types without a number than a workflow has room for.

use adk::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Clone, Serialize, Deserialize)]
pub struct Plan(String);

#[derive(Clone, Serialize, Deserialize)]
pub struct Draft(String);

#[agent(writes = plan)]
fn planner(draft: &Draft) -> Plan {
    Plan(draft.0.clone())
}

mod other {
    use super::{Draft, Plan};
    use adk::prelude::*;

    #[agent]
    pub fn reader(draft: &Draft, plan: &Plan) {
        drop((draft.clone(), plan.clone()));
    }

    #[agent(writes = plan)]
    pub fn again(plan: &Plan) -> Draft {
        Draft(plan.0.clone())
    }
}

workflow! {
    #[type_pairs(2)]
    Full(draft: Draft) -> plan: Plan {
        planner;
        other::reader;
        other::again
    }
}

workflow! {
    #[type_pairs(5)]
    Enough(draft: Draft) -> plan: Plan {
        planner;
        other::reader;
        other::again
    }
}

workflow! {
    #[type_pairs]
    Bare(draft: Draft) { planner }
}

workflow! {
    #[type_pairs()]
    Empty(draft: Draft) { planner }
}

workflow! {
    #[type_pairs(-1)]
    Negative(draft: Draft) { planner }
}

workflow! {
    #[type_pairs(max = 3)]
    Named(draft: Draft) { planner }
}

workflow! {
    #[type_pairs(3)]
    #[type_pairs(4)]
    Twice(draft: Draft) { planner }
}

workflow! {
    #[type_pair(3)]
    #[bound(model_calls = 3)]
    Misspelt(draft: Draft) { planner }
}

fn main() {}
