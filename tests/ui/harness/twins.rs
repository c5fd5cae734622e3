//! Two packages of one name: `twins/shop.rs`, compiled as the libraries of two versions, and programs of the same name. cargo gives
//! no test two packages whose libraries have one name, so this calls rustc with what cargo says of them.

use super::reached::{deps, newest};
use super::{compare, compile, folder};
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The names by which programs know the libraries.
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
    let version = if metadata == "one" { "1.0.0" } else { "2.0.0" };
    command.env("CARGO_PKG_NAME", "shop").env("CARGO_PKG_VERSION", version);
    if kind == "bin" {
        command.env("CARGO_BIN_NAME", "shop");
    }
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
        // The program is in the package of one of the libraries.
        let mut command = rustc("bin", "one", &out);
        for name in NAMES {
            command.arg("--extern").arg(format!("{name}={}", library(name).display()));
        }
        compare(&folder("twins").join(program).with_extension("stderr"), &said(command, program), &mut wrong);
    }
    assert!(wrong.is_empty(), "{wrong}");
}
