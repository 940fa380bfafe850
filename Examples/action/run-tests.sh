#!/bin/bash
# Runs the tests of a package, so that failures appear at their lines in a pull request.
#
#   run-tests.sh [FOLDER]
#
# FOLDER contains the package (default: the current folder). The exit status is that of the tests.
set -euo pipefail

folder=${1:-.}
matcher=$(cd "$(dirname "$0")" && pwd)/swift-testing.json
paths=$(mktemp)
trap 'rm -f "$paths"' EXIT
if [ -n "${GITHUB_ACTIONS:-}" ]; then
  echo "::add-matcher::$matcher"
fi
# Swift Testing prints the names of files; annotations need paths. Packages in the folder, such as a
# checkout of Temblor, have files of their own with the same names.
find "$folder" -mindepth 1 \
  \( -name .build -o -type d -exec test -e '{}/Package.swift' \; \) -prune \
  -o -name '*.swift' -print \
  | sed -E 's|^\./||; s|^(.*/)?([^/]+)$|s# at \2:# at \1\2:#|' > "$paths"
# The flag lets the rule of handlers find code that ends the application on a phone.
swift test --package-path "$folder" -Xswiftc -enable-actor-data-race-checks 2>&1 \
  | sed -u -f "$paths"
