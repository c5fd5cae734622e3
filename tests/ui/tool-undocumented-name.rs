use adk::prelude::*;

#[tool(name = "look-up", blocking)]
fn look_up(cx: &mut ToolContext, word: &str) -> Result<usize, String> {
    let _ = cx;
    Ok(word.len())
}

fn main() {
    let _ = look_up;
}
