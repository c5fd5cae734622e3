use adk::agent;

#[agent(writes = text)]
fn generic<T: ToString>(draft: T) -> String {
    draft.to_string()
}

#[agent(writes = text)]
fn hidden(draft: String) -> impl ToString {
    draft
}

#[agent]
fn pair((left, right): (u8, u8)) {
    let _ = (left, right);
}

#[agent]
unsafe fn dangerous() {}

#[agent]
fn with_default(#[default(3)] days: u8) {
    let _ = days;
}

#[agent]
fn derived(#[serde(default)] days: u8) {
    let _ = days;
}

#[agent]
struct NoFunction;

fn main() {}
