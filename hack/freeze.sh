#!/usr/bin/env bash
# freeze.sh VERSION: keeps what a release installs, for TestUpgrade, in test/upgrade/testdata/VERSION.
#
# Its stored objects (objects.yaml) begin as those of the release before. Add what is new: the output of
# `kubectl get tasktemplates,taskrecords,tasksubmissions,taskdecisions -o yaml`, without UIDs and versions.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
version=${1:?usage: hack/freeze.sh VERSION}
releases=test/upgrade/testdata
[ ! -e "$releases/$version" ] || { echo "$releases/$version is there: a release does not change"; exit 1; }
kubectl=$(hack/controlplane/ensure.sh kubectl)/kubectl
last=$(find "$releases" -mindepth 1 -maxdepth 1 2>/dev/null | sort -V | tail -1)
mkdir -p "$releases/$version"
"$kubectl" kustomize config/crd >"$releases/$version/crds.yaml"
"$kubectl" kustomize config/default >"$releases/$version/install.yaml"
[ -z "$last" ] || cp "$last/objects.yaml" "$releases/$version/"
echo "Frozen: $releases/$version"
