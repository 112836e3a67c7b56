#!/usr/bin/env bash
# Builds the control plane's programs from Go modules, pinned in go.mod beside this file.
#
#   build.sh DIR [etcd|kube-apiserver|kube-controller-manager|kubectl ...]
#
# DIR receives the programs. What is already there is left alone. From a cold build cache on two cores
# kube-apiserver takes about ten minutes, so every package that is done is counted on standard error.
set -euo pipefail

dir=${1:?the folder for the programs}
shift
[ $# -gt 0 ] || set -- etcd kube-apiserver
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")"

version=$(go list -m -f '{{.Version}}' k8s.io/kubernetes)
minor=${version#v1.}
ldflags="-s -w"
for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
  ldflags+=" -X $package.gitVersion=$version -X $package.gitMajor=1 -X $package.gitMinor=${minor%%.*} -X $package.gitTreeState=clean"
done

package() {
  case $1 in
    etcd) echo go.etcd.io/etcd/server/v3 ;;
    kube-apiserver | kube-controller-manager | kubectl) echo "k8s.io/kubernetes/cmd/$1" ;;
    *) echo "build.sh: no program called $1; there are etcd, kube-apiserver, kube-controller-manager and kubectl" >&2; exit 2 ;;
  esac
}

# One line on a terminal, one line a minute elsewhere; what is not a package's name is an error worth reading.
progress() {
  awk -v program="$1" -v total="$2" -v terminal="$([ -t 2 ] && echo 1 || echo 0)" '
    /^[A-Za-z0-9_.~-]+(\/[A-Za-z0-9_.~-]+)*$/ {
      done++
      if (terminal) printf "\r%s: %d of at most %d packages built", program, done, total
      else if (systime() - said >= 60) { printf "%s: %d of at most %d packages built\n", program, done, total; said = systime() }
      fflush(); next
    }
    { print; fflush() }
    END { if (terminal && done) print "" }' >&2
}

for program; do
  [ -x "$dir/$program" ] && continue
  path=$(package "$program")
  total=$(go list -deps "$path" | wc -l)
  echo "Building $program $version (or its pinned version) from Go modules; this happens once." >&2
  # Built beside its place and moved there whole: a build that was stopped leaves nothing that looks done.
  GOFLAGS="${GOFLAGS:-} -buildvcs=false" CGO_ENABLED=0 \
    go build -v -trimpath -ldflags "$ldflags" -o "$dir/.$program.$$" "$path" 2>&1 | progress "$program" "$total"
  mv "$dir/.$program.$$" "$dir/$program"
done
