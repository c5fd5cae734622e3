use adk::{Out, ToolContext as Cx, tool};

/// Looks it up.
#[tool(nme = "look_up")]
fn slip() {}

/// Looks it up.
#[tool(escalate, confirm, confirm)]
fn two() {}

/// Looks it up.
#[tool(name = "look up")]
fn name() {}

/// Looks it up.
#[tool(blocking)]
async fn both() {}

/// Looks it up.
#[tool]
fn contexts(left: &mut Cx, right: &Cx) {
    let _ = (left, right);
}

/// Looks it up.
#[tool]
fn generic<T>(value: T) {
    drop(value);
}

/// Looks it up.
#[tool]
fn derived(#[serde(default)] word: String, #[schemars(range(max = 3))] most: u8) {
    let _ = (word, most);
}

/// Looks it up.
#[tool(timeout = "20", retry = many)]
async fn no_unit() {}

/// Looks it up.
#[tool(timeout = "20s")]
fn never_waits() {}

/// Ends it.
#[tool]
fn no_key(completed: Out<bool>) {
    completed.set(true);
}

/// Ends it.
#[tool(writes(completed: bool))]
fn two_keys(#[key] completed: Out<bool>, cx: &mut Cx) {
    let _ = (completed, cx);
}

/// Ends it.
#[tool]
fn no_name(#[key] _: &str, #[key(usr:plan)] plan: Out<&str>, #[key] #[default(3)] most: u8) {
    let _ = (plan, most);
}

/// Ends it.
#[tool(writes(completed: bool))]
fn no_context() {}

fn is_large(amount: u32) -> bool {
    amount > 100
}

/// Pays.
#[tool(confirm = is_large)]
fn pay(cx: &mut Cx, amount: f64, to: &str) {
    let _ = (cx, amount, to);
}

/// Pays.
#[tool(confirm = |amount: f64| amount)]
fn no_answer(amount: f64) {
    let _ = amount;
}

/// Pays.
#[tool(confirm(is_large))]
fn no_sign(amount: u32) {
    let _ = amount;
}

fn main() {
    let _ = (no_key, two_keys, no_name, no_context);
    let _ = (slip, two, name, both, contexts, derived, no_unit, never_waits, pay, no_answer, no_sign);
}
