//! The type of a key is a parameter of a handwritten agent: no number identifies such a type, but
//! a reader of another type is reported anyway.

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
