//! Compiles `wrong.rs` in the folder of the package and compares the output of rustc with
//! `wrong.stderr`.

#[test]
fn the_wrong_program_is_rejected() {
    trybuild::TestCases::new().compile_fail("wrong.rs");
}
