# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=sh disable=SC2034 # for those who source it
# The flags with which distributions build: dpkg-buildflags with hardening=+all, and the additions
# of newer ones. The level of _FORTIFY_SOURCE is 3 or 2; it changes the warnings and the called
# functions.
hardened_cflags() {
	flags="-g -O2 -D_FORTIFY_SOURCE=$1 -fstack-protector-strong -Wformat -Werror=format-security"
	case $(uname -m) in
	x86_64) flags="$flags -fstack-clash-protection -fcf-protection" ;;
	aarch64) flags="$flags -fstack-clash-protection -mbranch-protection=standard" ;;
	esac
	echo "$flags"
}
hardened_ldflags='-Wl,-z,relro -Wl,-z,now'
