#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# build.sh SOURCE FOLDER VERSION: builds Debian packages in FOLDER (make deb).
#
# SOURCE     a distribution of the tree, as make distdir makes it; becomes part of FOLDER
# FOLDER     gets the packages; its content is removed first
#
# DEBFULLNAME and DEBEMAIL name the maintainer, as for other tools of Debian; else git's user does.
# SOURCE_DATE_EPOCH is the date of the packages; else that of the last commit, or of NEWS.
# DEB_BUILD_OPTIONS is for dpkg-buildpackage(1). The default skips make check and
# uses all processors.
set -eu
[ $# -eq 3 ] && [ -f "$1/NEWS" ] || {
	echo "usage: $0 SOURCE FOLDER VERSION (see make deb)" >&2
	exit 2
}
source=$1 folder=$2 version=$3
packaging=$(cd "$(dirname "$0")" && pwd)

fail() {
	echo "make deb: $*" >&2
	exit 1
}

for tool in dpkg-buildpackage dh; do
	command -v $tool >/dev/null || fail "$tool is missing: install dpkg-dev and debhelper"
done
git_config() { git -C "$packaging" config "$1" 2>/dev/null || :; }
name=${DEBFULLNAME:-$(git_config user.name)}
email=${DEBEMAIL:-$(git_config user.email)}
test -n "$name" && test -n "$email" || fail "set DEBFULLNAME and DEBEMAIL to the maintainer"
epoch=${SOURCE_DATE_EPOCH:-$(git -C "$packaging" log -1 --format=%ct 2>/dev/null || :)}
epoch=${epoch:-$(stat -c %Y "$source/NEWS")}
export SOURCE_DATE_EPOCH="$epoch"
export DEB_BUILD_OPTIONS="${DEB_BUILD_OPTIONS-nocheck parallel=$(nproc)}"

rm -rf "$folder"
mkdir -p "$folder"
tree=$folder/libposixtrace-$version
mv "$source" "$tree"
chmod -R u+w "$tree"
mkdir "$tree/debian"
cp -R "$packaging"/* "$tree/debian"
rm "$tree/debian/build.sh"
sed -i -e "s|@MAINTAINER@|$name <$email>|" -e "s|@VERSION@|$version|" \
	-e "s|@DATE@|$(LC_ALL=C date -u -R -d "@$epoch")|" \
	-e "s|@YEAR@|$(date -u -d "@$epoch" +%Y)|" \
	"$tree/debian/control" "$tree/debian/changelog" "$tree/debian/copyright"
# The map of the library's symbols has a version node, such as POSIXTRACE_1.0, before its names. A
# program that uses a name needs at least the version of its node.
{
	echo 'libposixtrace.so.1 libposixtrace1 #MINVER#'
	awk '/^[A-Z].*\{$/ {
			node = version = $1
			sub(/^[A-Z]*_/, "", version)
			print " " node "@" node " " version
		}
		/^\t[a-z_]+;$/ { sub(/;/, ""); print " " $1 "@" node " " version }' \
		"$tree/lib/libposixtrace.map"
} >"$tree/debian/libposixtrace1.symbols"
cd "$tree"
dpkg-buildpackage -b -us -uc >"../build.log" 2>&1 || {
	tail -n 60 ../build.log
	! grep -q 'Unmet build dependencies' ../build.log ||
		fail "packages are missing: install them by apt-get build-dep $tree"
	fail "see $folder/build.log"
}
cd ..
ls -1 ./*.deb
