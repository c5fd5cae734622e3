//! The question of an `await` reads keys like a prompt.

use adk::prelude::*;

workflow! {
    pub Publishing(draft: String) -> (decision: bool, team: String) {
        /// May `{drft}` be published?
        await decision: bool;
        /// Who signs "{draft}" of {team?}, by {limit}?
        signing: await(timeout = "72h", default = "us") team: String;
    }
}

fn main() {}
