//! Variants of one name are told once, and not by each derive.

use adk::prelude::*;

/// How urgent it is.
#[data]
enum Severity {
    High,
    Low(u8),
    High { by: String },
}

fn main() {}
