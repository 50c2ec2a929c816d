#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# python3 running its own test of json.
PACKAGES='python3 /usr/bin/python3
libpython3.11-testsuite /usr/lib/python3.11/test/test_json/__init__.py'
. "${0%/*}/lib.sh"

# Its output contains the duration.
work() {
	"$@" /usr/bin/python3 -m unittest -v test.test_json >"$tmp/said" 2>&1
	result=$?
	sed -e 's/^\(Ran [0-9]* tests\) in .*/\1/' -e 's/0x[0-9a-f]*/0x/g' "$tmp/said"
	return $result
}
compare
check "tests ran" grep -q '^Ran [1-9]' "$tmp/out.traced"
finish
