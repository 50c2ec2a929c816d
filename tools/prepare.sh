# SPDX-License-Identifier: LGPL-2.1-or-later
# For tools/check and tools/demo: installs what is missing (Debian 12; as root or with sudo).
#
#	need PACKAGE WHAT	WHAT shows that it is there: a command, or pc:MODULE of pkg-config
#	install_missing

fail() {
	echo "$0: $*" >&2
	exit 1
}

missing=
need() {
	case $2 in
	pc:*) pkg-config --exists "${2#pc:}" 2>/dev/null && return ;;
	*) command -v "$2" >/dev/null 2>&1 && return ;;
	esac
	missing="$missing $1"
}

# What every build from a checkout needs.
need_to_build() {
	need autoconf autoconf
	need automake automake
	need libtool libtoolize
	need pkg-config pkg-config
	need gcc gcc
	need g++ g++
	need libc6-dev gcc
	need make make
	need liburcu-dev pc:liburcu-bp
}

install_missing() {
	[ -n "$missing" ] || return 0
	echo "installing:$missing"
	command -v apt-get >/dev/null || fail "please install:$missing"
	sudo=
	if [ "$(id -u)" -ne 0 ]; then
		command -v sudo >/dev/null || fail "root or sudo is needed to install:$missing"
		sudo=sudo
	fi
	# apt-get prints a page for every package; the log is shown only if it fails.
	log=$(mktemp) || exit 1
	# shellcheck disable=SC2086 # a list of words
	if ! { $sudo env DEBIAN_FRONTEND=noninteractive apt-get -q update &&
		$sudo env DEBIAN_FRONTEND=noninteractive apt-get -qy --no-install-recommends \
			install $missing; } >"$log" 2>&1 </dev/null; then
		cat "$log"
		rm -f "$log"
		fail "apt-get failed"
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
