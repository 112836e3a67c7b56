#!/usr/bin/env bash
# Prints the folder that holds the control plane's programs, after making sure that they are there.
#
#   ensure.sh [etcd|kube-apiserver|kube-controller-manager|kubectl ...]     (default: all but kube-controller-manager)
#
# In this order: $KUBEBUILDER_ASSETS; the cache; envtest's download, given 20 seconds; the build from Go modules. With
# KUBERNETES_VERSION, such as v1.36.2, they are of that version, each of which has a folder of its own in the cache.
# The download is a convenience and never needed: it is not tried when CI is set or TASKONCE_DOWNLOAD is off.
# Only the folder goes to standard output; progress goes to standard error.
set -euo pipefail

[ $# -gt 0 ] || set -- etcd kube-apiserver kubectl
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

has_all() {
  local dir=$1 program
  shift
  for program; do [ -x "$dir/$program" ] || return 1; done
}

if [ -z "${KUBERNETES_VERSION:-}" ] && [ -n "${KUBEBUILDER_ASSETS:-}" ] && has_all "$KUBEBUILDER_ASSETS" "$@"; then
  (cd "$KUBEBUILDER_ASSETS" && pwd)
  exit
fi

version=${KUBERNETES_VERSION:-$(cd "$here" && GOWORK=off go list -m -f '{{.Version}}' k8s.io/kubernetes)}
cache=${XDG_CACHE_HOME:-$HOME/.cache}/taskonce/controlplane
dir=$cache/$version-$(go env GOHOSTOS)-$(go env GOHOSTARCH)

# envtest's archives hold etcd, kube-apiserver and kubectl of one minor version, and are checked by digest.
downloadable() {
  [ -z "${CI:-}" ] && [ "${TASKONCE_DOWNLOAD:-on}" != off ] && command -v timeout >/dev/null || return 1
  local program
  for program; do
    [ "$program" != kube-controller-manager ] || return 1
    # A folder that was begun by the build is finished by it: all its programs are of one version.
    [ ! -e "$dir/$program" ] || return 1
  done
}

download() {
  local minor=${version#v} unpacked partial
  minor=${minor%.*}
  unpacked=$(cd "$here/../tools" && GOWORK=off timeout 20 go tool setup-envtest use "$minor.x" --bin-dir "$cache/envtest" -p path) || return 1
  partial=$(mktemp -d "$cache/.download.XXXXXX") || return 1
  cp "$unpacked"/{etcd,kube-apiserver,kubectl} "$partial" && mkdir -p "$dir" && mv -f "$partial"/* "$dir"
  rm -rf "$partial"
  has_all "$dir" "$@"
}

mkdir -p "$cache"
if ! has_all "$dir" "$@"; then
  { downloadable "$@" && download "$@" >/dev/null 2>&1; } || "$here/build.sh" "$dir" "$@"
fi
echo "$dir"
