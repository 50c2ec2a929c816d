#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# system.sh FOLDER: makes FOLDER/root, a Debian system for arm64 with the libraries, compilers and
# programs that the build and the suites use. The packages come from the sources of apt(8) of this
# machine. They are extracted only: no program of another architecture runs, and no script of a
# package, so that an ordinary user can do it. A complete system is left as it is.
set -eu
mkdir -p "$1"
folder=$(cd "$1" && pwd)
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"

test ! -e "$folder/complete" || exit 0
command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || {
	echo "$0: apt-get and dpkg-deb are needed" >&2
	exit 1
}

# The optional libraries are those of a build for this machine.
packages='
	base-files base-passwd bash bsdutils coreutils dash diffutils findutils gawk grep gzip hostname
	libc-bin mawk mount ncurses-base netbase procps psmisc sed tar tzdata util-linux xz-utils
	binutils file g++ gcc gdb libc6-dbg libc6-dev make pkg-config python3 sqlite3
	check libasan8 libubsan1'
. "$top_srcdir/tools/prepare.sh"
want() { packages="$packages $1"; }
want_optional

mkdir -p "$folder/state/lists/partial" "$folder/cache/archives/partial"
: >"$folder/state/status"
cat >"$folder/apt.conf" <<END
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Install-Recommends "false";
APT::Sandbox::User "root";
Acquire::Languages "none";
Debug::NoLocking "true";
Dir::State "$folder/state";
Dir::State::status "$folder/state/status";
Dir::Cache "$folder/cache";
END
apt_get() {
	APT_CONFIG=$folder/apt.conf apt-get -qq "$@" >"$folder/apt.log" 2>&1 </dev/null || {
		tail -n 20 "$folder/apt.log" >&2
		exit 1
	}
}
apt_get update
# shellcheck disable=SC2086 # a list of words
apt_get -y --download-only install $packages

rm -rf "$folder/root"
mkdir "$folder/root"
for package in "$folder"/cache/archives/*.deb; do
	dpkg-deb -x "$package" "$folder/root"
done
# The scripts of the packages would make these. The programs have the paths of this machine, such as
# /usr/bin/sed, which libtool writes into its scripts.
cd "$folder/root"
for part in bin sbin lib; do
	cp -a "$part/." "usr/$part/"
	rm -r "$part"
	ln -s "usr/$part" "$part"
done
mkdir -p proc sys dev tmp
cp usr/share/base-passwd/passwd.master etc/passwd
cp usr/share/base-passwd/group.master etc/group
echo '127.0.0.1 localhost' >etc/hosts
for pair in awk:mawk cc:gcc c++:g++; do
	test -e "usr/bin/${pair%:*}" || ln -s "${pair#*:}" "usr/bin/${pair%:*}"
done
test -e usr/bin/sh || ln -s dash usr/bin/sh
: >"$folder/complete"
