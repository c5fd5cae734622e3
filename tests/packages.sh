#!/usr/bin/env bash
# Checks the packages as users get them, only from their archives, which finds files that are not
# packed. One check covers all packages, because `cargo package` would build all dependencies again
# for each package.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-$PWD/target}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

crates=(adk-workflow-spec adk-workflow-model adk-workflow-journal adk-workflow-store adk-workflow-core adk-workflow-build adk-workflow-testing adk-workflow-eval adk-workflow-store-kit adk-workflow-macros adk-workflow-genai adk-workflow-mcp adk-workflow-sqlite adk-workflow-postgres adk-workflow-otel adk-workflow-a2a adk-workflow-restate adk-workflow-server adk-workflow-web adk-workflow-ag-ui adk-workflow-cli adk-workflow)
cargo package "${crates[@]/#/-p}" --no-verify --locked --quiet --target-dir "$folder/made"
{
  printf '[workspace]\nresolver = "3"\nmembers = ["adk-workflow*"]\n[patch.crates-io]\n'
  for crate in "${crates[@]}"; do
    # All files of a package have a date in 2006, so Cargo would reuse the output of an earlier run
    # for changed files.
    tar -xmf "$folder/made/package/$crate-"[0-9]*.crate -C "$folder"
    mv "$folder/$crate-"[0-9]* "$folder/$crate"
    for license in LICENSE-APACHE LICENSE-MIT; do
      [[ -s $folder/$crate/$license ]] || { echo "$crate has no $license" >&2; exit 1; }
    done
    printf '%s = { path = "%s" }\n' "$crate" "$crate"
  done
  # The profiles of the repository let Cargo reuse the dependencies that were built there.
  sed -n '/^\[profile\./,$p' Cargo.toml
} >"$folder/Cargo.toml"
cp Cargo.lock "$folder"
# Cargo removes the unpacked crates of the repository from the lock file; the other crates keep
# their versions.
cargo check --manifest-path "$folder/Cargo.toml" --workspace --all-features --target-dir "$target"
