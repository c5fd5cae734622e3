#!/usr/bin/env bash
# Runs a command that starts servers of Restate: RESTATE_SERVER is the path of the program.
#   tests/peers/run-restate.sh cargo test -p adk-workflow-restate --tests -- --ignored
# A missing server is installed from the lock file.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
packages="$here/node_modules/@restatedev"
if [ ! -d "$packages/restate-server" ]; then
  npm ci --prefix "$here" --no-audit --no-fund
fi
export RESTATE_SERVER="$packages/restate-server-$(node -p 'process.platform + "-" + process.arch')/bin/restate-server"
exec "$@"
