//! `cargo adk`: runs the program `adk` of the same folder with the same arguments.

use std::env::{args_os, consts::EXE_SUFFIX, current_exe};
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let mut args: Vec<_> = args_os().skip(1).collect();
    // Cargo passes the name of the subcommand as the first argument.
    if args.first().is_some_and(|word| word == "adk") {
        args.remove(0);
    }
    let result = current_exe().and_then(|own| {
        Command::new(own.with_file_name(format!("adk{EXE_SUFFIX}")))
            .args(args)
            .status()
    });
    match result {
        // A process that a signal has ended has no exit code.
        Ok(status) => ExitCode::from(
            status
                .code()
                .and_then(|code| u8::try_from(code).ok())
                .unwrap_or(1),
        ),
        Err(error) => {
            eprintln!(
                "error: cannot start `adk` from the folder of `cargo-adk`: {error}; help: install \
                 both again"
            );
            ExitCode::FAILURE
        }
    }
}
