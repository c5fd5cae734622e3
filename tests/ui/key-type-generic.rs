//! A type parameter of a handwritten agent has no number, and the fifth key of an agent has no slot
//! for comparison by traits: a different size from a type with a number is reported anyway.

use adk::AgentMeta;
use adk::prelude::*;

struct Last<T>(T);

#[agent(writes(a: T, b: T, c: T, d: T, last: T))]
impl<T> Agent for Last<T>
where
    T: Send + Sync + 'static,
{
    const META: AgentMeta<'static> = AgentMeta::custom("last");

    async fn run(&self, _: &mut Context) -> Result<Flow> {
        Ok(Flow::Continue)
    }
}

#[agent]
fn after(last: String) {
    drop(last);
}

workflow! {
    Wrong() {
        agent last: Last<u32>;

        last;
        after
    }
}

fn main() {}
