#!/usr/bin/env bash
# Prints the path of Chromium, for the tests of pages in a real browser, after making sure that it and a font are on this
# machine. In this order: $CHROMIUM; the names that systems give it. What is missing is installed from Debian's packages,
# which takes root. Only the path goes to standard output.
set -euo pipefail

find_browser() {
  local name
  for name in chromium chromium-browser google-chrome; do command -v "$name" && return; done
  return 1
}

# Without any font there is no text to look at. Which one it is matters for the pictures alone.
has_font() {
  [ -n "$(find -L /usr/share/fonts /usr/local/share/fonts /Library/Fonts /System/Library/Fonts ~/.fonts ~/.local/share/fonts \
    \( -iname '*.[ot]tf' -o -iname '*.ttc' \) -print -quit 2>/dev/null)" ]
}

if [ -n "${CHROMIUM:-}" ] && ! command -v "$CHROMIUM" >/dev/null; then
  echo "CHROMIUM is $CHROMIUM, which is no program: give the path of one, or leave it out" >&2
  exit 1
fi
packages=()
[ -n "${CHROMIUM:-}" ] || find_browser >/dev/null || packages+=(chromium)
has_font || packages+=(fonts-inter)
[ ${#packages[@]} -eq 0 ] || "$(dirname "${BASH_SOURCE[0]}")/../debian.sh" "Chromium (or CHROMIUM, its path), and a font" "${packages[@]}" >&2

if [ -n "${CHROMIUM:-}" ]; then command -v "$CHROMIUM"; else find_browser; fi
