//! Text of strangers, private data and a way out, in one agent and by several ways.

use adk::prelude::*;

/// Opens any address.
#[tool(untrusted, sends)]
fn open_url(url: &str) -> String {
    url.to_owned()
}

/// Finds the orders of a customer.
#[tool(private)]
fn find_orders(customer: u64) -> String {
    customer.to_string()
}

/// Searches the web.
#[agent(writes = hits, sends)]
fn search(notes: &str) -> String {
    notes.to_owned()
}

workflow! {
    /// Each tool alone is fine.
    pub Desk(question: String) -> answer: String {
        agent clerk -> answer: String {
            instruction: "{question}", tools: [open_url, find_orders], max_turns: 3,
        }
        clerk
    }
}

workflow! {
    /// Private data keep their mark in a `bool`.
    #[guards(private(profile), fresh)]
    pub Closed(profile: String, url: String) {
        agent rater -> is_rich: bool { include_contents: prompt, instruction: "{profile}" }
        agent reader { include_contents: prompt, instruction: "{url} {is_rich}", tools: [open_url], max_turns: 3 }
        rater; reader
    }
}

workflow! {
    /// A function sends what an agent has noted.
    pub Notes(question: String) -> hits: String {
        agent clerk -> notes: String {
            include_contents: prompt,
            instruction: "{question}",
            tools: [fetch, find_orders],
            max_turns: 3,
        }
        clerk; search
    }
}

/// Fetches the front page.
#[tool(untrusted)]
fn fetch() -> String {
    String::new()
}

fn main() {}
