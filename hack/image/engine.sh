#!/usr/bin/env bash
# engine.sh FOLDER VERSION [ARCHITECTURE]: has a container engine, buildah, build the Dockerfile, for this machine's architecture if
# none is given, and writes the image into FOLDER, in the OCI layout.
#
# Nothing is pulled: under the names of the Dockerfile's base images are two that are made of this machine, whose Go and its caches
# are mounted. So that they are found, whatever they are for, no platform is asked for, and the arguments that tell it are given. It takes root.
set -euo pipefail

out=$1
version=$2
architecture=${3:-$(go env GOHOSTARCH)}
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
hack/buildah/ensure.sh >/dev/null

scratch=$(mktemp -d)
trap 'rm -rf --one-file-system "$scratch"' EXIT
engine() { buildah --root "$scratch/storage" --runroot "$scratch/run" --storage-driver vfs "$@"; }
echo '{"default": [{"type": "insecureAcceptAnything"}]}' >"$scratch/policy.json"

# base NAME FOLDER SETTING...: an image of the files of a folder.
base() {
  local container name=$1 files=$2
  shift 2
  container=$(engine from scratch)
  engine copy --quiet "$container" "$files" / >/dev/null
  engine config "$@" "$container"
  engine commit --quiet --signature-policy "$scratch/policy.json" "$container" "$name" >/dev/null
  engine rm "$container" >/dev/null
}

# stage N is the base image of the Dockerfile's Nth stage, by its full name.
stage() {
  local name
  name=$(sed -n 's/^FROM \(--[^ ]* \)*\([^ ]*\).*/\2/p' Dockerfile | sed -n "$1p")
  case $name in
    */*) echo "$name" ;;
    *) echo "docker.io/library/$name" ;;
  esac
}

mkdir -p "$scratch"/{go,static}/etc/ssl/certs "$scratch"/go/{usr,tmp,goroot,modules,cache}
for folder in bin lib lib64 sbin; do
  if [ -L "/$folder" ]; then ln -s "$(readlink "/$folder")" "$scratch/go/$folder"; fi
done
cp /etc/ssl/certs/ca-certificates.crt "$scratch/static/etc/ssl/certs/"
base "$(stage 1)" "$scratch/go" --env PATH=/goroot/bin:/usr/bin:/bin --env GOROOT=/goroot --env GOMODCACHE=/modules --env GOCACHE=/cache \
  --env "GOPROXY=$(go env GOPROXY)" --env "GOSUMDB=$(go env GOSUMDB)" --env GOTOOLCHAIN=local
base "$(stage 2)" "$scratch/static" --user 65532 --arch "$architecture"

engine build --quiet --isolation chroot --network host --pull-never --signature-policy "$scratch/policy.json" \
  --build-arg TARGETOS=linux --build-arg "TARGETARCH=$architecture" --build-arg "VERSION=$version" --tag taskonce \
  --volume /usr:/usr:ro --volume /etc/ssl:/etc/ssl:ro --volume "$(go env GOROOT):/goroot:ro" \
  --volume "$(go env GOMODCACHE):/modules" --volume "$(go env GOCACHE):/cache" . >/dev/null
rm -rf "$out"
mkdir -p "$(dirname "$out")"
engine push --quiet --signature-policy "$scratch/policy.json" localhost/taskonce "oci:$out"
