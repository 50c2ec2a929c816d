#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Verifies the Debian packages (make check-deb, not in make check):
#
#	lintian finds no error and no warning; all programs and libraries are hardened
#	a new Debian system in a folder installs them; they pass their own tests, by autopkgtest(1)
#	if it is installed; an upgrade does not disturb a recording; nothing is left after removal
#	a second build, in that system with only the build dependencies and in a folder with a longer
#	name, makes the same packages, byte for byte; if that system has newer versions of what the
#	build depends on, a further build in this system does, with another locale and time zone
#
#	BUILD=FOLDER     the build folder, whose "make deb" builds the packages
#	PACKAGES=FOLDER  verifies the packages in this folder, such as BUILD/deb, instead of new ones,
#	                 and does not build them a second time
#
# It runs as root, because it makes the system by mmdebstrap(1) or debootstrap(8). Without root, the
# second build runs here, and only the packages are examined.
. "$top_srcdir/tests/support/count.sh"
sources=$(cd "$top_srcdir" && pwd)
scratch=$(mktemp -d) || exit 99
root=$scratch/root
is_mounted=false
clean_up() {
	if $is_mounted; then
		umount -R "$root/proc" "$root/dev" || exit 99
	fi
	rm -rf --one-file-system "$scratch"
}
trap clean_up EXIT
trap 'exit 99' HUP INT TERM

command -v dpkg-buildpackage >/dev/null && command -v dh >/dev/null || {
	echo "SKIP: no dpkg-dev and debhelper"
	exit 77
}
# A build of some minutes must not end with a missing package. dpkg-buildpackage would name the
# packages as well, but only after make distdir.
if test -z "${PACKAGES-}"; then
	missing=$(dpkg-checkbuilddeps "$sources/tools/debian/control" 2>&1) || {
		echo "packages are missing: apt-get install ${missing##*: }"
		exit 99
	}
fi
for tool in lintian autopkgtest; do
	command -v $tool >/dev/null || echo "$tool is not installed: its checks are omitted"
done
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH-$(stat -c %Y "$sources/NEWS")}
: "${DEBFULLNAME:=libposixtrace}" "${DEBEMAIL:=libposixtrace@packages.test}"
export SOURCE_DATE_EPOCH DEBFULLNAME DEBEMAIL
version=$(sed -n 's/^AC_INIT(\[[^]]*\], \[\([^]]*\)\].*/\1/p' "$sources/configure.ac")

# in_root COMMAND...: runs in the new system. The build has its own locale and time zone there.
in_root() { chroot "$root" env -u TMPDIR DEBIAN_FRONTEND=noninteractive LC_ALL=C TZ=UTC "$@"; }

# build FOLDER [in_root]: packages in FOLDER/deb; FOLDER is a path in the new system with in_root.
build() {
	place=${2:+$root}$1
	mkdir "$place" && cp -Rp "$scratch/source" "$place/source" &&
		cp -Rp "$scratch/source/tools/debian" "$place/debian" &&
		${2-} sh "$1/debian/build.sh" "$1/source" "$1/deb" "$version" >"$place.out" 2>&1 || {
		tail -n 40 "$place.out"
		return 1
	}
}
# depends FOLDER: the versions of the packages that a build used, one a line
depends() {
	sed -n '/^Installed-Build-Depends:/,/^[A-Z]/s/^ \([^ ]*\) (= \(.*\)).*/\1=\2/p' "$1"/*.buildinfo
}
# compare FOLDER: prints what differs from the first build, and fails if something does.
compare() { sh "$sources/tests/packages/compare_debs.sh" "$packages" "$1"; }

if test -n "${PACKAGES-}"; then
	packages=$(cd "$PACKAGES" && pwd)
else
	packages=$scratch/one/deb
	# The makefiles of folders take a path relative to the build folder only.
	rm -rf "$BUILD/deb-source"
	make -C "$BUILD" distdir distdir=deb-source >"$scratch/out" 2>&1 &&
		mv "$BUILD/deb-source" "$scratch/source" || {
		cat "$scratch/out"
		exit 99
	}
	check "the packages are built" build "$scratch/one"
fi
set -- "$packages"/*.deb
test -f "$1" || finish

# --- The packages

if command -v lintian >/dev/null; then
	lintian --allow-root --fail-on none "$packages"/*.changes >"$scratch/lintian"
	none "lintian finds nothing" "$(cat "$scratch/lintian")"
fi
for package; do
	case $package in
	*-dbgsym_*) ;;
	*) dpkg-deb -x "$package" "$scratch/content" ;;
	esac
done
# Each loads its libraries before it runs, and has read-only tables; programs have random addresses.
hardened() {
	readelf -Wld "$1" >"$scratch/elf" 2>/dev/null || return 0
	grep -q GNU_RELRO "$scratch/elf" && grep -Eq 'BIND_NOW|FLAGS.* NOW' "$scratch/elf" &&
		readelf -Wh "$1" | grep -q 'Type: *DYN'
}
count=0
for file in $(find "$scratch/content" -type f \( -perm -100 -o -name '*.so*' \)); do
	check "${file#"$scratch/content"} is hardened" hardened "$file"
	count=$((count + 1))
done
check "programs and libraries were examined" test "$count" -ge 5
none "no package has a file of libtool" "$(find "$scratch/content" -name '*.la')"
none "no program outside the folder of programs and those of architectures" \
	"$(find "$scratch/content" -type f -perm -100 ! -path '*/usr/bin/*' ! -path '*/usr/lib/*-linux-gnu*/*')"

if test "$(id -u)" -ne 0 || { ! command -v mmdebstrap && ! command -v debootstrap; } >/dev/null; then
	echo "no new system: that needs root, and mmdebstrap or debootstrap"
	if test -z "${PACKAGES-}"; then
		check "they are built in another folder" build "$scratch/a-folder-with-a-longer-name"
		check "both builds are the same" compare "$scratch/a-folder-with-a-longer-name/deb"
	fi
	finish
fi

# --- A new system

codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
if command -v mmdebstrap >/dev/null; then
	check "a system is made" mmdebstrap --mode=root --variant=minbase "$codename" "$root"
else
	check "a system is made" debootstrap --variant=minbase "$codename" "$root"
fi
test -d "$root/proc" || finish
is_mounted=true
mount -t proc proc "$root/proc" && mount --rbind --make-rslave /dev "$root/dev" || exit 99
cp /etc/apt/apt.conf.d/* "$root/etc/apt/apt.conf.d/" 2>/dev/null
cp /etc/resolv.conf "$root/etc/resolv.conf" 2>/dev/null
mkdir "$root/packages"
install_in_root() { in_root apt-get -qq -y --no-install-recommends -o Dpkg::Use-Pty=0 install "$@"; }
# The dependencies of the packages and of their tests are there before, and so is what autopkgtest
# installs itself.
in_root apt-get -qq update
install_in_root apt-utils babeltrace2 cmake g++ gcc libbabeltrace2-0 libc6-dev libdw1 libexpat1 libncursesw6 \
	libsqlite3-0 libtracefs1 libuuid1 libzydis4.0 make pkg-config python3 >"$scratch/apt" 2>&1 || cat "$scratch/apt"

# listing: the files of the system, without caches, journals, lists of apt and temporary files
listing() {
	in_root find / -xdev \( -path /proc -o -path /dev -o -path /tmp -o -path /packages \
		-o -path /var/cache -o -path /var/log -o -path /var/lib/apt \
		-o -path '/var/lib/dpkg/*-old' -o -name __pycache__ \) -prune -o -print | sort
}
listing >"$scratch/before"
cp "$packages"/*.deb "$root/packages"
rm -f "$root"/packages/*-dbgsym_*
check "they are installed" install_in_root $(cd "$root" && ls packages/*.deb | sed 's|^|/|')
none "all that they contain is there" "$(cd "$scratch/content" && find usr ! -path '*/share/doc/*' \
	! -path '*/share/man/*' | while read -r file; do test -e "$root/$file" || echo "$file"; done)"

# An ordinary user makes a first recording.
as_user() { chroot --userspec=65534:65534 "$root" env -u TMPDIR HOME=/tmp LC_ALL=C "$@"; }
check "a user records" as_user sh -c \
	'cd /tmp && posixtrace record -o first.ptl -- sort -o sorted /etc/passwd && posixtrace verify first.ptl'
check "the recording has the program's calls" as_user sh -c \
	'posixtrace dump -e io.open /tmp/first.ptl | grep sorted'

# An upgrade, to packages that differ in their version alone, while a program is recorded
mkdir "$root/packages/newer"
for package in "$root"/packages/*.deb; do
	name=${package##*/}
	dpkg-deb -R "$package" "$scratch/newer" &&
		sed -i 's/-0upstream1/-0upstream2/' "$scratch/newer/DEBIAN/control" &&
		dpkg-deb -Znone -b "$scratch/newer" "$root/packages/newer/$name" >/dev/null
	rm -rf "$scratch/newer"
done
as_user sh -c 'cd /tmp && exec posixtrace record -o upgrade.ptl -- sh -c \
	"while test ! -e /tmp/end; do cat /etc/passwd >begun; sleep 0.1; done"' \
	>"$scratch/record" 2>&1 &
recorder=$!
tries=0
while test ! -e "$root/tmp/begun" && test $tries -lt 600; do
	sleep 0.1
	tries=$((tries + 1))
done
check "they are upgraded while a program is recorded" install_in_root \
	$(cd "$root" && ls packages/newer/*.deb | sed 's|^|/|')
: >"$root/tmp/end"
wait $recorder
check "the recording ends well: $(cat "$scratch/record")" test $? -eq 0
check "its log is complete" as_user posixtrace verify /tmp/upgrade.ptl
check "the older version is back" install_in_root --allow-downgrades \
	$(cd "$root" && ls packages/*.deb | sed 's|^|/|')

# The tests of the packages
tests=$sources/tools/debian/tests
if command -v autopkgtest >/dev/null && test -d "$packages/libposixtrace-$version/debian"; then
	env -u TMPDIR autopkgtest --no-built-binaries --summary-file="$scratch/summary" "$packages"/*.deb \
		"$packages/libposixtrace-$version/" -- chroot "$root" >"$scratch/autopkgtest" 2>&1
	for test in $(sed -n 's/^Tests: //p' "$tests/control"); do
		check "autopkgtest passes the test $test" grep -q "^$test  *PASS" "$scratch/summary"
	done
	grep -v 'PASS$' "$scratch/summary"
else
	for test in $(sed -n 's/^Tests: //p' "$tests/control"); do
		cp "$tests/$test" "$root/packages"
		check "the test $test of the packages passes" in_root "/packages/$test"
	done
fi

check "they are removed" in_root sh -c \
	'apt-get -qq -y purge "*posixtrace*" && apt-get -qq -y --purge autoremove'
listing >"$scratch/after"
none "without residue" "$(comm -13 "$scratch/before" "$scratch/after")"

# --- The second build

if test -z "${PACKAGES-}"; then
	mkdir -p "$root/build-in-a-folder-with-a-longer-name/debian"
	cp "$packages/libposixtrace-$version/debian/control" \
		"$root/build-in-a-folder-with-a-longer-name/debian"
	check "the build dependencies are installed" in_root apt-get -qq -y --no-install-recommends \
		build-dep /build-in-a-folder-with-a-longer-name
	rm -r "${root:?}/build-in-a-folder-with-a-longer-name"
	check "they are built there" build /build-in-a-folder-with-a-longer-name in_root
	other=$root/build-in-a-folder-with-a-longer-name/deb
	# Debug information has the lines and types of the headers of other packages. If the new
	# system has other versions of these packages, only a build in this system is comparable.
	depends "$packages" >"$scratch/depends"
	depends "$other" >"$scratch/depends.other"
	if cmp -s "$scratch/depends" "$scratch/depends.other"; then
		check "both builds are the same" compare "$other"
	else
		echo "the new system has other versions of what the build depends on:" \
			$(diff "$scratch/depends" "$scratch/depends.other" | sed -n 's/^> //p')
		LC_ALL=C TZ=Pacific/Chatham
		export LC_ALL TZ
		check "they are built here again" build "$scratch/a-folder-with-a-longer-name"
		check "both builds here are the same" compare "$scratch/a-folder-with-a-longer-name/deb"
	fi
fi
finish
