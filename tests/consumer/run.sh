#!/usr/bin/env bash
# tests/consumer/run.sh BUILD_DIR: installs a built tree to a prefix of its own, then builds and runs the consumer project
# outside the tree, so that nothing but the installed package can be found.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(cd "$1" && pwd)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$here/CMakeLists.txt" "$here/main.cpp" "$work/"

cmake --install "$build" --prefix "$work/prefix" >/dev/null
cmake -S "$work" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$work/prefix" >/dev/null
cmake --build "$work/build" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
"$work/build/consumer"
"$work/prefix/bin/sepconv" --help >/dev/null
echo "ok: the installed program runs"
