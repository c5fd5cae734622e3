#!/usr/bin/env bash
# Runs a command whose databases and evals are read by the real google-adk for Python.
#   tests/peers/run-adk-python.sh cargo test -p adk-workflow-sqlite --test it -- --ignored python
# Missing packages are installed into a virtual environment, from the pinned list.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
venv="$here/venv-adk"
if [ ! "$venv/installed" -nt "$here/requirements-adk.txt" ]; then
  rm -rf "$venv"
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements-adk.txt"
  # The source of pytest has the schema of JUnit reports that Jenkins uses.
  "$venv/bin/pip" download --quiet --disable-pip-version-check --no-deps --no-binary :all: \
    --dest "$venv" pytest==9.2.0
  tar xzf "$venv/pytest-9.2.0.tar.gz" -C "$venv" --strip-components=3 \
    pytest-9.2.0/testing/example_scripts/junit-10.xsd
  touch "$venv/installed"
fi
export ADK_PYTHON="$venv/bin/python" ADK_PYTHON_SCRIPT="$here/adk_python.py"
export ADK_EVAL_SCRIPT="$here/adk_eval.py" ADK_JUNIT_SCHEMA="$venv/junit-10.xsd"
exec "$@"
