//! What the compiler says about bad workflows: `tests/ui/CHECK*.rs` with the exact text of the pinned toolchain.
//!
//! After a change of a message: `TRYBUILD=overwrite cargo test --test ui`, then read the difference.

#[test]
fn ui() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/*.rs");
    cases.pass("tests/ui/pass/*.rs");
}
