#!/usr/bin/env bash
# Builds the control plane's programs from Go modules, pinned in go.mod beside this file.
#
#   build.sh DIR [etcd|kube-apiserver|kube-controller-manager|kubectl ...]
#
# KUBERNETES_VERSION builds another version of Kubernetes, such as v1.36.2, from the modules that it was released with; etcd
# stays the one that is pinned.
#
# DIR receives the programs; what is already there is left alone. From a cold build cache on two cores
# kube-apiserver takes about ten minutes, so the packages that are done are counted on standard error.
# Two builds into one DIR wait for each other, where there is flock.
set -euo pipefail

dir=${1:?the folder for the programs}
shift
[ $# -gt 0 ] || set -- etcd kube-apiserver kubectl
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")"
export GOFLAGS=-buildvcs=false GOWORK=off CGO_ENABLED=0 GO111MODULE=on

if command -v flock >/dev/null; then
  exec 9>"$dir/.lock"
  flock -n 9 || { echo "Another build into $dir is under way; waiting for it." >&2; flock 9; }
fi

unfinished=()
trap 'rm -rf "${unfinished[@]}"' EXIT

# Where go builds Kubernetes, and where it builds etcd.
kubernetes=$PWD
etcd=$PWD

# another has go build another version of Kubernetes: of a module that asks for it as its own go.mod does, where what is
# staged in its repository has the version that it was published under.
another() {
  local mod program paths=()
  for program; do
    if [ "$program" != etcd ]; then paths+=("$(package "$program")"); fi
  done
  [ ${#paths[@]} -gt 0 ] || return 0
  [[ $KUBERNETES_VERSION =~ ^v1\.[0-9]+\.[0-9]+$ ]] ||
    { echo "build.sh: KUBERNETES_VERSION is a release such as v1.36.2, and it says $KUBERNETES_VERSION" >&2; exit 2; }
  echo "Looking for the modules of Kubernetes $KUBERNETES_VERSION" >&2
  mod=$(go mod download -json "k8s.io/kubernetes@$KUBERNETES_VERSION" | sed -n 's/.*"GoMod": "\(.*\)".*/\1/p')
  kubernetes=$(mktemp -d)
  unfinished+=("$kubernetes")
  {
    echo "module controlplane"
    sed -n '/^go /p; /^godebug ($/,/^)/p; /^godebug [^(]/p' "$mod"
    echo "require k8s.io/kubernetes $KUBERNETES_VERSION"
    sed -n "s|^\t\(k8s.io/[a-z-]*\) v0\.0\.0\( .*\)*$|replace \1 => \1 v0.${KUBERNETES_VERSION#v1.}|p" "$mod"
  } >"$kubernetes/go.mod"
  (cd "$kubernetes" && go list -mod=mod -deps "${paths[@]}" >/dev/null)
}

package() {
  case $1 in
    etcd) echo go.etcd.io/etcd/server/v3 ;;
    kube-apiserver | kube-controller-manager | kubectl) echo "k8s.io/kubernetes/cmd/$1" ;;
    *) echo "build.sh: no program called $1; there are etcd, kube-apiserver, kube-controller-manager and kubectl" >&2; return 2 ;;
  esac
}

# What Kubernetes' own build says of itself: /version, and what kubectl compares.
kubernetes_ldflags() {
  local version minor package
  version=$(go list -m -f '{{.Version}}' k8s.io/kubernetes)
  minor=${version#v1.}
  for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
    printf ' -X %s.%s' "$package" "gitVersion=$version" "$package" gitMajor=1 \
      "$package" "gitMinor=${minor%%.*}" "$package" gitTreeState=clean
  done
}

# Reads what go build -v prints: packages' names are counted (one line on a terminal, one line a minute elsewhere),
# anything else is worth reading.
progress() {
  local program=$1 total=$2 done=0 said=0 line
  local name='^[A-Za-z0-9_.~-]+(/[A-Za-z0-9_.~-]+)*$'
  while IFS= read -r line; do
    if ! [[ $line =~ $name ]]; then
      printf '%s\n' "$line"
      continue
    fi
    done=$((done + 1))
    if [ -t 2 ]; then
      printf '\r%s: %d of at most %d packages built' "$program" "$done" "$total"
    elif [ $((SECONDS - said)) -ge 60 ]; then
      said=$SECONDS
      printf '%s: %d of at most %d packages built\n' "$program" "$done" "$total"
    fi
  done >&2
  if [ -t 2 ] && [ "$done" -gt 0 ]; then echo >&2; fi
}

[ -z "${KUBERNETES_VERSION:-}" ] || another "$@"
for program; do
  path=$(package "$program")
  [ -x "$dir/$program" ] && continue
  if [ "$program" = etcd ]; then cd "$etcd"; else cd "$kubernetes"; fi
  version=$(go list -f '{{.Module.Version}}' "$path")
  total=$(go list -deps "$path" | wc -l)
  echo "Building $program $version from Go modules; this happens once." >&2
  # Built beside its place and moved there whole: a build that was stopped leaves nothing that looks done.
  partial=$dir/.$program.$$
  unfinished+=("$partial")
  go build -v -trimpath -ldflags "-s -w$(kubernetes_ldflags)" -o "$partial" "$path" 2>&1 | progress "$program" "$total"
  mv "$partial" "$dir/$program"
  echo "$program: done after $((SECONDS / 60)) min $((SECONDS % 60)) s" >&2
done
