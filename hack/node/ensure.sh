#!/usr/bin/env bash
# Makes sure that Node and npm are on this machine, for the browser client. Missing ones are installed from Debian's
# packages, which takes root.
set -euo pipefail

oldest=18
recent() { command -v npm >/dev/null && node --eval "process.exit(parseInt(process.versions.node) >= $oldest ? 0 : 1)" 2>/dev/null; }

if recent; then
  echo "Node: $(node --version) is here"
  exit
fi
"$(dirname "${BASH_SOURCE[0]}")/../debian.sh" "Node $oldest or later, and npm" nodejs npm
recent || { echo "Debian's Node is $(node --version), and the browser client needs $oldest or later: install a later one" >&2; exit 1; }
