//! Attributes that fit the function.

use adk::{Out, ToolContext as Cx, tool};

/// Looks up a word.
#[tool(name = "look_up")]
fn slip() {}

/// Looks up a word.
#[tool(escalates, confirm)]
fn two() {}

/// Looks up a word.
#[tool(name = "look-up")]
fn name() {}

/// Looks up a word.
#[tool(blocking)]
fn both() {}

/// Looks up a word.
#[tool]
fn contexts(left: &mut Cx) {
    let _ = left;
}

/// Looks up a word.
#[tool]
fn generic(value: String) {
    drop(value);
}

/// Waits.
#[tool(blocking, escalates)]
pub fn wait(cx: &mut Cx) {
    cx.actions.escalate = true;
}

/// Writes keys.
#[tool(writes(plan: String), long_running)]
pub async fn plan(cx: &mut Cx, text: String) -> adk::Result<String> {
    cx.state().set("plan", &text)?;
    Ok(text)
}

/// Reads and writes keys by parameters.
#[tool(blocking, writes(left: u32))]
pub fn take(
    #[key] stock: &[String],
    cx: &mut Cx,
    /// The number.
    #[default(1)]
    many: u32,
    #[key(user:orders)] orders: Option<u32>,
    #[key(user:orders)] ordered: Out<u32>,
    #[key] r#type: adk::Out<Vec<String>>,
) -> adk::Result<u32> {
    ordered.set(orders.unwrap_or_default() + many);
    r#type.set(stock.to_vec());
    cx.state().set("left", many)?;
    Ok(many)
}

/// Has the attributes on an agent.
#[adk::agent(writes = score)]
pub async fn score(
    #[key] draft: &str,
    #[key(user:name)] name: &str,
    #[key] best: Out<usize>,
) -> usize {
    best.set(name.len());
    draft.len()
}

fn is_large(amount: f64, _: &str) -> bool {
    amount > 100.0
}

/// Pays.
#[tool(confirm = is_large)]
pub fn pay(cx: &mut Cx, amount: f64, to: &str) {
    let _ = (cx, amount, to);
}

type Call<'a> = &'a mut Cx;

/// Writes keys with a context of another name, after an argument.
#[tool(writes(note: String, user:place: String))]
pub fn note(text: String, call: Call<'_>) -> adk::Result<()> {
    call.state().set("note", text)
}
