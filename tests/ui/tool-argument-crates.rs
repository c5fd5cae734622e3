use adk::tool;
use agents::data::Opaque;

/// Takes a value that no model can send.
#[tool]
fn look_up(what: Opaque, more: &[Opaque]) {
    let _ = (what, more);
}

fn main() {
    let _ = look_up;
}
