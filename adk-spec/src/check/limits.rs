//! `loop-max`, for numbers that only const evaluation knows.

use super::{Check, Diagnostic};
use crate::message::Message;
use crate::text::same;

/// Describes a limit that is less than 1, or too large.
pub(super) const fn describe(word: &str, block: &str, value: i128) -> Message {
    let mut m = Message::new();
    let rounds = same(word, "max_iterations");
    let max = rounds || same(word, "max");
    let elements = same(word, "max_elements");
    m.begin(if max { Check::LoopMax } else { Check::Syntax });
    m.all(&[
        "`",
        if elements { "max" } else { word },
        "` of block `",
        block,
        "` is ",
    ]);
    m.number(value);
    m.push(if value > 0 {
        ", which is too large"
    } else {
        ""
    });
    m.push("; help: it is the largest number of ");
    m.push(if same(word, "attempts") {
        "attempts, 1 or more, as in `attempts = 3`"
    } else if rounds {
        "rounds, 1 or more"
    } else if max {
        "rounds, 1 or more, as in `max = 5`"
    } else if elements {
        "elements, 1 or more, as in `max = 20`"
    } else {
        "branches at a time, 1 or more"
    });
    m
}

/// Returns the diagnostic of a limit in a tree that is built at run time.
pub fn limit_diagnostic(word: &str, block: &str, value: i128) -> Diagnostic {
    Diagnostic::from_message("", &describe(word, block, value))
}

/// Ends const evaluation when a limit is out of range.
#[track_caller]
pub const fn raise_limit(word: &str, block: &str, value: i128) {
    if value < 1 || value > u32::MAX as i128 {
        describe(word, block, value).raise();
    }
}

/// Clamps a limit to its range.
pub const fn limit(value: i128) -> u32 {
    if value < 1 {
        1
    } else if value > u32::MAX as i128 {
        u32::MAX
    } else {
        value as u32
    }
}

/// Ends const evaluation when a bound is negative or too large.
#[track_caller]
pub const fn raise_bound(word: &str, value: i128) {
    if value < 0 || value > u64::MAX as i128 {
        let mut m = Message::of(Check::Syntax, &["`", word, "` in `#[bounds(...)]` is "]);
        m.number(value);
        m.push(if value > 0 {
            ", which is too large"
        } else {
            ""
        });
        m.push("; help: it is the most that is allowed, 0 or more");
        m.raise();
    }
}

/// Clamps a bound to its range.
pub const fn bound(value: i128) -> u64 {
    if value < 0 {
        0
    } else if value > u64::MAX as i128 {
        u64::MAX
    } else {
        value as u64
    }
}
