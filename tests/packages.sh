#!/usr/bin/env bash
# The packages as users get them, from their archives alone: a file that is not packed is missed here. They are checked
# together, because `cargo package` alone builds all that they stand on once more for each of them.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-$PWD/target}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

crates=(adk-workflow-spec adk-workflow-core adk-workflow-macros adk-workflow-genai adk-workflow-mcp adk-workflow-sqlite adk-workflow-postgres adk-workflow-otel adk-workflow-a2a adk-workflow-restate adk-workflow-server adk-workflow-cli adk-workflow)
cargo package "${crates[@]/#/-p}" --no-verify --locked --quiet --target-dir "$folder/made"
{
  printf '[workspace]\nresolver = "3"\nmembers = ["adk-workflow*"]\n[patch.crates-io]\n'
  for crate in "${crates[@]}"; do
    # The files of a package are as old as 2006, so what an earlier run made of them would count as made of these.
    tar -xmf "$folder/made/package/$crate-"[0-9]*.crate -C "$folder"
    mv "$folder/$crate-"[0-9]* "$folder/$crate"
    printf '%s = { path = "%s" }\n' "$crate" "$crate"
  done
  # With the profiles of the repository, so that what was built there serves here.
  sed -n '/^\[profile\./,$p' Cargo.toml
} >"$folder/Cargo.toml"
cp Cargo.lock "$folder"
# Cargo takes the crates of the repository that are not packed out of the lock file; the others keep their versions.
cargo check --manifest-path "$folder/Cargo.toml" --workspace --all-features --target-dir "$target"
