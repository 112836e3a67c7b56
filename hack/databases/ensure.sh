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

exec "$(dirname "${BASH_SOURCE[0]}")/../debian.sh" "PostgreSQL and MariaDB" "${packages[@]}"
