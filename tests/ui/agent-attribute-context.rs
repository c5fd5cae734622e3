use adk::{Context as Cx, agent};

#[agent(blocking)]
fn leaves(cx: &mut Cx, draft: &str) {
    let _ = (cx, draft);
}

#[agent]
fn behind(draft: &str, cx: &mut Cx) {
    let _ = (cx, draft);
}

#[agent]
fn unnamed(_: &str) {}

fn main() {
    let _ = (leaves, behind, unnamed);
}
