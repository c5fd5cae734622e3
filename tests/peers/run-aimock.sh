#!/usr/bin/env bash
# Starts the mock server `aimock` with the script of the tests, runs a command against it, and stops it again.
#   tests/peers/run-aimock.sh cargo test -p adk-workflow-genai --test aimock
# The server is installed from the lock file when it is not there yet.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
port=${AIMOCK_PORT:-4010}
if [ ! -d "$here/node_modules/@copilotkit/aimock" ]; then
  npm ci --prefix "$here" --no-audit --no-fund
fi
log=$(mktemp)
node "$here/node_modules/@copilotkit/aimock/dist/cli.js" -h 127.0.0.1 -p "$port" -f "$here/aimock.json" >"$log" 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null || true; rm -f "$log"' EXIT
for _ in $(seq 100); do
  if curl -sf -o /dev/null "http://127.0.0.1:$port/__aimock/journal"; then break; fi
  if ! kill -0 "$server" 2>/dev/null; then
    cat "$log" >&2
    exit 1
  fi
  sleep 0.1
done
ADK_AIMOCK="http://127.0.0.1:$port" "$@"
