#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Firefox draws a page into a file: many processes, each behind a seccomp filter whose handler makes calls.
PACKAGES=
. "${0%/*}/lib.sh"

command -v firefox-esr >/dev/null || { echo "SKIP: firefox: firefox-esr is not installed"; exit 0; }
: "${PTX_PAIRS:=1}"
HOME=$tmp/home
export HOME
mkdir "$HOME"
echo '<html><body style="background:#3060a0"><h1>A page</h1></body></html>' >"$tmp/page.html"
work() {
	rm -rf "$tmp/profile" "$tmp/picture.png"
	mkdir "$tmp/profile"
	"$@" timeout -k 5 300 firefox-esr --headless --no-remote --profile "$tmp/profile" \
		--window-size=400,300 --screenshot "$tmp/picture.png" "file://$tmp/page.html" || return
	cksum <"$tmp/picture.png"
}
compare
check "its children are in the log" test "$(count_of process.start)" -ge 3
check "its filters are in the log" test "$(count_of process.seccomp)" -ge 1
finish
