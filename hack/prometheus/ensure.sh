#!/usr/bin/env bash
# Makes sure that prometheus and promtool are on this machine, for the tests that have the real one scrape the operator
# and judge its alerts. Missing ones are installed from Debian's package, which takes root; no service is started.
set -euo pipefail

if command -v prometheus >/dev/null && command -v promtool >/dev/null; then
  echo "Prometheus: $(command -v prometheus)"
  exit
fi

if ! command -v apt-get >/dev/null || [ "$(id -u)" -ne 0 ]; then
  echo "The tests need prometheus and promtool. Install them as root: apt-get install --no-install-recommends prometheus" >&2
  exit 1
fi

# invoke-rc.d asks this program before it starts a service (Debian Policy, 9.3.3). A machine that has one is not changed.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  trap 'rm -f "$policy"' EXIT
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod +x "$policy"
fi
echo "Prometheus: installing it" >&2
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -qq -y --no-install-recommends prometheus >/dev/null
