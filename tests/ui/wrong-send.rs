//! A key that cannot go to another thread, told under its type, or under the workflow's name where it has several inputs.

use adk::prelude::*;

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Shared {
    name: String,
    #[serde(skip, default = "std::ptr::null")]
    place: *const u8,
}

workflow! {
    pub One(shared: Shared) {
        agent reader { instruction: "Read {shared} and {sharde}." }

        reader
    }
}

workflow! {
    pub Several(topic: String, shared: Shared) {
        agent reader { instruction: "Read {shared} on {topic}." }

        reader
    }
}

fn main() {}
