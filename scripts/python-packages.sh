#!/usr/bin/env bash
# Makes a Python environment with what the Python agents in examples/agents and in the tests need, for their tests.
# Usage: scripts/python-packages.sh FOLDER, then TRIALBED_TEST_PYTHON=FOLDER
# Needs python3 (3.10 or later) with venv and pip, and a package index. Does nothing when the folder has these requirements.
set -euo pipefail

folder=$1
root=$(dirname "$0")/..
requirements=$(cat "$root/examples/agents/requirements.txt" "$root/test/fixtures/agents/requirements.txt" "$root/test/requirements.txt")

if [ -f "$folder/requirements.txt" ] && [ "$requirements" = "$(cat "$folder/requirements.txt")" ]; then
  exit 0
fi
python3 -m venv --clear "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check --requirement /dev/stdin <<<"$requirements"
echo "$requirements" >"$folder/requirements.txt"
