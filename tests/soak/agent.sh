#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# soak/agent.sh ROUNDS [SEED]: in each round the agent, its guardian or a recorded process is killed, the
# agent gets a request, or its program is replaced by another file, at random. After each round every new
# log is sound and complete, the quota is kept, and the agent needs less than 32 MB. After MINUTES, if this
# variable is set, no further round begins. The last line has the numbers.
. "${0%/*}/../tools/lib.sh"
. "${0%/*}/../tools/targets.sh"
. "${0%/*}/../tools/agents.sh"

rounds=${1:-12}
seed=${2:-$(date +%s)}
quota=$((8 << 20))
echo "seed $seed"

# random N: sets $number to 0 to N - 1.
random() {
	seed=$(((seed * 1103515245 + 12345) % 2147483648))
	number=$((seed / 65536 % $1))
}

# A program with a path of its own, so that the agent records no process of another test.
cp "$victim" "$tmp/busy" || exit 99
victim=$tmp/busy
LD_LIBRARY_PATH=$(cd "${top_builddir:-..}/lib/.libs" && pwd)${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH

# install_agent: replaces the program of the agent by another file, as an upgrade does.
program=$posixtrace
test ! -x "${program%/*}/.libs/posixtrace" || program=${program%/*}/.libs/posixtrace
install_agent() { cp "$program" "$tmp/posixtrace.new" && mv "$tmp/posixtrace.new" "$tmp/posixtrace"; }
install_agent || exit 99
posixtrace=$tmp/posixtrace

write_conf "quota = $quota" '[record busy]' "executable = $(readlink -f "$victim")" 'size = 128K' \
	'[trigger crash]' 'when = crash' 'hold-off = none'
for n in 1 2; do
	start_busy 1
	eval "target$n=$target"
done
start_agent
until_true records "$target1"
until_true records "$target2"

# look_at_logs: the new logs. Names sort by time; a log may be removed for the quota meanwhile.
: >"$tmp/known"
checked=0 fired=0
chunk=512 # at least the events of a chunk of these streams
look_at_logs() {
	ls "$store/logs" >"$tmp/listed"
	bad=0
	for each in $(grep -vxF -f "$tmp/known" "$tmp/listed"); do
		cp "$store/logs/$each" "$tmp/copy.ptl" 2>/dev/null || continue
		checked=$((checked + 1))
		case $each in *-restart.ptl) ;; *) fired=$((fired + 1)) ;; esac
		is_sound "$tmp/copy.ptl" >/dev/null && is_even "$tmp/copy.ptl" $chunk &&
			"$victim" check "$tmp/copy.ptl" >/dev/null 2>"$tmp/why" && test ! -s "$tmp/why" && continue
		echo "$each: account $(account_of "$tmp/copy.ptl")"
		"$posixtrace" verify "$tmp/copy.ptl"
		cat "$tmp/why"
		bad=$((bad + 1))
	done
	cp "$tmp/listed" "$tmp/known"
	return $bad
}

lacks_words() { ! said "$1"; }
agents=1 targets=2 requests=0 upgrades=0
end=$(($(date +%s) + ${MINUTES:-1000000} * 60))
for round in $(seq "$rounds"); do
	test "$(date +%s)" -lt $end || break
	random 7
	case $number in
	0 | 1)
		random 2
		n=$((number + 1))
		eval "target=\$target$n"
		kill_target
		start_busy 1
		eval "target$n=$target"
		targets=$((targets + 1))
		what="kill of a process"
		;;
	2 | 3)
		{ kill -KILL "$agent"; wait "$agent"; } 2>/dev/null
		start_agent
		agents=$((agents + 1))
		what="kill of the agent"
		;;
	4)
		"$posixtrace" agent -c "$conf" --snapshot busy >/dev/null 2>&1
		kill -HUP "$agent"
		requests=$((requests + 1))
		what="snapshot and reload"
		;;
	5)
		# A kill in the middle of a snapshot.
		kill -USR1 "$agent"
		{ kill -KILL "$agent"; wait "$agent"; } 2>/dev/null
		start_agent
		agents=$((agents + 1))
		what="kill at a snapshot"
		;;
	6)
		install_agent
		end_agent USR2 0
		start_agent
		check "round $round: an upgrade leaves no gap" lacks_words 'nothing was recorded'
		agents=$((agents + 1))
		upgrades=$((upgrades + 1))
		what="upgrade"
		;;
	esac
	until_true records "$target1"
	until_true records "$target2"
	look_at_logs >"$tmp/bad"
	got=$?
	test $got -eq 0 || cat "$tmp/bad"
	check "round $round, $what: every new log is sound and whole" test $got -eq 0
	check "round $round: the quota is kept" test "$(cat "$store"/logs/* 2>/dev/null | wc -c)" -le "$quota"
	rss=$(sed -n 's/^VmRSS:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$agent/status")
	check "round $round: the agent needs less than 32 MB: $rss kB" test "${rss:-99999}" -lt 32768
done
has_two_files() { test "$(ls "$store/flight" | wc -l)" -eq 2; }
until_true has_two_files
end_agent TERM 0
look_at_logs >"$tmp/bad"
got=$?
cat "$tmp/bad"
check "the last logs are sound" test $got -eq 0
check "flight/ is empty" is_grounded
echo "$((round)) rounds, $agents agents, $upgrades upgrades, $targets processes, $requests requests, $checked logs," \
	"$fired of them of triggers, $(cat "$store"/logs/* | wc -c) bytes of $quota, $rss kB"
finish
