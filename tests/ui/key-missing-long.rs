//! A prompt of a megabyte is read to its end.

use adk::prelude::*;

macro_rules! a {
    () => { "Words, and then many more words. " };
}
macro_rules! b {
    () => { concat!(a!(), a!(), a!(), a!(), a!(), a!(), a!(), a!()) };
}
macro_rules! c {
    () => { concat!(b!(), b!(), b!(), b!(), b!(), b!(), b!(), b!()) };
}
macro_rules! d {
    () => { concat!(c!(), c!(), c!(), c!(), c!(), c!(), c!(), c!()) };
}
macro_rules! e {
    () => { concat!(d!(), d!(), d!(), d!(), d!(), d!(), d!(), d!()) };
}
macro_rules! f {
    () => { concat!(e!(), e!(), e!(), e!(), e!(), e!(), e!(), e!()) };
}

const RIGHT: &str = concat!("Write about {topic}. ", f!(), "Be brief: {topic}.");
const WRONG: &str = concat!("Review {draft}. ", f!(), "Be kind: {criterion}.");
const _: () = assert!(RIGHT.len() > 1_000_000);

workflow! {
    pub Writing(topic: String, criteria: String) -> (draft: String, criticism: String) {
        agent writer -> draft: String { instruction: RIGHT }
        agent critic -> criticism: String { instruction: WRONG }

        writer;
        critic
    }
}

fn main() {}
