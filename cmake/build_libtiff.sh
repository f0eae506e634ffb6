#!/usr/bin/env bash
# build_libtiff.sh FOLDER: Debian's libtiff with no other codecs than sepconv reads and writes, as FOLDER/lib/libtiff.so.6. Debian's own needs JBIG-KIT,
# which is under the GPL, and four libraries more that nothing here uses. A bundle and a wheel carry this one; its source is Debian's, with its patches.
set -euo pipefail
folder=$(realpath -m "$1")
[[ -f $folder/complete ]] && exit
command -v dpkg-source >/dev/null || { echo "libtiff's source comes from Debian's archives: install dpkg-dev, on Debian or Ubuntu" >&2 && exit 1; }
rm -rf "$folder"
mkdir -p "$folder"/{sources,lists/partial}
cd "$folder"

# The same archives as the system's, for their source packages.
for file in /etc/apt/sources.list.d/*.sources; do
  [[ -f $file ]] && sed -E 's/^Types:.*/Types: deb-src/' "$file" >"sources/$(basename "$file")"
done
[[ -f /etc/apt/sources.list ]] && sed -nE 's/^deb /deb-src /p' /etc/apt/sources.list >sources/system.list
apt=(-o "Dir::Etc::SourceList=/dev/null" -o "Dir::Etc::SourceParts=$folder/sources" -o "Dir::State::Lists=$folder/lists" -o "APT::Sandbox::User=")
apt-get "${apt[@]}" -q update
apt-get "${apt[@]}" -q source --download-only tiff
dpkg-source --extract tiff_*.dsc source

options=(-DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=ON -DCMAKE_INSTALL_LIBDIR=lib)
for part in jbig lerc webp lzma cxx tiff-tools tiff-tests tiff-contrib tiff-docs; do options+=("-D$part=OFF"); done
for codec in zlib libdeflate jpeg zstd; do options+=("-D$codec=ON"); done
cmake -S source -B objects -G Ninja "${options[@]}" -DCMAKE_INSTALL_PREFIX="$folder"
cmake --build objects
cmake --install objects
rm -rf source objects lists
touch complete
