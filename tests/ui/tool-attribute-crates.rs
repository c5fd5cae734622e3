use adk::prelude::*;

/// Returns a value that no model can read.
#[tool(writes(opaque: agents::data::Opaque))]
fn gives(cx: &mut ToolContext) -> agents::data::Opaque {
    let _ = cx;
    agents::data::Opaque
}

fn main() {
    let _ = gives;
}
