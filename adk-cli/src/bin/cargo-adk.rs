//! `cargo adk`: the program `adk` beside this one, with the same arguments.

use std::env::{args_os, consts::EXE_SUFFIX, current_exe};
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let mut args: Vec<_> = args_os().skip(1).collect();
    // Cargo calls it with its own name first.
    if args.first().is_some_and(|word| word == "adk") {
        args.remove(0);
    }
    let ran = current_exe()
        .and_then(|own| Command::new(own.with_file_name(format!("adk{EXE_SUFFIX}"))).args(args).status());
    match ran {
        // A signal ended it.
        Ok(status) => ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)),
        Err(error) => {
            eprintln!(
                "error: the program `adk` is not beside `cargo-adk`: {error}; help: install both again"
            );
            ExitCode::FAILURE
        }
    }
}
