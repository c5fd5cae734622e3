#!/usr/bin/env bash
# Checks licences, duplicates, sources and advisories of all dependencies with cargo-deny, and
# advisories only if their database can be had. The program takes minutes to build, so this script
# does not install it: `cargo install cargo-deny`.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! cargo deny --version >/dev/null 2>&1; then
  echo "skipped: cargo-deny is not installed"
  exit 0
fi
checks=(licenses bans sources)
if cargo deny fetch db >/dev/null 2>&1; then
  checks+=(advisories)
else
  echo "skipped: the database of advisories cannot be had"
fi
cargo deny check "${checks[@]}"
