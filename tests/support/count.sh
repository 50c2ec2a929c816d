# SPDX-License-Identifier: LGPL-2.1-or-later
# For tests/check_*.sh: counts checks and ends with the last line that libcheck prints, so that the
# counts of `make check` can be added.
#
#	. "$top_srcdir/tests/support/count.sh"
#	check "the map has every function" test "$a" = "$b"
#	finish

# The caller of the script may ignore SIGHUP, SIGINT, SIGQUIT or SIGPIPE, as nohup does. A shell
# cannot restore signals that were ignored at its start, so the script starts again.
ignored=$(sed -n 's/^SigIgn:.*\(....\)$/\1/p' /proc/self/status 2>/dev/null)
if [ -z "${PTX_SIGNALS_RESTORED-}" ] && [ $((0x${ignored:-0} & 0x1007)) -ne 0 ] && [ -f "$0" ] &&
	env --default-signal=HUP true 2>/dev/null; then
	PTX_SIGNALS_RESTORED=yes exec env --default-signal=HUP,INT,QUIT,PIPE \
		"$(readlink /proc/$$/exe)" "$0" "$@"
fi
unset PTX_SIGNALS_RESTORED

checks=0
failures=0

# check SENTENCE COMMAND...: the command's output is shown only if it fails. The command can print the
# reason of a failure if $is_checked is not empty.
is_checked=
check() {
	sentence=$1
	shift
	checks=$((checks + 1))
	if output=$(is_checked=yes && "$@" 2>&1); then
		return 0
	fi
	failures=$((failures + 1))
	echo "FAILED: $sentence"
	test -z "$output" || printf '%s\n' "$output" | sed 's/^/	/'
	return 0
}

# none SENTENCE LIST: passes if the list is empty, and shows it otherwise.
none() {
	check "$1" none_ "$2"
}

none_() {
	test -z "$1" && return 0
	printf '%s\n' "$1"
	return 1
}

# unmerged FILE...: prints the lines with marks of a conflict of git, as file:line:text
unmerged() {
	grep -InE '^(<<<<<<<|>>>>>>>|\|\|\|\|\|\|\|) ' /dev/null "$@"
}

finish() {
	if [ "$checks" -eq 0 ]; then
		echo "FAILED: nothing was checked"
		exit 1
	fi
	echo "$(((checks - failures) * 100 / checks))%: Checks: $checks, Failures: $failures, Errors: 0"
	test "$failures" -eq 0
	exit
}
