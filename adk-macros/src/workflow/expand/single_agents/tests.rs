use crate::workflow::llm_agent;
use quote::{format_ident, quote};

/// Each unused name of an import makes rustc read the text of the whole call.
#[test]
fn all_agents_share_one_import() {
    let agents = (0..20).map(|n| format_ident!("agent_{n}"));
    let all = llm_agent(quote!(#(agent #agents { instruction: "Hello." })*)).to_string();
    assert_eq!(all.matches("struct agent_").count(), 20);
    assert_eq!(all.matches("self as __wire").count(), 1);
}
