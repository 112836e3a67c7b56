#!/usr/bin/env bash
# Makes sure that the programs of PostgreSQL and MariaDB are on this machine, for the tests that start servers of their
# own from them. Missing ones are installed from Debian's packages, which takes root; no service is started.
set -euo pipefail

packages=()
compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || command -v initdb >/dev/null || packages+=(postgresql)
[ -x /usr/sbin/mariadbd ] || command -v mariadbd >/dev/null || packages+=(mariadb-server-core)
command -v my_print_defaults >/dev/null || packages+=(mariadb-client-core) # mariadb-install-db calls it
if [ ${#packages[@]} -eq 0 ]; then
  echo "Databases: PostgreSQL and MariaDB are here"
  exit
fi

if ! command -v apt-get >/dev/null || [ "$(id -u)" -ne 0 ]; then
  echo "The tests need PostgreSQL and MariaDB. Install them as root: apt-get install --no-install-recommends ${packages[*]}" >&2
  exit 1
fi

# invoke-rc.d asks this program before it starts a service (Debian Policy, 9.3.3). A machine that has one is not changed.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  trap 'rm -f "$policy"' EXIT
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod +x "$policy"
fi
echo "Databases: installing ${packages[*]}" >&2
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -qq -y --no-install-recommends "${packages[@]}" >/dev/null
