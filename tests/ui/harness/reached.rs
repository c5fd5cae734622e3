//! Programs that reach the macros through another crate alone: `reached/NAME.rs`, with what rustc says in `NAME.stderr` or
//! nothing. trybuild gives its cases all dependencies of this package, so these are compiled without it.

use super::{compare, compile, files, folder};
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What rustc says of a program whose only dependency is the crate `agents`.
fn said(program: &str, agents: &Path) -> String {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(program).with_extension("rmeta");
    let mut command = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    command
        .current_dir(folder("reached"))
        .args(["--edition=2024", "--emit=metadata", "-Aunused", "-o"])
        .arg(out);
    command.arg("-L").arg(deps()).arg("--extern").arg(format!("agents={}", agents.display()));
    compile::snapshot(&compile::rustc(command, &format!("{program}.rs")))
}

/// Where the dependencies of this test are.
pub(super) fn deps() -> PathBuf {
    env::current_exe().expect("this test").parent().expect("its folder").to_owned()
}

/// A crate as it was built last.
pub(super) fn newest(name: &str) -> PathBuf {
    let start = format!("lib{name}-");
    let all = deps().read_dir().expect("a folder").map(|entry| entry.expect("an entry").path());
    let libraries = all.filter(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(&start) && name.ends_with(".rlib")
    });
    let built = |path: &PathBuf| path.metadata().and_then(|about| about.modified()).expect("a time");
    libraries.max_by_key(built).expect("the crate")
}

#[test]
fn macros_that_are_reached_through_another_crate() {
    let (agents, mut wrong) = (newest("agents"), String::new());
    for program in files(&folder("reached"), "rs").into_keys() {
        let said = said(&program, &agents);
        compare(&folder("reached").join(&program).with_extension("stderr"), &said, &mut wrong);
    }
    assert!(wrong.is_empty(), "{wrong}");
}
