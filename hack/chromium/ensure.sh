#!/usr/bin/env bash
# Makes sure that Chromium is on this machine, for the tests of pages in a real browser. Where it is missing it is installed
# from Debian's packages, with a font, which takes root.
set -euo pipefail

if command -v chromium >/dev/null; then
  echo "Chromium: $(command -v chromium)"
  exit
fi

exec "$(dirname "${BASH_SOURCE[0]}")/../debian.sh" "Chromium, and a font" chromium fonts-inter
