use adk::{Flow, Out, Result, agent};

type Score = Result<f64>;
type Nothing = Result<()>;

/// Returns a value through an alias, without a key.
#[agent]
fn no_key(draft: &str) -> Score {
    Ok(draft.len() as f64)
}

/// Has a key and no value.
#[agent(writes = score)]
async fn no_value() -> Nothing {
    Ok(())
}

/// Returns only a flow.
#[agent(writes = score)]
fn only_flow() -> Flow {
    Flow::Exit
}

#[agent(write = score)]
fn slip() -> f64 {
    0.5
}

#[agent(writes = score, writes = mark)]
fn twice() -> f64 {
    0.5
}

#[agent(temperature = 0.5)]
fn other() {}

#[agent(writes = usr:score)]
fn prefix() -> f64 {
    0.5
}

#[agent(exits(outer))]
fn no_flow() {}

#[agent(exits)]
fn no_loop() -> Flow {
    Flow::Exit
}

#[agent(blocking)]
async fn both() {}

#[agent(timeout = 20)]
async fn no_quotes() {}

#[agent(timeout = "20s")]
fn never_waits() {}

#[agent(writes = score)]
fn two_keys(#[key(score)] best: Out<f64>) -> f64 {
    best.set(1.0);
    0.5
}

#[agent]
fn unmarked(score: Out<f64>) {
    score.set(1.0);
}

fn main() {
    let _ = (two_keys, unmarked);
    let _ = (no_quotes, never_waits);
    let _ = (no_key, no_value, only_flow, slip, twice, other, prefix, no_flow, no_loop, both);
}
