#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# make soak-inject-kills: the process that loads the library into another is killed at each step,
# that is, before and after each of its calls of ptrace(2). The other process must continue, with
# right results.
#
# PTX_KINDS  the tasks of the process, see preload/probe_inject.c
# PTX_EVERY  each step of this number only; 1 by default
. "${top_srcdir:-${0%/*}/../..}/tests/tools/lib.sh"
. "$top_srcdir/tests/tools/targets.sh"

probe=${top_builddir:-..}/tests/preload/probe_inject
test -x "${probe%/*}/.libs/probe_inject" && probe=${probe%/*}/.libs/probe_inject
# shellcheck disable=SC2086
${CC:-cc} -shared -fPIC -o "$tmp/kill.so" "$top_srcdir/tests/soak/inject_kill.c" || skip "no compiler"

# kill_at STEP KIND: sets $is_killed.
kill_at() {
	start_reading "$probe" "$2"
	LD_PRELOAD=$tmp/kill.so KILL_AT=$1 "$posixtrace" attach -p "$target" -o "$tmp/a.log" --force -d 1ms \
		>"$tmp/out" 2>"$tmp/err"
	grep -q 'was killed by signal\|pass through' "$tmp/err" && is_killed=yes || is_killed=
	sleep 0.1
	end_reading "$2, killed at step $1"
}

for kind in ${PTX_KINDS-sleep epoll compute cond allocate}; do
	# DESIGN, section 7: before the fourth call epoll_wait() returns EINTR.
	test "$kind" = epoll && step=5 || step=1
	is_killed=yes
	while test -n "$is_killed"; do
		kill_at "-$step" "$kind"
		kill_at "$step" "$kind"
		step=$((step + ${PTX_EVERY-1}))
	done
	check "$kind: there were steps" test "$step" -gt 100
	echo "$kind: $step steps"
done
finish
