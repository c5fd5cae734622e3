#!/usr/bin/env bash
# Runs a command with third-party MCP servers: two official servers for Node.js, and one server with
# the SDK for Python.
#   tests/peers/run-mcp.sh cargo test -p adk-workflow-mcp --test peers -- --ignored
# Missing programs are installed from the lock file and from the pinned list.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if [ ! -d "$here/node_modules/@modelcontextprotocol/server-everything" ]; then
  npm ci --prefix "$here" --no-audit --no-fund
fi
venv="$here/venv-mcp"
if [ ! "$venv/installed" -nt "$here/requirements-mcp.txt" ]; then
  rm -rf "$venv"
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements-mcp.txt"
  touch "$venv/installed"
fi
export ADK_MCP_NODE="$here/node_modules/@modelcontextprotocol" ADK_MCP_PYTHON="$venv/bin/python" ADK_MCP_SERVER="$here/mcp_server.py"
exec "$@"
