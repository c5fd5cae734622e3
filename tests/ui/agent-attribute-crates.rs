use adk::agent;
use agents::data::{Opaque, Severity};

#[agent]
fn reads(value: Option<Opaque>) {
    drop(value);
}

#[agent(writes = value)]
async fn writes() -> adk::Result<Vec<Opaque>> {
    Ok(Vec::new())
}

#[agent]
fn no_key() -> Severity {
    Severity::High
}

fn main() {
    let _ = (reads, writes, no_key);
}
