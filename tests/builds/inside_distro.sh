#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# inside_distro.sh FOLDER STEP [ARGUMENT...]: a step of check_distros.sh in the system of FOLDER. It
# runs in a mount namespace of its own, with which its mounts disappear, and in a PID namespace.
#
#	unpack TARBALL     the sources, into /sources
#	compilers          installs what a build needs
#	packages           installs the optional libraries, and what the suites know
#	bare CC            builds with CC, the library, the tool and the examples
#	gcc, clang, ...    builds everything with this compiler, with the programs of the suites
#	suites CC GLOB...  runs the suites whose names match a pattern, in the build of CC
set -euf
folder=$1 step=$2
shift 2

if [ "$folder" != / ]; then
	cp --remove-destination /etc/resolv.conf "$folder/etc/resolv.conf"
	# The lists of a mirror that is a copy of some day have expired.
	echo 'Acquire::Check-Valid-Until "false";' >"$folder/etc/apt/apt.conf.d/99mirror"
	cp "$0" "$folder/inside_distro.sh"
	# A new system has no xz(1).
	if [ "$step" = unpack ]; then
		rm -rf --one-file-system "$folder/sources" "$folder/build"
		mkdir "$folder/sources"
		exec tar -C "$folder/sources" --strip-components=1 --no-same-owner -xf "$1"
	fi
	# The folder becomes the root of the namespace: in a chroot(2) no process can make namespaces.
	mount --bind "$folder" "$folder"
	cd "$folder"
	mount -t proc proc proc
	mount --rbind /sys sys
	mount --rbind /dev dev
	mount -t tmpfs -o mode=1777 tmpfs dev/shm
	ip link set lo up
	pivot_root . mnt
	# This shell is the process 1: it waits for all orphans.
	status=0
	env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 TERM=dumb \
		${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
		${no_proxy:+no_proxy="$no_proxy"} chroot . \
		sh -c 'umount -l /mnt && exec setsid -w sh /inside_distro.sh / "$@"' sh "$step" "$@" || status=$?
	exit $status
fi

# configured FOLDER CC [ARGUMENT...]: as tools/check does
configured() {
	build=$1 cc=$2
	shift 2
	. /sources/tests/builds/hardening.sh
	case $cc in
	gcc*) cxx=g++${cc#gcc} ;;
	*) cxx=clang++${cc#clang} ;;
	esac
	mkdir -p "$build"
	cd "$build"
	flags=$(hardened_cflags 3)
	test -f config.status || /sources/configure --enable-werror CC="$cc" CXX="$cxx" CFLAGS="$flags" \
		CXXFLAGS="$flags" LDFLAGS="$hardened_ldflags" "$@"
}

processors=$(nproc)
case $step in
compilers | packages)
	root=/sources
	. /sources/tools/prepare.sh
	need_to_build
	if [ "$step" = packages ]; then
		need_to_check
		want_optional
		want clang clang
		want golang-go go
		want cargo cargo
		want nodejs node
		want libnode-dev header:node/node_api.h
		want libbabeltrace2-dev pc:babeltrace2
		want babeltrace2 babeltrace2
		want gdb gdb
		want strace strace
		want zsh zsh
		want fish fish
		want iproute2 ip
		want procps ps
		want cmake cmake
		want meson meson
	fi
	install_missing
	;;
bare)
	configured /build/bare "$1"
	make -j"$processors"
	;;
suites)
	cd "/build/$1/tests"
	shift
	selected=
	for suite in $(make -s list-suites); do
		for pattern; do
			# shellcheck disable=SC2254 # a pattern
			case $suite in $pattern) selected="$selected $suite" && break ;; esac
		done
	done
	test -n "$selected" || { echo "no suite matches $*" && exit 1; }
	make -k -j"$((processors + 1))" check-only TESTS="$selected"
	;;
*)
	configured "/build/$step" "$step"
	make -k -j"$processors"
	make -k -j"$processors" check TESTS=
	;;
esac
