//! Words of labels and guards, and keys that do not exist.

use adk::prelude::*;

/// Fetches.
#[tool(untrused)]
fn fetch(url: &str) -> String {
    url.to_owned()
}

/// Sends.
#[tool(trusts)]
fn send(body: &str) -> String {
    body.to_owned()
}

/// Counts.
#[tool(local, acts)]
fn count(body: &str) -> usize {
    body.len()
}

workflow! {
    #[guards(untrusted(tickt, user), private(user, user:plan), frsh)]
    pub Desk(ticket: String) {
        agent clerk { instruction: "{ticket}" }
        clerk
    }
}

workflow! {
    #[guards(untrusted(user:nots, user:notes), acts)]
    pub Notes(ticket: String) {
        toolset files: Files as privat;
        agent clerk { instruction: "{ticket} {user:notes?}" }
        clerk
    }
}

workflow! {
    #[guards(untrusted(user:nots, user:notes))]
    pub Others(ticket: String) {
        agent clerk { instruction: "{ticket} {user:notes?}" }
        clerk
    }
}

workflow! {
    #[guards]
    pub Empty(ticket: String) {
        agent clerk { instruction: "{ticket}" }
        clerk
    }
}

fn main() {}
