# SPDX-License-Identifier: LGPL-2.1-or-later
# tools/agents.sh - functions for the tests of posixtrace agent; sourced after targets.sh.
conf=$tmp/agent.conf
store=$tmp/store
agent_err=$tmp/agent.err

# write_conf LINE...: the lines of [agent], and sections behind them.
write_conf() {
	printf '%s\n' '[agent]' "folder = $store" 'interval = 50ms' "$@" >"$conf"
}

# start_agent: returns when it is ready.
start_agent() {
	: >"$agent_err"
	start $defaults "$posixtrace" agent -c "$conf" >"$tmp/agent.out" 2>"$agent_err"
	agent=$pid
	until_true grep -q ': ready: ' "$agent_err"
}

# end_agent SIGNAL STATUS
end_agent() {
	kill -"$1" "$agent"
	wait "$agent"
	got=$?
	wanted=$2
	check "$1: the agent exits with $wanted, not $got" test $got -eq "$wanted"
} 2>/dev/null

# A puppet with a path of its own, so that another test's agent does not record it.
own_puppet() {
	LD_LIBRARY_PATH=$(cd "${top_builddir:-..}/lib/.libs" && pwd)${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
	export LD_LIBRARY_PATH
	cp "$puppet_program" "$tmp/puppet" || exit 99
	puppet_program=$tmp/puppet
}

said() { grep -q -e "$1" "$agent_err"; }
# is_grounded: no process is recorded.
is_grounded() { test -z "$(ls "$store/flight")"; }
records() { "$posixtrace" agent -c "$conf" --status 2>/dev/null | grep -q "^record [a-z]*: process $1 "; }
status_has() { "$posixtrace" agent -c "$conf" --status | grep -q -e "$1"; }
logs() { ls "$store/logs" 2>/dev/null | grep -e "${1:-.}" | wc -l; }
has_logs() { test "$(logs "$1")" -eq "$2"; }
# log_of PATTERN: the path of the last log whose name matches.
log_of() { ls "$store/logs"/* | grep -e "$1" | tail -n 1; }
# all_sound: every log is sound and its account is even.
all_sound() {
	for each in "$store"/logs/*; do
		is_sound "$each" >/dev/null || { echo "$each is not sound"; return 1; }
		is_even "$each" || { echo "$each: the account does not add up"; return 1; }
	done
}
reason_in() { "$posixtrace" dump -e posixtrace_agent "$1" | grep -q -e "$2"; }
