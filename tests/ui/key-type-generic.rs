//! A type that an agent by hand is generic over has no number, and the fifth key that it writes no place where it is
//! compared by traits: what differs in size from a type that has a number is told all the same.

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
