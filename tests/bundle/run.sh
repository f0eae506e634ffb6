#!/usr/bin/env bash
# tests/bundle/run.sh BUILD_DIR: makes the bundle of a built tree, moves it elsewhere, and runs it there with an empty environment:
# nothing but glibc may come from outside. Test programs and examples are bundled and looked at too.
set -euo pipefail
build=$(cd "$1" && pwd)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "bundle: $*" >&2 && exit 1; }

install() { cmake --install "$build" --component "$1" --strip --prefix "$work/made" >"$work/log" 2>&1 || { cat "$work/log"; fail "not made"; }; }
install bundle
size_mib=$(($(du -s --apparent-size -k "$work/made" | cut -f 1) / 1024))
# In the dev build the lines of inlined kernels, which profilers show, are most of it.
((size_mib < 56)) || fail "$size_mib MiB: something large has crept in"
install bundle_tests
mkdir "$work/a folder"
mv "$work/made" "$work/a folder/moved"
cd "$work/a folder/moved"

# Every library comes from lib/, but glibc's own, the loader and the kernel's page.
programs=(bin/sepconv bin/sepconv-bench)
for program in tests/*; do
  [[ -f $program ]] && programs+=("$program")
done
((${#programs[@]} >= 5)) || fail "few programs: ${programs[*]}"
for program in "${programs[@]}"; do
  listing=$(env -i /usr/bin/ldd "./$program")
  [[ $listing != *"not found"* ]] || fail "$program lacks libraries: $listing"
  outside=$(grep -F '=>' <<<"$listing" | grep -vE '^[[:space:]]*lib(c|m|dl|pthread|rt|mvec|util)\.so\.[0-9]+ =>' | grep -vF "=> $PWD/" || true)
  [[ -z $outside ]] || fail "$program takes from outside: $outside"
done
[[ -n $(compgen -G 'lib/libstdc++.so.*') && -n $(compgen -G 'lib/libtiff.so.*') ]] || fail "lib/ lacks libraries"
[[ -z $(compgen -G 'lib/libc.so.*') && -z $(compgen -G 'lib/ld-linux*') ]] || fail "glibc must stay outside: it has to fit the machine's loader"
# The licence of every library goes along. None is under the GPL: JBIG-KIT was, by way of Debian's libtiff.
[[ -z $(compgen -G 'lib/libjbig*') ]] || fail "lib/ holds libjbig, which is under the GPL"
for library in lib/*; do
  name=$(basename "$library" | sed 's/\.so.*//')
  [[ $name == libcu* ]] && continue  # NVIDIA's, for the tests alone
  [[ -s licenses/$name.txt ]] || fail "licenses/ lacks that of $library"
done
# No empty or relative place to look for libraries: to the loader that is the current folder.
dynamic=$(find . -type f -exec readelf --dynamic --wide {} + 2>/dev/null || true)
paths=$(sed -nE 's/.*\((RPATH|RUNPATH)\).*\[(.*)\]/\2/p' <<<"$dynamic" | sort -u)
[[ -n $paths ]] || fail "no program has a path to look for libraries in"
while read -r path; do
  [[ $path =~ ^((/|\$ORIGIN)[^:]*)(:(/|\$ORIGIN)[^:]*)*$ ]] || fail "libraries are looked for in $path"
done <<<"$paths"
[[ -z $(find . -type l) ]] || fail "links: $(find . -type l)"

# It works, from another folder, with nothing in the environment.
sepconv=$PWD/bin/sepconv
cd "$work"
run() { env -i "$sepconv" "$@" >"$work/log" 2>&1 || { cat "$work/log"; fail "$*"; }; }
run --version
run devices
run bench gemm --device cpu --size 8,8,8 --runs 3
run generate a.tif --size 500x300 --compress zstd
run run a.tif b.tif gaussian:sigma=2 --max-memory 64M --compress deflate
run run a.tif c.tif gaussian:sigma=2 --reference --compress lzw
run compare b.tif c.tif
for ending in png jpg pgm; do run run a.tif "d.$ending" gaussian:sigma=2 && run run "d.$ending" "e-$ending.tif" abs; done
run compare e-png.tif e-pgm.tif
env -i "$work/a folder/moved/tests/test_core" >"$work/log" 2>&1 || { cat "$work/log"; fail "test_core"; }
if ! compgen -G '/dev/nvidia[0-9]*' >/dev/null; then  # with a GPU this would be a long test of its own
  env -i PATH=/usr/bin:/bin "$work/a folder/moved/tests/gpu/check.sh" --logs "$work/logs" >"$work/log" 2>&1 || { cat "$work/log"; fail "check.sh"; }
  grep -q '^skipped' "$work/log" || fail "check.sh does not say that there is no GPU"
fi
echo "ok: the bundle, $size_mib MiB, runs from any folder"
