#!/usr/bin/env bash
# Makes a Python environment with what the Python agents in examples/agents need, for their tests.
# Usage: scripts/python-packages.sh FOLDER, then TRIALBED_TEST_PYTHON=FOLDER
# Needs python3 (3.10 or later) with venv and pip, and a package index. Does nothing when the folder has these requirements.
set -euo pipefail

folder=$1
requirements=$(dirname "$0")/../examples/agents/requirements.txt

if cmp -s "$requirements" "$folder/requirements.txt"; then
  exit 0
fi
python3 -m venv --clear "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check --requirement "$requirements"
cp "$requirements" "$folder/requirements.txt"
