#!/usr/bin/env bash
# Checks that the feature `sqlite` can be used beside other crates that link SQLite. A program can
# link it only once, so Cargo must find one version of `libsqlite3-sys` for all crates.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/src"
touch "$folder/src/lib.rs"

others=(
  'sqlx = { version = "0.9", default-features = false, features = ["sqlite"] }'
  'diesel = { version = "2", default-features = false, features = ["sqlite"] }'
  'sea-orm = { version = "2", default-features = false, features = ["sqlx-sqlite"] }'
  'deadpool-sqlite = "0.14"'
  'tokio-rusqlite = "0.8"'
)
for other in "${others[@]}"; do
  printf '[package]\nname = "resolve"\nversion = "0.0.0"\nedition = "2024"\n[workspace]\n[dependencies]\n%s\nadk-workflow = { path = "%s", features = ["sqlite"] }\n' \
    "$other" "$PWD" >"$folder/Cargo.toml"
  rm -f "$folder/Cargo.lock"
  if ! cargo generate-lockfile --quiet --manifest-path "$folder/Cargo.toml"; then
    echo "error: Cargo finds no versions for adk-workflow with the feature sqlite and ${other%% *}" >&2
    exit 1
  fi
  echo "resolved beside ${other%% *}"
done
