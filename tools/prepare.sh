# SPDX-License-Identifier: LGPL-2.1-or-later
# For tools/check and tools/demo: installs missing packages (Debian 12; as root or with sudo).
#
#	need PACKAGE WHAT	WHAT shows that it is installed: a command, pc:MODULE of pkg-config,
#				or header:FILE for the C compiler
#	want PACKAGE WHAT	the same, but without it the build and the tests have fewer parts
#	install_missing
#
# A script without arguments calls `no_arguments "$@"` before it changes anything.

fail() {
	echo "$0: $*" >&2
	exit 1
}

# no_arguments ARGUMENT...: the script has no arguments. Prints the comment at its beginning for --help,
# and refuses everything else. The caller has changed to the top folder, and $root is its name.
no_arguments() {
	case ${1-} in
	-h | --help)
		echo "usage: sh tools/${0##*/}"
		sed -n '3,/^[^#]/s/^# //p' "$root/tools/${0##*/}"
		exit 0
		;;
	esac
	[ $# -eq 0 ] || {
		echo "usage: sh tools/${0##*/}" >&2
		echo "$0: it has no arguments: $1" >&2
		exit 2
	}
}

is_there() {
	case $1 in
	pc:*) pkg-config --exists "${1#pc:}" 2>/dev/null ;;
	header:*) echo "#include <${1#header:}>" | ${CC:-cc} -E - >/dev/null 2>&1 ;;
	*) command -v "$1" >/dev/null 2>&1 ;;
	esac
}

missing=
wanted=
need() {
	is_there "$2" || missing="$missing $1"
}
want() {
	is_there "$2" || wanted="$wanted $1"
}

# Packages that every build from a checkout needs.
need_to_build() {
	need autoconf autoconf
	need automake automake
	need libtool libtoolize
	need pkg-config pkg-config
	need gcc gcc
	need g++ g++
	need libc6-dev gcc
	need make make
}

# Programs and libraries that make check needs.
need_to_check() {
	need binutils readelf
	need mandoc mandoc
	need python3 python3
	need xz-utils xz
	need check 'pc:check >= 0.15'
}

# Libraries for optional parts of the tool.
want_optional() {
	want libncurses-dev pc:ncursesw
	want libexpat1-dev pc:expat
	want uuid-dev pc:uuid
	want libsqlite3-dev 'pc:sqlite3 >= 3.38'
	want libcurl4-openssl-dev pc:libcurl
	want zlib1g-dev pc:zlib
	want libzstd-dev 'pc:libzstd >= 1.4'
	want libdw-dev 'pc:libdw >= 0.178 libelf'
	want libelf-dev pc:libelf
	want libtracefs-dev 'pc:libtracefs >= 1.6'
	want libtraceevent-dev 'pc:libtraceevent >= 1.7'
	want libzydis-dev header:Zydis/Zydis.h
	want liburing-dev pc:liburing
	want systemtap-sdt-dev dtrace
	want python3-dev python3-config
}

# apt-get prints a page for every package; its output is in $log. Another program may hold the lock
# of the packages for a while, and a mirror may fail once.
install() {
	patience='-o DPkg::Lock::Timeout=300 -o Acquire::Retries=3'
	sudo=
	if [ "$(id -u)" -ne 0 ]; then
		command -v sudo >/dev/null || {
			echo "root or sudo is needed" >"$log"
			return 1
		}
		sudo=sudo
	fi
	# shellcheck disable=SC2086 # a list of options
	{ $sudo env DEBIAN_FRONTEND=noninteractive apt-get $patience -q update &&
		$sudo env DEBIAN_FRONTEND=noninteractive apt-get $patience -qy \
			--no-install-recommends install "$@"; } >"$log" 2>&1 </dev/null
}

install_missing() {
	[ -n "$missing$wanted" ] || return 0
	log=$(mktemp) || exit 1
	# shellcheck disable=SC2086 # lists of words
	if echo "installing:$missing$wanted" && install $missing $wanted; then
		:
	elif [ -z "$missing" ] || { [ -n "$wanted" ] && install $missing; }; then
		echo "not installed, so that what needs it is left out:$wanted"
	else
		cat "$log"
		rm -f "$log"
		fail "please install:$missing"
	fi
	rm -f "$log"
}

# build FOLDER [CONFIGURE-OPTION...]: builds beside the sources and goes there. $root is the top.
build() {
	build=$1
	shift
	# A tree that is configured in place cannot be built elsewhere as well.
	test ! -e "$root/config.status" || build=.
	echo "building in $root/$build"
	"$root/autogen.sh" >/dev/null 2>&1 || "$root/autogen.sh" || fail "autogen.sh failed"
	mkdir -p "$root/$build" && cd "$root/$build" || exit 1
	"$root/configure" "$@" >configure.out 2>&1 || {
		tail -n 30 configure.out
		fail "configure failed"
	}
	make -j"$(nproc 2>/dev/null || echo 2)" >make.out 2>&1 || {
		tail -n 60 make.out
		fail "make failed"
	}
}
