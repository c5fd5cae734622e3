//! Programs that reach the macros through another crate alone: `reached/NAME.rs`, with what rustc says in `NAME.stderr` or
//! nothing. trybuild gives its cases all dependencies of this package, so these are compiled without it.

use super::{files, folder, overwrite};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// What rustc says of a program whose only dependency is the crate `agents`.
fn said(program: &str, agents: &Path) -> String {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(program).with_extension("rmeta");
    let mut command = Command::new(rustc);
    command
        .current_dir(folder("reached"))
        .args(["--edition=2024", "--emit=metadata", "-Aunused", "-o"])
        .arg(out);
    command.arg("-L").arg(deps()).arg("--extern").arg(format!("agents={}", agents.display()));
    let output = command.arg(format!("{program}.rs")).output().expect("rustc");
    String::from_utf8(output.stderr).expect("a text")
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
    let (agents, messages) = (newest("agents"), files(&folder("reached"), "stderr"));
    for program in files(&folder("reached"), "rs").into_keys() {
        let said = said(&program, &agents);
        if overwrite() {
            fs::write(folder("reached").join(&program).with_extension("stderr"), &said).expect("a message");
        } else {
            assert_eq!(Some(&said), messages.get(&program), "{program}");
        }
    }
}
