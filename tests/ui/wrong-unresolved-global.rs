//! A step whose path begins with `::`, where the module around has what its name says: one message for each, in which rustc
//! proposes that.

use adk::prelude::*;

/// Adds a line.
#[agent(writes = text)]
fn sign(text: &str) -> String {
    format!("{text}\n-- us")
}

mod other {
    use adk::prelude::*;

    /// Says nothing.
    #[agent]
    pub(super) fn rest() {}
}

workflow! {
    pub Signing(text: String) {
        ::sign;
        ::other::rest;
        ::std::string::String;
        loop(max = 2) < ::sign as again -> text >
        ::other::Missing as third;
    }
}

fn main() {}
