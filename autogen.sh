#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Makes ./configure from a checkout; needs autoconf, automake, libtool and pkg-config.
set -e
[ $# -eq 0 ] || {
	echo "usage: $0 (without arguments; then ./configure --help)" >&2
	exit 2
}
cd "$(dirname "$0")"
exec autoreconf --install --force
