#!/usr/bin/env bash
# Runs a command whose databases are opened by the real google-adk for Python.
#   tests/peers/run-adk-python.sh cargo test -p adk-workflow-sqlite --test it -- --ignored python
# Missing packages are installed into a virtual environment, from the pinned list.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
venv="$here/venv-adk"
if [ ! "$venv/installed" -nt "$here/requirements-adk.txt" ]; then
  rm -rf "$venv"
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements-adk.txt"
  touch "$venv/installed"
fi
export ADK_PYTHON="$venv/bin/python" ADK_PYTHON_SCRIPT="$here/adk_python.py"
exec "$@"
