#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Functions that a program compiled while it ran have the names of /tmp/perf-PID.map.
. "${0%/*}/lib.sh"
. "${0%/*}/targets.sh"

case $(uname -m) in
x86_64 | aarch64) ;;
*) skip "the program has no code for this processor" ;;
esac
needs_shim
built=$(cd "${top_builddir:-..}" && pwd -P)
compiled=$built/tests/tools/compiled
refuse=$built/tests/tools/refuse
work_in_tmp
"$compiled" "$tmp/map" open || skip "memory cannot become executable here"
made=
trap 'is_script && { rm -f $made; rm -rf "$tmp"; }' 0
trap 'exit 99' HUP INT TERM

# map_of LOG TYPE: the file of the program that has recorded the first event of a type
map_of() {
	echo "/tmp/perf-$("$posixtrace" dump --json -e "$2" "$1" | sed -n 's/.*"pid":\([0-9]*\).*/\1/p' | head -n 1).map"
}
frames() { "$posixtrace" dump -e "$2" "$1" | grep '^    #'; }

# ------------------------------------------------------------------ record --stack
run 0 record -q -o a.ptl --stack=io.open --stack='*.inotify*' -- "$compiled" /tmp/perf-@.map open call
made=$(map_of a.ptl io.open)
run 0 verify a.ptl
check "the log is sound" has out ': sound:'
frames a.ptl io.open >frames
check "a caller of a caller has its name, file and line" grep -q ' callBack (/srv/my app/server.js:12)$' frames
run 0 symbols a.ptl
check "the list has the functions that occur" has out '\[jit\] JS:\*callBack /srv/my app/server.js:12:34$'
check "the list has no other functions" lacks out 'older\|not complete\|Shop'
run 0 dump --symbols -e '*.inotify*' a.ptl
check "the caller of a function has its name" has out ' in int shop.Item.total(int)'
run 0 symbols --json a.ptl
check "a function lacks no file" lacks out '"path":"\[jit\][^}]*"lack"'

# ------------------------------------------------------------------ many functions overlap
cat >many <<-EOF
	#!/bin/sh
	mkfifo go
	"$compiled" /tmp/perf-@.map wait open <go &
	exec 3>go
	until test -s /tmp/perf-\$!.map; do sleep 0.02; done
	echo \$! >pid
	cp /tmp/perf-\$!.map map
	{
		echo "1 7fffffffffffffff JS:*all /all.js:1:2"
		awk 'BEGIN { for (i = 0; i < 20000; i++) printf "%x 7ffffffffffff%03x f%d\\n", 4096 + i, i % 4096, i }'
		cat map
	} >/tmp/perf-\$!.map
	exec 3>&-
	wait
EOF
chmod +x many
run 0 record -q --force -o b.ptl --stack=io.open -- ./many
made="$made /tmp/perf-$(cat pid).map"
frames b.ptl io.open >frames
check "the function is found among functions that overlap" \
	grep -q ' callBack (/srv/my app/server.js:12)$' frames

# ------------------------------------------------------------------ maps that are not used
run 0 record -q --force -o b.ptl --stack=io.open -- "$compiled" "$tmp/map" open
run 0 symbols b.ptl
check "without a map there is no function" lacks out '\[jit\]'
if test "$(id -u)" -eq 0; then
	cat >other <<-EOF
		#!/bin/sh
		"$compiled" /tmp/perf-@.map open wait </dev/null &
		wait
		chown 65534 /tmp/perf-\$!.map
	EOF
	chmod +x other
	run 0 record --force -o c.ptl --stack=io.open -- ./other
	made="$made $(sed -n 's/.*\(\/tmp\/perf-[0-9]*.map\) is not used.*/\1/p' err)"
	check "a map of another user is refused" has err '^posixtrace: /tmp/perf-[0-9]*.map is not used, because it belongs to user 65534: the functions in it have no names$'
	run 0 symbols c.ptl
	check "the functions of a refused map have no names" lacks out '\[jit\]'
fi
cat >old <<-EOF
	#!/bin/sh
	"$compiled" /tmp/perf-@.map open </dev/null &
	wait
	touch -d 2001-01-01 /tmp/perf-\$!.map
	echo \$! >pid
EOF
chmod +x old
run 0 record -q --force -o c.ptl --stack=io.open -- ./old
made="$made /tmp/perf-$(cat pid).map"
run 0 symbols c.ptl
check "a map of a former process is not used" lacks out '\[jit\]'
mkfifo fifo
cat >link <<-EOF
	#!/bin/sh
	ln -s "$tmp/fifo" /tmp/perf-\$\$.map
	echo \$\$ >pid
	exec "$compiled" "$tmp/map" open </dev/null
EOF
chmod +x link
run 0 record -q --force -o c.ptl --stack=io.open -- ./link
made="$made /tmp/perf-$(cat pid).map"
check "a link is not followed" lacks err .

# ------------------------------------------------------------------ attach
start_reading "$compiled" /tmp/perf-@.map wait open
made="$made /tmp/perf-$target.map"
until_true test -s "/tmp/perf-$target.map"
"$posixtrace" attach -q -p "$target" -o d.ptl --stack=io.open >out 2>err 5>&- &
tracer=$!
noted() { "$posixtrace" dump -e posixtrace_descriptor d.ptl 2>/dev/null | grep -q .; }
until_true noted
exec 5>&-
wait "$tracer"
check "the program is well" test "$?" -eq 0
frames d.ptl io.open >frames
check "an attached program has the names, too" grep -q ' callBack (' frames

# A process in a container ends before the recording does, and its container with it.
if unshare -pmf --mount-proc mount -t tmpfs none /tmp 2>/dev/null; then
	start_reading unshare -pmf --mount-proc sh -c 'mount -t tmpfs none /tmp && echo && exec "$0" /tmp/perf-@.map wait call' \
		"$compiled"
	has_map() {
		target=$(cat "/proc/$parent/task/$parent/children" 2>/dev/null)
		target=${target% }
		test -s "/proc/${target:-none}/root/tmp/perf-1.map"
	}
	parent=$target
	until_true has_map
	decoy=
	# The file of another process with this number.
	if test ! -e /tmp/perf-1.map && (set -C && sed 's/shop.Item/decoy/' </proc/"$target"/root/tmp/perf-1.map \
		>/tmp/perf-1.map) 2>/dev/null; then
		decoy=/tmp/perf-1.map
		made="$made $decoy"
	fi
	"$posixtrace" attach -q -p "$target" -o g.ptl --stack='*.inotify*' >out 2>err 5>&- &
	tracer=$!
	noted() { "$posixtrace" dump -e posixtrace_descriptor g.ptl 2>/dev/null | grep -q .; }
	until_true noted
	exec 5>&-
	wait "$tracer"
	check "a process in a container is attached" test "$?" -eq 0
	run 0 dump --symbols -e '*.inotify*' g.ptl
	check "its map is found after the end of the container" has out ' in int shop.Item.total(int)'
	rm -f $decoy
fi

# The folder /tmp of a container is an absolute link.
linked='
	mount -t tmpfs none "$1" && cd "$1" && mkdir -p proc var/tmp && ln -s /var/tmp tmp &&
		mount --rbind /proc proc || exit
	for folder in bin lib lib64 usr; do
		if test -L "/$folder"; then
			cp -P "/$folder" .
		elif test -d "/$folder"; then
			mkdir "$folder" && mount --rbind "/$folder" "$folder" || exit
		fi
	done
	mkdir -p ".$2" && mount --rbind "$2" ".$2" && echo && exec chroot . "$3" /tmp/perf-@.map wait call'
mkdir root
case $built in /tmp/*) linked=false ;; esac
for refused in "" "openat2 ENOSYS"; do
	unshare -pmf --mount-proc sh -c "mount -t tmpfs none root" 2>/dev/null || break
	test "$linked" != false || break
	start_reading unshare -pmf --mount-proc sh -c "$linked" sh "$tmp/root" "$built" "$compiled"
	has_map() {
		target=$(cat "/proc/$parent/task/$parent/children" 2>/dev/null)
		target=${target% }
		test -s "/proc/${target:-none}/root/var/tmp/perf-1.map"
	}
	parent=$target
	until_true has_map
	rm -f g.ptl
	noted() { "$posixtrace" dump -e posixtrace_descriptor g.ptl 2>/dev/null | grep -q .; }
	${refused:+"$refuse" "$refused" --} "$posixtrace" attach -q -p "$target" -o g.ptl \
		--stack='*.inotify*' >out 2>err 5>&- &
	tracer=$!
	until_true noted
	exec 5>&-
	wait "$tracer"
	status=$?
	test "$status" -eq 77 && break # no right to refuse system calls
	check "a process whose /tmp is a link is attached" test "$status" -eq 0
	run 0 dump --symbols -e '*.inotify*' g.ptl
	check "its map is found in its root folder" has out ' in int shop.Item.total(int)'
done

# ------------------------------------------------------------------ jit-PID.dump
start_reading "$compiled" "$tmp/map" dump wait open reload open move open
until_true grep -q dumped "jit-$target.dump"
"$posixtrace" attach -q -p "$target" -o h.ptl --stack=io.open >out 2>err 5>&- &
tracer=$!
noted() { "$posixtrace" dump -e posixtrace_descriptor h.ptl 2>/dev/null | grep -q .; }
until_true noted
exec 5>&-
wait "$tracer"
check "a program with a dump is attached" test "$?" -eq 0
run 0 verify h.ptl
frames h.ptl io.open | sed -n 's/.* \(dumped\|later\) (.*/\1/p' >frames
check "each call has the function that was there at its time" test "$(tr '\n' ' ' <frames)" = "dumped later later "
run 0 symbols --json h.ptl
check "the list has the times" has out '"until_ns":.*"path":"\[jit\] JS:\*later /srv/dump.js:5:6"'
check "it lacks functions without code or without a name" lacks out 'a function'

# ------------------------------------------------------------------ samples
if "$posixtrace" record -q --force --sample 997 -o e.ptl -- "$compiled" /tmp/perf-@.map spin 2>err; then
	map=$(map_of e.ptl cpu.sample)
	made="$made $map"
	run 0 why e.ptl
	check "why names the function that ran" has out '^Cause: .*: running Shop.<locals>.spin (shop.py), in thread'
	run 0 query --csv e.ptl "select distinct function, module from events where name = 'cpu.sample'"
	check "query has the function and the module" has out '^Shop.<locals>.spin,\[jit\]$'
	mv "$map" gone
	run 0 why e.ptl
	check "the log has the names" has out 'running Shop.<locals>.spin (shop.py)'
	run 0 record -q --force --sample 997 --trace none -o f.ptl -- "$compiled" "$tmp/map" dump spin
	run 0 why f.ptl
	check "a function of a dump has its name" has out 'running turn (dump.js)'
	run 0 record -q --force --sample 997 -o f.ptl -- "$compiled" "$tmp/map" spin
	run 0 why f.ptl
	check "without a map why says what ran" has out '^Cause: .*: running code of no file, probably compiled while the program ran, in thread'
else
	check "a refusal has its reason" grep -q 'the kernel' err
fi
finish
