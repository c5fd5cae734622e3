use crate::workflow::llm_agent;
use quote::{format_ident, quote};

/// Each unused name of an import makes rustc read the text of the whole call.
#[test]
fn the_short_names_are_imported_once_for_all_agents() {
    let agents = (0..20).map(|n| format_ident!("agent_{n}"));
    let all = llm_agent(quote!(#(agent #agents { instruction: "Hello." })*)).to_string();
    assert_eq!(all.matches("struct agent_").count(), 20);
    assert_eq!(all.matches("self as __wire").count(), 1);
}
