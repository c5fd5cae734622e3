//! Types are compared as types also where an agent reads or writes many keys, and inside of an `Option`.

use adk::prelude::*;

#[adk::data]
struct Plan {
    steps: u8,
}

#[adk::data]
struct Draft {
    text: String,
}

#[agent]
fn seven(a: u8, b: u8, c: u8, d: u8, e: u8, f: u8, last: &Plan) {
    drop((a, b, c, d, e, f, last));
}

workflow! {
    Inner(a: u8, b: u8, c: u8, d: u8, e: u8, f: u8, last: Plan) -> (a: u8, b: u8, c: u8, d: u8, last: Plan) {
        seven
    }
}

#[agent]
fn reader(last: &Draft) {
    drop(last.clone());
}

#[agent]
fn plain(topic: &str) {
    drop(topic.to_owned());
}

#[agent]
fn counted(topic: Option<u8>) {
    drop(topic);
}

/// The key `never` is written by nobody, and `note` by one that says no type.
#[agent]
fn among(last: Option<&Plan>, never: Option<u8>, note: Option<&Plan>) {
    drop((last.cloned(), never, note.cloned()));
}

#[derive(Default)]
struct Noter;

impl Agent for Noter {
    const META: adk::AgentMeta<'static> =
        adk::AgentMeta::custom("noter").writes(&[adk::KeySpec::new("note", "Note")]);
    async fn run(&self, _: &mut Context) -> Result<Flow> {
        Ok(Flow::Continue)
    }
}

mod other {
    #[adk::data]
    pub(crate) struct Draft {
        steps: u8,
    }
}

#[agent]
fn namesake(last: &other::Draft, never: Option<u8>) {
    drop((last.clone(), never));
}

workflow! {
    Outer(a: u8, b: u8, c: u8, d: u8, e: u8, f: u8, last: Draft, topic: Option<String>) {
        seven as direct;
        Inner as nested -> (a, b, c, d, plan);
        reader(last = plan);
        plain;
        counted;
        Noter;
        among;
        namesake
    }
}

fn main() {}
