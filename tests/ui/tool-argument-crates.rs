use adk::tool;
use agents::data::Opaque;

/// Takes what no model can give.
#[tool]
fn look_up(what: Opaque, more: &[Opaque]) {
    let _ = (what, more);
}

fn main() {
    let _ = look_up;
}
