#!/usr/bin/env bash
# freeze.sh VERSION: keeps what a release installs, as manifest and as chart, in test/upgrade/testdata/VERSION. TestInstallation
# and TestUpgradeFromARelease begin there.
#
# Its stored objects (objects.yaml) begin as those of the release before. Add what is new: the output of
# `kubectl get tasktemplates,taskrecords,tasksubmissions,taskdecisions -o yaml`, without UIDs and versions.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
version=${1:?usage: hack/freeze.sh VERSION}
releases=test/upgrade/testdata
[ ! -e "$releases/$version" ] || { echo "$releases/$version is there: a release does not change"; exit 1; }
last=$(find "$releases" -mindepth 1 -maxdepth 1 2>/dev/null | sort -V | tail -1)
mkdir -p "$releases/$version"
cp dist/install.yaml "$releases/$version/"
tar --create --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=a=rX,u+w --directory=dist chart | gzip -n9 >"$releases/$version/chart.tgz"
[ -z "$last" ] || cp "$last/objects.yaml" "$releases/$version/"
echo "Frozen: $releases/$version"
