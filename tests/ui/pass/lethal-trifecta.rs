//! Two of text of strangers, private data and a way out in each agent.

use adk::prelude::*;

/// Fetches a page.
#[tool(untrusted)]
fn fetch_page(page: u64) -> String {
    page.to_string()
}

/// Opens any address.
#[tool(untrusted, sends)]
fn open_url(url: &str) -> String {
    url.to_owned()
}

/// Opens any address after a person agrees.
#[tool(untrusted, sends, confirm)]
fn open_if_agreed(url: &str) -> String {
    url.to_owned()
}

/// Searches a trusted index.
#[tool(sends)]
fn search(query: &str) -> String {
    query.to_owned()
}

workflow! {
    #[guards(private(profile), fresh)]
    pub Advising(profile: String, url: String) -> advice: String {
        agent reader -> is_new: bool { include_contents: prompt, instruction: "{url}", tools: [open_url], max_turns: 2 }
        agent searcher -> hits: String { include_contents: prompt, instruction: "{profile} {is_new}", tools: [search], max_turns: 2 }
        agent asker { include_contents: prompt, instruction: "{profile}", tools: [open_if_agreed, fetch_page], max_turns: 2 }
        agent adviser -> advice: String {
            include_contents: prompt,
            instruction: "{profile} {hits}",
            tools: [agents::tools::find_orders, fetch_page],
            max_turns: 2,
        }

        reader; searcher; asker; adviser
    }
}

workflow! {
    /// Memory holds text of strangers, and is not private.
    #[guards(fresh, strict)]
    pub Remembering(question: String) -> reply: String {
        agent clerk -> reply: String {
            instruction: "{question}", tools: [adk::tools::load_memory, search], max_turns: 3,
        }

        clerk
    }
}
