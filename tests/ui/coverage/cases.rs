//! Compiles the wrong programs in this folder with `trybuild` and compares the output of rustc with
//! `*.stderr`.
//!
//! `CHECK.rs` and `CHECK-*.rs` are rejected by that check. `CHECK-modules.rs` has its agents in
//! other modules, `CHECK-crates.rs` in the crate `agents`.
//!
//! After a change of a message: `TRYBUILD=overwrite cargo test -p ui`, then read the difference.
//! `cargo test -p ui trybuild=key-race` compiles only the cases whose path contains `key-race`.

use libtest_mimic::{Arguments, Trial};

fn main() {
    let mut arguments = Arguments::from_args();
    // libtest reads `trybuild=key-race` as the name of a test. trybuild finds it by itself.
    arguments.filter = arguments
        .filter
        .filter(|filter| !filter.starts_with("trybuild="));
    let cases = Trial::test("cases", || {
        trybuild::TestCases::new().compile_fail("*.rs");
        Ok(())
    });
    libtest_mimic::run(&arguments, vec![cases]).exit();
}
