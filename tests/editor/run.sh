#!/usr/bin/env bash
# Starts rust-analyzer on the project in this folder, asks it what an editor asks, prints what came back, and fails when
# anything is not as it has to be. Installs rust-analyzer, and the standard library's source that it reads, if missing.
#   tests/editor/run.sh              all questions
#   tests/editor/run.sh completion   those of one kind, or with that word in them
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
rust-analyzer --version >/dev/null 2>&1 || rustup component add rust-analyzer
test -d "$(rustc --print sysroot)/lib/rustlib/src/rust/library" || rustup component add rust-src
# The project is a workspace of its own, as that of a user is, with the versions of ours and a place among our targets.
cp "$root/Cargo.lock" "$here/project/Cargo.lock"
export CARGO_TARGET_DIR="$root/target/editor"
# Answers about a program that does not compile would say little.
cargo check --quiet --manifest-path "$here/project/Cargo.toml"
exec python3 -B "$here/probe.py" "$@"
