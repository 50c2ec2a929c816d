#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# posixtrace recover: logs made of the remains of streams.
. "${0%/*}/lib.sh"
. "${0%/*}/targets.sh"

box=$tmp/box
copy=$tmp/copy.log

# A program with a backing file, while it runs and after it was killed.
has_events() { "$posixtrace" recover "$box" -o "$copy" --force --json | grep -q '"events":[1-9][0-9][0-9]'; }
start "$victim" box "$box" >/dev/null 2>&1
target=$pid
check "its file can be read while it runs" until_true has_events
run 0 verify "$copy"
kill_target
run 0 recover "$box" -o "$copy" --force
check "a line has the contents of the log" has out "^process $target, stream box: .*copy.log: [0-9]* events, "
run 0 verify "$copy"
check "the log is sound" has out ': sound: '
check "each thread's events are whole and in order" "$victim" check "$copy"
run 0 recover "$box" -o "$copy" --force --json -n 'b?x'
check "there is JSON" has out "^{\"log\":\".*copy.log\",\"pid\":$target,\"stream\":\"box\",.*\"ended\":null,"
run 1 recover "$box" -o "$copy"
check "a log that is there is kept" has err 'the file exists'
run 1 recover "$box" -o "$copy" --force -n other
check "a name that no stream has is reported" has err 'its only stream does not have the name other'

# Files that are no backing file, or only a part of one.
run 1 recover "$copy" -o "$tmp/new.log"
check "the message has file and offset of a wrong file" has err "^posixtrace: $copy:0: this is no backing file"
check "no log is made" test ! -e "$tmp/new.log"
run 1 recover "$tmp/missing" -o "$tmp/new.log"
check "a missing file is reported" has err "$tmp/missing: No such file"
run 1 recover "$tmp" -o "$tmp/new.log"
check "a folder is reported" has err "$tmp: Is a directory"
dd if="$box" of="$tmp/short" bs=4096 count=256 2>/dev/null
run 1 recover "$tmp/short" -o "$tmp/new.log"
check "a file that was cut is reported" has err "$tmp/short"
check "no log is made" test ! -e "$tmp/new.log"
# The file ends among the parts of the stream, which are at the end of its memory.
dd if="$box" of="$tmp/short" bs=4096 count=$(($(du -k "$box" | cut -f 1) / 4 - 12)) 2>/dev/null
run 3 recover "$tmp/short" -o "$tmp/new.log"
check "missing parts are one message, with their number" has err \
	": a part of the stream's memory cannot be read; this is the first of [1-9][0-9]* such faults, of [0-9]* bytes in all\$"
check "missing parts: no other message" has_lines err 1
rm -f "$tmp/new.log"

# Processes.
start_puppet
log=$tmp/a.log
attach --trace none --policy loop
tell e e e
kill -STOP "$target"
run 0 recover "$target" -o "$copy" --force
check "a process that is stopped has its events" has out ': 4 events, 0 lost'
run 0 verify "$copy"
run 0 recover -p "$target" -o "$copy" --force
check "-p names the process, too" has out ': 4 events, 0 lost'
run 2 recover -p "$target" "$box" -o "$copy" --force
check "only one source is possible" has err '^posixtrace: recover: give only one file or process$'
kill -CONT "$target"
finish_attach 0 TERM
run 1 recover "$target" -o "$copy" --force
check "a process without streams is reported" has err "process $target: it has no stream whose memory is left"
end_puppet
run 1 recover "$target" -o "$copy" --force
check "a process that is gone is reported" has err "process $target: it has ended, and no process holds a stream of it"

# The list of mapped files, the segments and their contents may have any values. Without libelf the
# tool reads no core dump and reports that.
printf '\177ELF\002\001\001\000\000\000\000\000\000\000\000\000\004\000' >"$tmp/core.short"
run 1 recover "$tmp/core.short" -o "$tmp/new.log"
check "the beginning of a dump is recognized" has err "^posixtrace: $tmp/core.short:"
check "no log is made of it" test ! -e "$tmp/new.log"
if has err 'built without libelf'; then
	libelf=no
else
	libelf=yes
	check "it is damaged" has err "core.short:0: this core dump is damaged"
fi

# A core dump, if this system lets programs write one into their folder. It contains the shared
# memory of the arena with the usual coredump_filter.
mkdir "$tmp/fall"
victim_path=$(realpath "$victim")
libraries=$(cd "${top_builddir:-..}/lib/.libs" 2>/dev/null && pwd)
(LD_LIBRARY_PATH=$libraries && export LD_LIBRARY_PATH && cd "$tmp/fall" &&
	ulimit -c unlimited && exec "$victim_path" fall 500) >/dev/null 2>&1
core=$(find "$tmp/fall" -name 'core*' -size +0 | head -n 1)
if [ -n "$core" ] && [ "$libelf" = yes ]; then
	cp "$core" "$tmp/core.77"
	run 0 recover "$tmp/core.77" -o "$copy" --force
	check "a core dump has all of the stream" has out 'stream fallen: .*: 501 events, 0 lost'
	run 0 verify "$copy"
	check "the log is sound" has out ': sound: '
	check "each event is whole and in order" "$victim" check "$copy"
	run 0 dump "$copy"
	check "names are known" has out ' payload '
	head -c 300000 "$tmp/core.77" >"$tmp/core.cut"
	run 1 recover "$tmp/core.cut" -o "$tmp/new.log"
	check "a dump that was cut is reported" has err "^posixtrace: $tmp/core.cut:0: "
	check "no log is made" test ! -e "$tmp/new.log"
	(cd "$tmp/fall" && rm -f core* && ulimit -c unlimited &&
		exec sh -c 'kill -ABRT $$') >/dev/null 2>&1
	core=$(find "$tmp/fall" -name 'core*' -size +0 | head -n 1)
	run 1 recover "$core" -o "$tmp/new.log"
	check "a dump of a program without a stream is reported" has err 'this core dump has no trace memory (arena)'
else
	echo "no core dumps here, or no libelf: not tried"
fi

run 2 recover
check "a missing argument is reported" has err 'the file or process is missing'
run 2 recover "$box"
check "a missing argument is reported" has err 'the name of the log is missing; give it after -o'
run 2 recover "$box" "$box" -o "$copy"
run 2 recover --no-such-option

finish
