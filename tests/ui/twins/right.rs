//! Each crate with its own types.

use adk::prelude::*;

workflow! {
    pub Both(topic: String) {
        one::planner;
        one::reader;
        one::pricing;
        one::buyer;
        two::planner as other -> other_plan;
        two::reader(plan = other_plan) as second;
        two::pricing as other_pricing -> other_price;
        two::buyer(price = other_price) as other_buyer
    }
}
