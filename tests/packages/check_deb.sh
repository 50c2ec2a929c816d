#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Verifies the Debian packages (make check-deb, not in make check): two builds in different folders
# are the same, byte for byte; lintian finds no error and no warning; in a new Debian system in a
# folder they are installed, pass their own tests, and are removed without residue.
#
#	BUILD=FOLDER  the build folder, whose "make deb" builds the packages
#
# It runs as root, because it makes the system by debootstrap(8). A missing program skips its part.
. "$top_srcdir/tests/support/count.sh"
sources=$(cd "$top_srcdir" && pwd)
scratch=$(mktemp -d) || exit 99
root=$scratch/root
clean_up() {
	umount "$root/proc" "$root/dev" 2>/dev/null
	rm -rf --one-file-system "$scratch"
}
trap clean_up EXIT

command -v dpkg-buildpackage >/dev/null && command -v dh >/dev/null || {
	echo "SKIP: no dpkg-dev and debhelper"
	exit 77
}
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH-$(stat -c %Y "$sources/NEWS")}
: "${DEBFULLNAME:=libposixtrace}" "${DEBEMAIL:=libposixtrace@packages.test}"
export SOURCE_DATE_EPOCH DEBFULLNAME DEBEMAIL

# build NAME: packages in $scratch/NAME/deb, from a distribution of its own.
build() {
	mkdir "$scratch/$1" &&
		make -C "$BUILD" distdir distdir="$scratch/$1/source" >"$scratch/$1.out" 2>&1 &&
		sh "$sources/tools/debian/build.sh" "$scratch/$1/source" "$scratch/$1/deb" \
			"$(sed -n 's/^AC_INIT(\[[^]]*\], \[\([^]]*\)\].*/\1/p' "$sources/configure.ac")" \
			>>"$scratch/$1.out" 2>&1 || {
		tail -n 40 "$scratch/$1.out"
		return 1
	}
}
sums() { (cd "$scratch/$1/deb" && sha256sum ./*.deb); }

check "the packages are built" build one
check "and once more, in another folder with a longer name" build another-folder
check "both builds are the same" test "$(sums one)" = "$(sums another-folder)"
if command -v lintian >/dev/null; then
	lintian --allow-root "$scratch"/one/deb/*.changes >"$scratch/lintian"
	cat "$scratch/lintian"
	check "lintian finds nothing" test ! -s "$scratch/lintian"
fi

in_root() { chroot "$root" env DEBIAN_FRONTEND=noninteractive LC_ALL=C "$@"; }
files() { (cd "$root" && find etc usr var/lib/dpkg/info -path '*posixtrace*' | sort); }
if test "$(id -u)" -eq 0 && command -v debootstrap >/dev/null; then
	check "a system is made" debootstrap --variant=minbase \
		"$(. /etc/os-release && echo "$VERSION_CODENAME")" "$root" >"$scratch/bootstrap"
	mount -t proc proc "$root/proc"
	mount --bind /dev "$root/dev"
	cp /etc/apt/apt.conf.d/* "$root/etc/apt/apt.conf.d/" 2>/dev/null
	mkdir "$root/packages"
	cp "$scratch"/one/deb/*.deb "$root/packages"
	rm -f "$root"/packages/*-dbgsym_*
	in_root apt-get -qq update
	check "they are installed" in_root sh -c \
		'apt-get -qq -y --no-install-recommends install /packages/*.deb >/dev/null'
	check "they are installed over themselves" in_root sh -c \
		'apt-get -qq -y --reinstall install /packages/*.deb >/dev/null'
	check "what their tests need is installed" in_root sh -c 'apt-get -qq -y \
		--no-install-recommends install gcc g++ libc6-dev pkg-config cmake make >/dev/null'
	for test in record attach compile; do
		cp "$sources/tools/debian/tests/$test" "$root/packages"
		check "the test $test of the packages passes" in_root /packages/$test
	done
	check "they are removed" in_root sh -c 'apt-get -qq -y purge "*posixtrace*" >/dev/null'
	check "without residue: $(files)" test -z "$(files)"
fi
finish
