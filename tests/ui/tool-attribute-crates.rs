use adk::tool;

/// Gives what no model can read.
#[tool(writes(opaque: agents::data::Opaque))]
fn gives() -> agents::data::Opaque {
    agents::data::Opaque
}

fn main() {
    let _ = gives;
}
