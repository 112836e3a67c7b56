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
if ! command -v apt-get >/dev/null || [ "$(id -u)" -ne 0 ]; then
  echo "The browser client needs Node $oldest or later, and npm. Install them as root: apt-get install --no-install-recommends nodejs npm" >&2
  exit 1
fi
echo "Node: installing nodejs and npm" >&2
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -qq -y --no-install-recommends nodejs npm >/dev/null
recent || { echo "Debian's Node is $(node --version), and the browser client needs $oldest or later: install a later one" >&2; exit 1; }
