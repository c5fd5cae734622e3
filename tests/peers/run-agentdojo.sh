#!/usr/bin/env bash
# Runs a command whose agents read the injections that AgentDojo has published.
#   tests/peers/run-agentdojo.sh cargo test -p adk-workflow --test it -- --ignored agentdojo
# Missing packages are installed into a virtual environment, from the pinned lists: AgentDojo itself
# with its hash, and the packages that its suites import.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
venv="$here/venv-agentdojo"
if [ ! "$venv/installed" -nt "$here/requirements-agentdojo.txt" ] || [ ! "$venv/installed" -nt "$here/requirements-agentdojo-imports.txt" ]; then
  rm -rf "$venv"
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check --require-hashes --no-deps -r "$here/requirements-agentdojo.txt"
  "$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps -r "$here/requirements-agentdojo-imports.txt"
  touch "$venv/installed"
fi
export ADK_AGENTDOJO_PYTHON="$venv/bin/python" ADK_AGENTDOJO_SCRIPT="$here/agentdojo.py"
exec "$@"
