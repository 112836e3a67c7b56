#!/usr/bin/env bash
# debian.sh WHAT PACKAGE...: installs Debian's packages for the tests that need WHAT. It takes root, and no service is
# started.
set -euo pipefail
what=$1
shift

if ! command -v apt-get >/dev/null || [ "$(id -u)" -ne 0 ]; then
  echo "The tests need $what. Install them as root: apt-get install --no-install-recommends $*" >&2
  exit 1
fi

# invoke-rc.d asks this program before it starts a service (Debian Policy, 9.3.3). A machine that has one is not changed.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  trap 'rm -f "$policy"' EXIT
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod +x "$policy"
fi
echo "Installing $*" >&2
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -qq -y -o DPkg::Lock::Timeout=300 --no-install-recommends "$@" >/dev/null
