#!/usr/bin/env bash
# tests/package/run.sh FOLDER: installs the Debian packages in FOLDER in a fresh Debian 12, uses them there as their users would, and removes them. That
# Debian is made of what this machine's own apt is set up with; where it cannot be had the test is skipped and says why.
set -euo pipefail
skip() { echo "skipped: $*"; exit 0; }
folder=$(cd "$1" && pwd)
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

((EUID == 0)) || skip "only root can make a Debian in a folder"
command -v debootstrap >/dev/null || skip "debootstrap is not installed"
mirror=$(apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(COMPONENT)' 2>/dev/null | awk '$2 == "bookworm" && $3 == "main" {print $1; exit}')
[[ $mirror ]] || skip "apt knows no mirror of Debian 12 here"
[[ ${SEPCONV_OWN_MOUNTS:-} ]] || exec env SEPCONV_OWN_MOUNTS=1 unshare --mount "$here/$(basename "$0")" "$folder"

work=$(mktemp -d)
root=$work/root
trap 'umount "$root/proc" 2>/dev/null; rm -rf "$work"' EXIT
debootstrap --variant=minbase bookworm "$root" "$mirror" >"$work/log" 2>&1 || { tail -n 5 "$work/log"; skip "debootstrap made no Debian 12 of $mirror"; }
rm -f "$root/etc/apt/sources.list"
cp -r /etc/apt/sources.list* "$root/etc/apt/"
cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
mount -t proc proc "$root/proc"

# in_root COMMAND...: what it prints is shown when it fails.
in_root() {
  chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 "$@" >"$work/log" 2>&1 ||
    { cat "$work/log"; echo "failed: $*" >&2; exit 1; }
}
install() { in_root apt-get -qq install --yes --no-install-recommends "$@"; }

in_root apt-get -qq update
mkdir "$root/packages" "$root/consumer"
cp "$folder"/*.deb "$root/packages/"
in_root sh -c 'dpkg-query -Wf "\${Package}\n" | sort >/before'

install $(cd "$root" && ls packages/sepconv_*.deb | sed 's,^,/,')
in_root sh -ec 'cd /tmp; sepconv generate in.tif --size 700x500 --type u16; sepconv run in.tif out.tif gaussian:sigma=2.5 --threads 2
  sepconv run in.tif whole.tif gaussian:sigma=2.5 --reference; sepconv compare out.tif whole.tif
  test -s /usr/share/man/man1/sepconv-run.1.gz; test -s /usr/share/man/man7/sepconv-stages.7.gz; test -s /usr/share/doc/sepconv/copyright
  test -s /usr/share/doc/sepconv/docs/how-it-works.md*; test -s /usr/share/fish/vendor_completions.d/sepconv.fish; test -s /usr/share/zsh/vendor-completions/_sepconv'
in_root bash -ec 'source /usr/share/bash-completion/completions/sepconv; complete -p sepconv'
if chroot "$root" dpkg-query -W "libsepconv0*" >/dev/null 2>&1; then echo "the program needs a package of the library" >&2; exit 1; fi
echo "ok: the program's package is installed and filters an image"

in_root sh -ec '! sepconv bench --help 2>/tmp/error; grep "package sepconv-bench" /tmp/error'
install $(cd "$root" && ls packages/sepconv-bench_*.deb | sed 's,^,/,')
in_root sh -ec 'sepconv bench gemm --device cpu --size 8,8,8 --runs 3; test -s /usr/share/man/man1/sepconv-bench-gemm.1.gz'
echo "ok: sepconv bench is a package of its own"

install $(cd "$root" && ls packages/libsepconv*.deb | sed 's,^,/,') g++ cmake ninja-build pkg-config
cp "$here"/../consumer/{CMakeLists.txt,main.cpp} "$here/../../docs/examples/invert_stage.cpp" "$root/consumer/"
for shared in OFF ON; do
  in_root sh -ec "cd /consumer; cmake -B $shared -G Ninja -DCMAKE_BUILD_TYPE=Release -DCONSUMER_SHARED=$shared; cmake --build $shared
    cd /tmp; /consumer/$shared/consumer; /consumer/$shared/invert_stage"
done
in_root sh -ec 'cd /tmp; c++ -std=c++20 /consumer/main.cpp -o from_pkg_config $(pkg-config --cflags --libs sepconv spdlog); ./from_pkg_config
  ldd ./from_pkg_config | grep libsepconv.so.0'
echo "ok: a project outside finds the library by CMake, static and shared, and by pkg-config"

in_root apt-get -qq purge --yes sepconv sepconv-bench 'libsepconv*' g++ cmake ninja-build pkg-config
in_root apt-get -qq autoremove --purge --yes
in_root sh -c 'dpkg-query -Wf "\${Package}\n" | sort | diff /before -'
left=$(find "$root" -xdev \( -path "$root/packages" -o -path "$root/proc" -o -path "$root/tmp" \) -prune -o -name '*sepconv*' -print)
[[ ! $left ]] || { echo "removed, the packages leave: $left" >&2; exit 1; }
echo "ok: removed, nothing is left"
