#!/usr/bin/env bash
# Runs a command whose server is called by third-party clients: the official clients for AG-UI, A2A
# and MCP on Node.js, the compiler of TypeScript, and Chromium.
#   tests/peers/run-clients.sh cargo test -p adk-workflow-server --tests -- --ignored
# Missing programs are installed from the lock file and from the distribution.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if [ ! -d "$here/node_modules/puppeteer-core" ]; then
  npm ci --prefix "$here" --no-audit --no-fund
fi
chromium=$(command -v chromium || true)
if [ -z "$chromium" ]; then
  as_root=()
  if [ "$(id -u)" != 0 ]; then as_root=(sudo); fi
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null
  chromium=$(command -v chromium)
fi
export ADK_CLIENTS="$here/clients" ADK_CHROMIUM="$chromium"
exec "$@"
