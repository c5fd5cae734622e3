#!/usr/bin/env bash
# Runs a command with schemathesis, which tests servers by their OpenAPI documents.
#   tests/peers/run-schemathesis.sh cargo test -p adk-workflow-server --test it -- --ignored schemathesis
# Missing packages are installed into a virtual environment, from the pinned list.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
venv="$here/venv-schemathesis"
if [ ! "$venv/installed" -nt "$here/requirements-schemathesis.txt" ]; then
  rm -rf "$venv"
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements-schemathesis.txt"
  touch "$venv/installed"
fi
export ADK_SCHEMATHESIS="$venv/bin/schemathesis"
exec "$@"
