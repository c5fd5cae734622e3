//! Compiles `wrong.rs` in the folder of the package and compares the output of rustc with `wrong.stderr`.

#[test]
fn wrong() {
    trybuild::TestCases::new().compile_fail("wrong.rs");
}
