//! Workflows that rustc must reject: `tests/wrong/*.rs`, with its output in `*.stderr`.
//!
//! After a change: `TRYBUILD=overwrite cargo test`, then read the difference.

#[test]
fn wrong_workflows_do_not_compile() {
    trybuild::TestCases::new().compile_fail("tests/wrong/*.rs");
}
