use adk::prelude::*;

/// Looks it up.
#[tool(name = look_up)]
fn unquoted() {}

/// Looks it up.
#[tool("look_up")]
fn literal() {}

/// Looks it up.
#[tool(description = "Looks it up.")]
fn described() {}

#[tool(desc = "Looks it up.")]
fn undocumented() {}

#[tool("Looks it up.")]
fn text() {}

/// Looks it up.
#[tool(writes = plan)]
fn assigned() {}

/// Looks it up.
#[tool(writes(plan))]
fn untyped() {}

/// Looks it up.
#[tool(escalates = true)]
fn flag() {}

/// Looks it up.
#[tool]
fn defaults(#[default] days: u8, #[default = 3] weeks: u8) {
    let _ = (days, weeks);
}

struct Tools;

impl Tools {
    /// Looks it up.
    #[tool]
    fn method(&self) {}
}

/// Looks it up.
#[tool]
struct NoFunction;

fn main() {}
