use adk::tool;

#[tool]
fn look_up(
    /// A word.
    word: String,
) -> usize {
    word.len()
}

///
#[tool(name = "search")]
fn empty() {}

fn main() {
    let _ = (look_up, empty);
}
