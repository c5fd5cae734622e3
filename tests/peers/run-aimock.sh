#!/usr/bin/env bash
# Starts the mock server `aimock` with the script of the tests, runs a command against it, and stops
# the server.
#   tests/peers/run-aimock.sh cargo test -p adk-workflow-genai --test table -- --ignored
# A missing server is installed from the lock file. The server listens on a free port.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if [ ! -d "$here/node_modules/@copilotkit/aimock" ]; then
  npm ci --prefix "$here" --no-audit --no-fund
fi
log=$(mktemp)
node "$here/node_modules/@copilotkit/aimock/dist/cli.js" -h 127.0.0.1 -p 0 -f "$here/aimock.json" >"$log" 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null || true; rm -f "$log"' EXIT
url=
for _ in $(seq 100); do
  url=$(sed -n 's/.*listening on \(http[^ ]*\).*/\1/p' "$log")
  if [ -n "$url" ]; then break; fi
  if ! kill -0 "$server" 2>/dev/null; then break; fi
  sleep 0.1
done
if [ -z "$url" ]; then
  cat "$log" >&2
  exit 1
fi
ADK_AIMOCK="$url" "$@"
