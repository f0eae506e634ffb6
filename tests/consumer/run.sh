#!/usr/bin/env bash
# tests/consumer/run.sh BUILD_DIR: installs a build to a new prefix, moves the prefix, then builds and runs the consumer project outside the
# tree, so that only the installed package can be found: with CMake and the static library, with CMake and the shared library, and with pkg-config.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(cd "$1" && pwd)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$here"/{CMakeLists.txt,*.cpp} "$here/../../docs/examples/invert_stage.cpp" "$work/"

cmake --install "$build" --prefix "$work/made" >/dev/null
mv "$work/made" "$work/prefix"
prefix=$work/prefix

# The compiler's list of the headers that the public headers include; headers of other packages may be missing.
mapfile -t roots < <(sed "s|^|$prefix/include/|" "$here/../../cmake/installed_headers.txt")
c++ -std=c++20 -MM -MG -I"$prefix/include" -x c++ "${roots[@]}" | tr ' \\' '\n\n' | grep "^$prefix" | sort -u >"$work/included"
find "$prefix/include" -type f | sort | diff "$work/included" - || { echo "other headers are installed than users need" >&2; exit 1; }
! grep -rE '#include "(core|io|kernels|pipeline)/' "$prefix/include" || { echo "an installed header has an include without the prefix" >&2; exit 1; }
echo "ok: the $(wc -l <"$work/included") headers are installed that users need"

quietly() { "$@" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }; }
for shared in OFF ON; do
  quietly cmake -S "$work" -B "$work/$shared" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$prefix" -DCONSUMER_SHARED=$shared
  quietly cmake --build "$work/$shared"
  "$work/$shared/consumer"
  "$work/$shared/invert_stage" >/dev/null
done

export PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name sepconv.pc)")
lib=$(dirname "$PKG_CONFIG_PATH")
soname=$(readelf -d "$lib/libsepconv.so" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
[[ $soname == libsepconv.so.$(pkg-config --modversion sepconv | cut -d. -f1,2) ]] || { echo "the soname is $soname" >&2; exit 1; }
nm --dynamic --demangle --defined-only "$lib/libsepconv.so" | cut -d' ' -f3- >"$work/shown"
grep -q '^sepconv::Chain::parse(' "$work/shown" && grep -q '^typeinfo for sepconv::IoError$' "$work/shown"
! grep -vE '^((typeinfo|typeinfo name|vtable) for )?sepconv::' "$work/shown" || { echo "libsepconv.so shows more than names of sepconv" >&2; exit 1; }
! grep '^sepconv::N_' "$work/shown" || { echo "libsepconv.so shows its code for instruction sets" >&2; exit 1; }
echo "ok: libsepconv.so shows $(wc -l <"$work/shown") names, all of sepconv"
c++ -std=c++20 -O1 -c "$work/main.cpp" -o "$work/main.o" $(pkg-config --cflags sepconv spdlog)
c++ "$work/main.o" -o "$work/consumer" $(pkg-config --libs sepconv spdlog)
readelf -d "$work/consumer" | grep -q "NEEDED.*$soname"
LD_LIBRARY_PATH=$lib "$work/consumer"
c++ -std=c++20 "$work/invert_stage.cpp" -o "$work/invert_stage" $(pkg-config --cflags --libs sepconv fmt)
LD_LIBRARY_PATH=$lib "$work/invert_stage" >/dev/null
echo "ok: a stage of one's own, outside the tree"
mkdir "$work/page" "$work/backend"
cp "$here/../../docs/examples/host_backend.cpp" "$work/backend/"
LD_LIBRARY_PATH=$lib /usr/bin/python3 "$here/../../docs/tools/run_page.py" "$here/../../docs/adding-a-backend.md" "$work/backend" >/dev/null
echo "ok: a backend of one's own, outside the tree"
PATH=$prefix/bin:$PATH CMAKE_PREFIX_PATH=$prefix LD_LIBRARY_PATH=$lib /usr/bin/python3 "$here/../../docs/tools/run_page.py" "$here/../../docs/start/cpp.md" "$work/page" >/dev/null
echo "ok: docs/start/cpp.md does what it says"
rm "$lib"/libsepconv.so*  # so that the linker takes the static library
c++ "$work/main.o" -o "$work/consumer_static" $(pkg-config --static --libs sepconv spdlog)
"$work/consumer_static"
echo "ok: pkg-config knows what the shared library and the static one need"

"$prefix/bin/sepconv" --help >/dev/null
echo "ok: the installed program runs"

for file in man/man1/sepconv-run.1 man/man7/sepconv-stages.7 bash-completion/completions/sepconv zsh/site-functions/_sepconv fish/vendor_completions.d/sepconv.fish \
  doc/sepconv/LICENSE doc/sepconv/docs/how-it-works.md; do
  [[ -s $prefix/share/$file ]] || { echo "share/$file is not installed" >&2; exit 1; }
done
echo "ok: man pages, completion, LICENSE and documents are installed"
