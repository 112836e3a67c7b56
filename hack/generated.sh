#!/usr/bin/env bash
# Says whether what is generated is up to date, without touching the working tree: it is written to a
# temporary folder and compared.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
mkdir -p "$fresh"/config "$fresh"/docs
"${MAKE:-make}" --no-print-directory --silent generate manifests OUT="$fresh"

stale=0
compare() { diff -u "$1" "$fresh/$1" || stale=1; }
compare api/v1alpha1/zz_generated.deepcopy.go
compare config/rbac/role.yaml
compare config/prometheus/prometheusrule.yaml
compare docs/cli.md
compare docs/flags.md
compare docs/metrics.md
compare docs/scale.md
compare docs/scale.svg
# The whole folder: a CRD that nothing generates any more is stale too.
diff -ru config/crd/bases "$fresh/config/crd/bases" || stale=1
diff -ru dist "$fresh/dist" || stale=1

if [ "$stale" = 1 ]; then
  echo "Generated files are stale: run 'make generate manifests' and commit the result." >&2
  exit 1
fi
