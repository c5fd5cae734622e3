#!/usr/bin/env bash
# Starts rust-analyzer on the project in this folder, asks it the questions of an editor, prints the
# answers, and fails if an answer differs. Installs rust-analyzer and the sources of the standard
# library if they are missing.
#   tests/editor/run.sh              all questions
#   tests/editor/run.sh completion   the questions of one kind, or that contain the word
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
rust-analyzer --version >/dev/null 2>&1 || rustup component add rust-analyzer
test -d "$(rustc --print sysroot)/lib/rustlib/src/rust/library" || rustup component add rust-src
# The project has its own workspace, like a user's project, with the versions of this workspace and
# a folder in its target folder.
cp "$root/Cargo.lock" "$here/project/Cargo.lock"
export CARGO_TARGET_DIR="$root/target/editor"
# Answers about a program that does not compile would prove little.
cargo check --quiet --manifest-path "$here/project/Cargo.toml"
exec python3 -B "$here/probe.py" "$@"
