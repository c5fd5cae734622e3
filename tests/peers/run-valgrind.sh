#!/usr/bin/env bash
# Runs a command that counts instructions with `valgrind`, in builds that count the locks of adk. A
# missing `valgrind` is installed from the distribution.
#   tests/peers/run-valgrind.sh cargo run --release --manifest-path benches/peers/Cargo.toml --no-default-features -- --limits
set -euo pipefail
if ! command -v valgrind >/dev/null; then
  as_root=()
  if [ "$(id -u)" != 0 ]; then as_root=(sudo); fi
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends valgrind >/dev/null
fi
export RUSTFLAGS="${RUSTFLAGS:-} --cfg adk_counts"
exec "$@"
