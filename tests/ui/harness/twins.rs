//! Crates of one name: `twins/shop.rs`, compiled as two libraries, and programs that are called so as well. cargo gives no test
//! two packages whose libraries have one name, so rustc is told of them here.

use super::reached::{deps, newest};
use super::{compare, compile, folder};
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

const NAMES: [&str; 2] = ["one", "two"];

/// Where the library of that name is.
fn library(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("libshop-{name}.rmeta"))
}

fn rustc(kind: &str, metadata: &str, out: &Path) -> Command {
    let mut command = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    command
        .current_dir(folder("twins"))
        .args(["--edition=2024", "--emit=metadata", "-Aunused", "--crate-name=shop", "--crate-type", kind])
        .args(["-C", &format!("metadata={metadata}"), "-o"])
        .arg(out);
    command.arg("-L").arg(deps()).arg("--extern").arg(format!("adk={}", newest("adk").display()));
    command
}

fn said(command: Command, program: &str) -> String {
    compile::snapshot(&compile::rustc(command, &format!("{program}.rs")))
}

#[test]
fn crates_of_one_name() {
    for name in NAMES {
        assert_eq!(said(rustc("lib", name, &library(name)), "shop"), "", "{name}");
    }
    let mut wrong = String::new();
    for program in ["right", "wrong"] {
        let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(program).with_extension("rmeta");
        // Of one of the libraries it has all that cargo says of a package.
        let mut command = rustc("bin", "one", &out);
        for name in NAMES {
            command.arg("--extern").arg(format!("{name}={}", library(name).display()));
        }
        compare(&folder("twins").join(program).with_extension("stderr"), &said(command, program), &mut wrong);
    }
    assert!(wrong.is_empty(), "{wrong}");
}
