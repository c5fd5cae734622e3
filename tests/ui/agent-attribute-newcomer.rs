use adk::prelude::*;

#[agent(score)]
fn bare() -> f64 {
    0.5
}

#[agent(writes: score)]
fn colon() -> f64 {
    0.5
}

#[agent(writes = "score")]
fn quoted() -> f64 {
    0.5
}

#[agent(writes(score))]
fn called() -> f64 {
    0.5
}

#[agent(writes)]
fn nothing() -> f64 {
    0.5
}

#[agent(writes = user.score)]
fn dotted() -> f64 {
    0.5
}

#[agent(exits = outer)]
fn assigned() -> Flow {
    Flow::Exit
}

#[agent(exits("outer"))]
fn text() -> Flow {
    Flow::Exit
}

#[agent(exits())]
fn no_loop() -> Flow {
    Flow::Exit
}

#[agent(blocking = true)]
fn flag() {}

#[agent("score")]
fn literal() -> f64 {
    0.5
}

#[agent(name = "scorer", reads = draft)]
fn named() {}

struct Grader;

impl Grader {
    #[agent]
    fn method(&self) {}
}

fn main() {}
