//! What is said where something could not be read, which may have done anything.

use super::flow::{Tree, f, found, lp, pick, x};
use crate::spec::{AgentMeta, Renames};

/// A step that could not be read.
fn unread() -> Tree {
    Tree::Agent("", AgentMeta::custom("").may_exit(true).unknown(), Renames::NONE)
}

fn said(body: Vec<Tree>, outputs: &str) -> Vec<String> {
    // The macro does not look at the name of such a step.
    let of_keys = found(body, outputs).into_iter().filter(|fault| fault.check != "name-invalid");
    of_keys.map(|fault| fault.message).collect()
}

#[test]
fn an_arm_that_could_not_be_read_may_write_what_another_does_not() {
    assert_eq!(said(vec![pick("topic", vec![unread(), f("a", "", "x")])], "x"), [""; 0]);
    assert_eq!(
        said(vec![pick("topic", vec![f("b", "", "y"), unread()])], "x"),
        [
            "output-missing: output `x` is not written on every path to the end: arm `_` of `match topic` does not write it; \
          help: write it in every arm, or give it a first value, `let x: String = ...;`"
        ]
    );
    assert_eq!(
        said(vec![pick("topic", vec![f("b", "", "y"), unread()]), f("c", "x", "z")], ""),
        ["key-maybe-missing: function `c` reads `x`, but arm `_` of `match topic` does not write it; \
          help: write it in every arm, or take an `Option` if it may be absent"]
    );
}

#[test]
fn a_loop_may_end_before_what_could_not_be_read() {
    let body = vec![lp(None, vec![x("stop", "", ""), unread()])];
    assert_eq!(
        said(body, "x"),
        [
            "output-missing: output `x` is not written on every path to the end: loop `again` may end before the step that \
          could not be read; help: give it a first value, `let x: String = ...;`"
        ]
    );
}

#[test]
fn what_comes_too_late_or_writes_something_else_is_no_writer() {
    assert_eq!(
        said(vec![f("c", "x", "z"), pick("topic", vec![f("b", "", "y"), unread()])], ""),
        [
            "key-missing: function `c` reads `x`, but nothing before it writes that key; help: declare it as an input, \
          `x: TYPE`, or as a `let`, let it read another key by `(x = KEY)` behind its name, or take an `Option` if it may be absent; keys written before it: `topic`, `list`"
        ]
    );
}
