#!/usr/bin/env bash
# Makes sure that prometheus and promtool are on this machine, for the tests that have the real one scrape the operator
# and judge its alerts. Missing ones are installed from Debian's package, which takes root; no service is started.
set -euo pipefail

if command -v prometheus >/dev/null && command -v promtool >/dev/null; then
  echo "Prometheus: $(command -v prometheus)"
  exit
fi

exec "$(dirname "${BASH_SOURCE[0]}")/../debian.sh" "prometheus and promtool" prometheus
