#!/usr/bin/env bash
# Packs the browser client twice, from two folders, at two times and with two umasks, and says whether both packages are
# the same to the byte. Its argument is where the package goes.
set -euo pipefail
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../clients/js" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

pack() { # folder, umask, time of the files
  mkdir -p "$work/$1/package"
  (
    umask "$2"
    cd "$work/$1/package"
    cp -R "$source"/{package.json,tsconfig.json,tsconfig.build.json,README.md,src} .
    ln -s "$source/node_modules" node_modules
    find . -type f -exec touch -d "$3" {} +
    npm pack --silent --pack-destination "$work/$1" >/dev/null
  )
}
pack one 022 '2001-01-01'
pack another/folder 077 '2026-06-01 12:34:56'

first=$(echo "$work"/one/*.tgz)
cmp "$first" "$work"/another/folder/*.tgz || { echo "Two packages of the browser client differ." >&2; exit 1; }
tar -tzf "$first" package/dist/index.js >/dev/null || { echo "The package of the browser client has no code." >&2; exit 1; }
echo "Package: $(basename "$first"), sha256 $(sha256sum "$first" | cut -d' ' -f1), twice the same"
[ $# -eq 0 ] || cp "$first" "$1"
