use adk::prelude::*;

workflow! { pub Outputs(topic: String) -> }

workflow! { pub Item(topic: String) { agent } }

workflow! { pub Output(topic: String) { agent writer -> } }

workflow! { pub Fields(topic: String) { agent writer -> draft: String { instr } writer } }

fn main() {}
