#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# bash, zsh and fish offer exactly the words that posixtrace accepts. Each installed shell completes
# the commands, the options of each command, the words of an argument, and files.
. "${0%/*}/lib.sh"

support=$(cd "${0%/*}" && pwd)
built=${top_builddir:-..}/tools/posixtrace/completion
PATH=$(cd "${posixtrace%/*}" && pwd):$PATH
export PATH

"$make_log" plain "$tmp/a.ptl" 10 >/dev/null || exit 99
: >"$tmp/a file.log"
# A process whose stream has event types, one that has ended, and the numbers that are offered
await() {
	tries=0
	while test ! -e "$1" && test $tries -lt 600; do
		sleep 0.1
		tries=$((tries + 1))
	done
}
traced=
if has_shim; then
	"$posixtrace" record -q -o "$tmp/traced.ptl" -- sh -c 'echo $$ >"$0/pid"; : >"$0/ready"; exec sleep 1000000' \
		"$tmp" &
	recorder=$!
	await "$tmp/ready"
	traced=$(cat "$tmp/pid")
fi
sh -c 'true & echo $! >"$0/child"; : >"$0/forked"; exec sleep 1000000' "$tmp" &
parent=$!
await "$tmp/forked"
child=$(cat "$tmp/child")
tries=0
while ! grep -q '^State:.Z' "/proc/$child/status" && test $tries -lt 600; do
	sleep 0.1
	tries=$((tries + 1))
done
"$posixtrace" completion pids >"$tmp/out"
check "pids: a process with its program" has out "^$parent	sleep\$"
check "pids: not one that has ended" lacks out "^$child\\b"
if test "$(id -u)" -ne 0; then
	check "pids: not one of another user" lacks out '^1	'
elif test ! -e /proc/2/exe && test -d /proc/2; then
	check "pids: no thread of the kernel" lacks out '^2\b'
fi
if test "$traced"; then
	run 0 completion events "$traced"
	check "events: those of a process" has out '^process\.start$'
fi
run 1 completion events 4194305
check "events: no such process" has err 'process 4194305: '

"$posixtrace" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' | sort >"$tmp/commands"
check "there are commands" test -s "$tmp/commands"

# options COMMAND: the long options of --help and, of convert, those of the formats.
options() {
	"$posixtrace" $1 --help | sed -n 's/^  \(-., \|    \)\(--[a-z-]*\).*/\2/p'
	test $1 != convert || "$posixtrace" convert --list | sed -n 's/^ *\(--[a-z-]*\).*/\1/p'
}

# same_options SHELL: the options of each command.
same_options() {
	for command in $(cat "$tmp/commands"); do
		options $command | sort -u >"$tmp/options"
		check "$command has options" grep -q -x -e --help "$tmp/options"
		offers_$1 "posixtrace $command --"
		check "$1: the options of $command" diff "$tmp/offers" "$tmp/options"
	done
}

# offered SHELL LINE WORD...: for the line, the shell offers these words and no others.
offered() {
	shell=$1 line=$2
	shift 2
	printf '%s\n' "$@" | sort >"$tmp/should"
	offers_$shell "$line"
	check "$shell: $line" diff "$tmp/should" "$tmp/offers"
}

# common SHELL: the words that all shells offer.
HOME=$tmp
export HOME
common() {
	"$posixtrace" completion $1 >"$tmp/script"
	test -f "$2" && check "$1: the script that is installed" cmp "$tmp/script" "$2"
	offers_$1 'posixtrace '
	check "$1: each command" test -z "$(comm -13 "$tmp/offers" "$tmp/commands")"
	same_options $1
	offered $1 'posixtrace completion ' bash zsh fish events pids
	offered $1 'posixtrace record --policy ' flush until-full loop
	offered $1 'posixtrace record --trace ti' time
	offered $1 'posixtrace receive --dialect rkh' rkh2 rkh3
	offered $1 "posixtrace dump $tmp/a.ptl -e posix_trace_st" posix_trace_start posix_trace_stop
	"$posixtrace" convert --list | sed -n 's/^\([a-z]*\) .* writes .*/\1/p' >"$tmp/sinks"
	offered $1 'posixtrace convert --to ' $(cat "$tmp/sinks")
	offers_$1 'posixtrace status '
	check "$1: processes" grep -q -x "$$" "$tmp/offers"
	check "$1: no process that has ended" lacks offers "^$child$"
	offered $1 "posixtrace dump $tmp/a.ptl --pair job_b" job_begin
	offered $1 "posixtrace dump $tmp/a.ptl --pair=job_begin,job_e" \
		$(test $1 = zsh || echo job_begin,)job_end
	offers_$1 "posixtrace dump $tmp/a.ptl --pair job_begin,job_end,job"
	check "$1: fields of a pair are not event types" is_empty offers
	offered $1 'posixtrace record --syscalls=' all none unseen
	offered $1 'posixtrace record --stack=ti' "$(test $1 = fish && echo 'time.*' || echo 'time.\*')"
	offered $1 'posixtrace dump ~/a.ptl -e posix_trace_sto' posix_trace_stop
	test -z "$traced" || offered $1 "posixtrace attach -p $traced -e process.sta" process.start
}

# --- bash

# bash separates words also at = and : . The offered words replace the last of these words.
# offers_bash LINE [WORDS]: the cursor is at the end of LINE, and WORDS are behind it
offers_bash() {
	bash -c '. "$1"; COMP_LINE="$2 ${3-}"; COMP_POINT=${#2}
		split() {
			for word in $1; do
				while [[ $word =~ ^([^=:]*)([=:]+)(.*)$ ]]; do
					[[ ! ${BASH_REMATCH[1]} ]] ||
						COMP_WORDS+=("${BASH_REMATCH[1]}")
					COMP_WORDS+=("${BASH_REMATCH[2]}")
					word=${BASH_REMATCH[3]}
				done
				[[ ! $word ]] || COMP_WORDS+=("$word")
			done
		}
		split "$2"
		[[ $2 != *\  ]] || COMP_WORDS+=("")
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
		split "${3-}"
		_posixtrace
		((${#COMPREPLY[@]})) && printf "%s\n" "${COMPREPLY[@]}"' \
		bash "$tmp/script" "$@" | sort -u >"$tmp/offers"
}

nothing() {
	offers_bash "$1"
	check "bash: nothing for $1" is_empty offers
}

if bash -c 'mapfile -t x </dev/null' 2>/dev/null; then
	common bash "$built/posixtrace.bash"
	offers_bash 'posixtrace dump -e job_b' "$tmp/a.ptl"
	check "bash: event types of a log behind the cursor" grep -qx job_begin "$tmp/offers"
	cp "$tmp/a.ptl" "$tmp/a:b=c.ptl"
	offers_bash 'posixtrace dump -e job_b' "-q $tmp/a:b=c.ptl"
	check "bash: also if the name of the log has separators" grep -qx job_begin "$tmp/offers"
	offers_bash 'posixtrace dump -e job_b' "-q --pid=$$ $tmp/a.ptl"
	check "bash: also behind an option with a value" grep -qx job_begin "$tmp/offers"
	offered bash 'posixtrace record --policy=lo' loop
	offered bash 'posixtrace record --policy=' flush until-full loop
	offered bash 'posixtrace record --trace io,lo' io,lock io,lock-hold
	offered bash 'posixtrace record --trace all,-dl' all,-dl
	offered bash 'posixtrace help du' dump
	nothing 'posixtrace dump --limit '
	nothing 'posixtrace nothing '
	nothing 'posixtrace list '
	bash -c 'source <(posixtrace completion bash) && complete -p posixtrace' >"$tmp/out" 2>"$tmp/err"
	check "bash: the running shell completes posixtrace" has out '^complete .*-F _posixtrace.* posixtrace$'
	check "bash: without a message" is_empty err
	offered bash "posixtrace record -o $tmp/x -- sh $tmp/a.p" "$tmp/a.ptl"
	offered bash "posixtrace record -q --fail-on-loss --policy=loop sh $tmp/a.p" "$tmp/a.ptl"
	offered bash 'posixtrace record -e tim' 'time.\*'
	offers_bash 'posixtrace record posixtr'
	check "bash: programs" grep -q -x posixtrace "$tmp/offers"
	offers_bash "posixtrace dump $tmp/a"
	check "bash: files" grep -q -x "$tmp/a file.log" "$tmp/offers"
	mkdir "$tmp/debug"
	offered bash "posixtrace dump --debug-dir $tmp/de" "$tmp/debug"
	# The name of an event is text, not a command.
	if has_format evt; then
		"$posixtrace" convert "$tmp/a.ptl" --to evt |
			sed "s|job_begin|\$(touch $tmp/harm)|; s|job_end|log.x.c:12|" >"$tmp/b.evt"
		"$posixtrace" convert "$tmp/b.evt" -o "$tmp/b.ptl" || exit 99
		"$posixtrace" completion events "$tmp/b.ptl" >"$tmp/out"
		check "the log has such a name" has out '^\$(touch '
		offers_bash "posixtrace dump $tmp/b.ptl -e "
		check "bash: a name is quoted" test ! -e "$tmp/harm"
		check "bash: names are offered" grep -q -x posix_trace_start "$tmp/offers"
		offered bash "posixtrace dump $tmp/b.ptl -e log.x" log.x.c:12
		offered bash "posixtrace dump $tmp/b.ptl -e log.x.c:1" 12
		offered bash "posixtrace dump $tmp/b.ptl --event=log.x.c:" 12
		offered bash "posixtrace dump $tmp/b.ptl -e 'log.x.c:1" log.x.c:12
	fi
fi

# --- zsh

# offers_zsh LINE [SETUP]: the command SETUP of a shell without the file loads the script.
offers_zsh() {
	mkdir -p "$tmp/zsh"
	cp "$tmp/script" "$tmp/zsh/_posixtrace"
	timeout 60 zsh -f "$support/offers.zsh" "$tmp/zsh" "$@" 2>/dev/null | sort -u >"$tmp/all"
	# Letters are offered, too.
	sed '/^-[^-]/d; s/=$//' "$tmp/all" >"$tmp/offers"
}

if zsh -f -c 'zmodload zsh/zpty && autoload -Uz +X compinit' 2>/dev/null; then
	common zsh "$built/_posixtrace"
	offered zsh 'posixtrace record --trace io,lo' lock lock-hold
	offers_zsh 'posixtrace record --trace io,'
	check "zsh: families behind a comma" has offers '^net$'
	check "zsh: no options of compadd behind a comma" lacks all '^-'
	offered zsh 'posixtrace record --policy=lo' loop
	offered zsh 'posixtrace record -e tim' 'time.\*'
	# A line of .zshrc, with and without completion before it; the start of the shell prints nothing.
	printf '%s\n' flush until-full loop | sort >"$tmp/should"
	for setup in 'eval "$(posixtrace completion zsh)"' 'source <(posixtrace completion zsh)' \
		'load() { eval "$(posixtrace completion zsh)"; }; load'; do
		for first in '' 'autoload -Uz compinit && compinit -u -D; '; do
			zsh -f -c "$first$setup" >"$tmp/out" 2>&1
			check "zsh: the status of $first$setup" test $? -eq 0
			check "zsh: no output of $first$setup" is_empty out
			offers_zsh 'posixtrace record --policy ' "$first$setup"
			check "zsh: completion after $first$setup" diff "$tmp/should" "$tmp/offers"
		done
	done
fi

# --- fish

offers_fish() {
	HOME=$tmp XDG_CONFIG_HOME=$tmp fish -N -c 'source $argv[1]; complete -C $argv[2]' \
		"$tmp/script" "$1" 2>"$tmp/err" | cut -f 1 | sort -u >"$tmp/offers"
	# An option with an optional argument is offered with and without the equals sign.
	sed -i 's/^\(--[a-z-]*\)=$/\1/; s/^--[a-z-]*=//' "$tmp/offers"
	sort -u -o "$tmp/offers" "$tmp/offers"
}

if fish -N -c 'complete -C "ls "' >/dev/null 2>&1; then
	common fish "$built/posixtrace.fish"
	offered fish 'posixtrace record --trace io,lo' io,lock io,lock-hold
	offered fish 'posixtrace record --policy=lo' loop
	offered fish 'posixtrace record -e tim' 'time.*'
	printf '%s\n' flush until-full loop | sort >"$tmp/should"
	XDG_CONFIG_HOME=$tmp fish -N -c 'posixtrace completion fish | source
		complete -C "posixtrace record --policy "' 2>"$tmp/err" | cut -f 1 | sort >"$tmp/out"
	check "fish: the running shell completes posixtrace" diff "$tmp/should" "$tmp/out"
	check "fish: without a message" is_empty err
	offers_fish "posixtrace dump $tmp/a"
	check "fish: files" grep -q -x "$tmp/a file.log" "$tmp/offers"
fi

kill $traced "$parent"
wait $recorder

run 2 completion
run 2 completion csh
check "the shells are named" has err 'there are bash, zsh, fish'
run 2 completion bash zsh
run 1 completion events "$tmp/missing"
run 0 completion events "$tmp/a.ptl"
check "events prints names" has out '^posix_trace_start$'
finish
