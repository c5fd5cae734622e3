#!/usr/bin/env bash
# Runs a command whose diagrams are parsed and drawn by the real Graphviz and the real Mermaid.
#   tests/peers/run-diagrams.sh cargo test --test diagrams -- --ignored
# Missing programs are installed: Graphviz and Chromium from the distribution, Mermaid from the lock
# file.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)/mermaid
missing=()
if ! command -v dot >/dev/null; then missing+=(graphviz); fi
if [ ! -x "${CHROMIUM:-/usr/bin/chromium}" ]; then missing+=(chromium); fi
if [ ${#missing[@]} -gt 0 ]; then
  as_root=()
  if [ "$(id -u)" != 0 ]; then as_root=(sudo); fi
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi
if [ ! "$here/node_modules/.package-lock.json" -nt "$here/package-lock.json" ]; then
  npm ci --prefix "$here" --no-audit --no-fund
fi
"$@"
