#!/usr/bin/env bash
# Makes sure that buildah is on this machine, for the test that has a container engine build the Dockerfile. Where it is
# missing it is installed from Debian's package, which takes root; there is no service.
set -euo pipefail

if command -v buildah >/dev/null; then
  echo "Container engine: $(command -v buildah)"
  exit
fi

exec "$(dirname "${BASH_SOURCE[0]}")/../debian.sh" buildah buildah
