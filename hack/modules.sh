#!/usr/bin/env bash
# Says whether the go.mod and go.sum of every module here are tidy, without changing them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

untidy=0
for module in . hack/tools hack/helm hack/image hack/lint hack/controlplane; do
  (cd "$module" && GOWORK=off go mod tidy -diff) || { untidy=1; echo "$module is not tidy: run 'go mod tidy' there." >&2; }
done
exit "$untidy"
