//! A context that is no `&mut Context`, and what is borrowed to be changed: told at the agent, and not again by the workflow,
//! which has no key of that name.

use adk::callback::CallbackContext;
use adk::prelude::*;

#[agent(writes = a)]
fn by_value(cx: Context, text: &str) -> usize {
    cx.path().to_string().len() + text.len()
}

#[agent(writes = b)]
fn shared(cx: &Context) -> usize {
    cx.path().to_string().len()
}

#[agent(writes = c)]
async fn of_a_tool(cx: &mut ToolContext) -> usize {
    cx.call_id().len()
}

#[agent(writes = d)]
fn of_a_callback(a: usize, cx: Option<CallbackContext>) -> usize {
    a + cx.map_or(0, |cx| cx.agent_name().len())
}

#[agent(writes = e)]
fn counted(text: &str, count: &mut i32) -> usize {
    *count += 1;
    text.len()
}

#[agent]
fn twice(cx: &mut Context, more: &mut Context) {
    let _ = (cx, more);
}

use adk::Context as Cx;

#[agent(writes = f)]
fn renamed(cx: Cx) -> usize {
    cx.path().to_string().len()
}

mod own {
    use adk::prelude::*;

    /// Data that is called so.
    #[data]
    pub struct Context {
        /// The page.
        pub page: u32,
    }

    /// Right.
    #[agent(writes = g)]
    pub fn page(cx: Context, text: &str) -> u32 {
        cx.page + u32::from(text.is_empty())
    }
}

workflow! {
    /// Measures.
    pub Measuring(text: String, cx: own::Context) {
        by_value; of_a_tool; of_a_callback; counted; own::page
    }
}

workflow! {
    /// Measures without.
    pub Without(text: String) {
        shared; renamed; by_value as again
    }
}

fn main() {}
