#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# make check-why: programs that are slow for a known reason. posixtrace why names it, and its parts
# equal the programs' own measurements. The load of the machine has no influence: both include it.
. "${0%/*}/../tools/lib.sh"

build=$(cd "${top_builddir:-..}" && pwd)
source=$(cd "${0%/*}" && pwd)
posixtrace=$build/tools/posixtrace/posixtrace
cd "$tmp" || exit 99
unset POSIXTRACE_TRACE LD_PRELOAD
POSIXTRACE_PRELOAD=$build/lib/.libs/libposixtrace-preload.so
export POSIXTRACE_PRELOAD
command -v python3 >/dev/null || skip "python3 is not there"
${CC:-cc} -g -O1 -fno-omit-frame-pointer -pthread -o causes "$source/causes.c" || exit 99
# With a privilege, only tracefs is used. For all else, the check of root records as an ordinary user.
chmod 777 "$tmp"
by_user=
if test "$(id -u)" = 0; then
	by_user='setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set=-all --inh-caps=-all'
	$by_user "$posixtrace" record -q -o probe.ptl true 2>err || {
		echo "perf is used by root, because another user cannot record here: $(cat err)"
		by_user=
	}
fi
by_way() {
	case $way in
	tracefs) POSIXTRACE_KERNEL=$way "$posixtrace" "$@" ;;
	*) POSIXTRACE_KERNEL=$way $by_user "$posixtrace" "$@" ;;
	esac
}
way=perf
by_way record --sched -q --force -o probe.ptl true 2>err ||
	skip "when threads run cannot be recorded here: $(cat err)"
# The ways to record when threads run: without a privilege, and by tracefs if it is permitted.
ways=perf
if POSIXTRACE_KERNEL=tracefs "$posixtrace" record --sched -q --force -o probe.ptl true 2>err &&
	"$posixtrace" dump -e sched.clock probe.ptl | grep -q 'way="tracefs'; then
	ways='perf tracefs'
else
	echo "without tracefs: $(cat err)"
fi

# A slow disk: FUSE needs a privilege, a library and the kernel's consent.
SLOW_FILE=$tmp/disk/slow
export SLOW_FILE
has_disk() {
	pkg-config --exists fuse3 2>/dev/null && mkdir -p disk &&
		${CC:-cc} -o slowfs "$source/slowfs.c" $(pkg-config --cflags --libs fuse3) 2>/dev/null &&
		./slowfs -o allow_other disk 2>err && test -r "$SLOW_FILE"
}
if has_disk; then
	trap 'is_script && { umount "$tmp/disk" 2>/dev/null; rm -rf "$tmp"; }' 0
	disk=yes
else
	disk=
	echo "without the slow disk: libfuse3, root and /dev/fuse are needed: $(cat err)"
fi

# reason NAME KIND END [OPTION]...: the program, the part of its time, and a part of the chain's text.
reason() {
	name=$1 kind=$2 end=$3
	shift 3
	for way in $ways; do
		by_way record --sched --trace default,lock-hold -q --force \
			"$@" -o $name.ptl ./causes $name >measured
		"$posixtrace" why --json --thread subject $name.ptl >answer
		check "$name, $way: why is right" python3 "$source/check_why.py" answer measured "$kind" \
			"$end"
	done
}

reason convoy lock 'held by'
reason starved runnable 'the CPU '
reason inversion lock 'without a CPU'
reason world lock 'sleeping: usleep()'
reason pipes peer 'sleeping: usleep()'
reason child peer 'sleeping: usleep()'
reason sleep sleep 'in sleep_hidden (causes.c'
reason timer sleep 'nanosleep()'
reason busy running 'running'
# Samples: the functions that run, and by the samples that are missing, the page faults.
reason faults fault 'page faults of touch (causes.c)' --sample 4999 --trace alloc
reason sharing running 'running write_line (causes.c)' --sample 999
# A loaded machine may leave the thread without a CPU for most of the time: the answer then has no hint.
by_way record --sched --sample 999 -q --force -o allocator.ptl ./causes allocator >measured
"$posixtrace" why --thread subject allocator.ptl | sed -n 1,4p >lines
if grep -q '^Cause: .*blocked, and no event says why' lines; then
	check "allocator: the hint names it" grep -q '^Hint: .*malloc() and free()' lines
else
	echo "without the lock of the allocator: $(sed -n 2p lines)"
fi
if test -n "$disk"; then
	reason disk file "read of $SLOW_FILE"
	# Privileged: the process behind the disk.
	if test "$ways" != perf; then
		POSIXTRACE_KERNEL=tracefs "$posixtrace" record --sched -q --force -o slow.ptl ./causes disk >measured
		"$posixtrace" why --thread subject slow.ptl >answer
		check "disk: the process behind the disk is named" grep -q \
			'woken by thread [0-9]* of process [0-9]* (slowfs), which was not recorded' answer
	fi
fi

# Neither way is permitted: the answers of record and why say what is missing, and how to continue.
if ${CC:-cc} -o denied "$source/denied.c" 2>/dev/null; then
	$by_user ./denied "$posixtrace" record --sched -q --force -o denied.ptl true 2>err
	check "nothing permitted: record --sched fails with 125" test $? = 125
	check "it names the setting" grep -q '/proc/sys/kernel/perf_event_paranoid' err
	check "it says what works" grep -q 'without --sched and --sample' err
	$by_user ./denied "$posixtrace" record -q --force -o denied.ptl ./causes sleep >measured
	"$posixtrace" why --thread subject denied.ptl >answer
	check "why names the cause all the same" grep -q '^Cause: .*sleeping: .* in sleep_hidden (causes.c' answer
	check "why names the missing data" grep -q 'The log does not say when threads had a CPU' answer
else
	echo "without the case in which nothing is permitted: seccomp is needed"
fi

# Each wait of waits.c, also in a log that does not say when threads had a CPU: the first three lines name
# its end.
${CC:-cc} -g -O1 -fno-omit-frame-pointer -pthread -o waits "$source/waits.c" || exit 99
recorded() {
	case $way in
	none) set -- record "$@" ;;
	*) set -- record --sched "$@" ;;
	esac
	by_way "$@"
}
# answer_of NAME: the first three lines of the answer. On a loaded machine, the greatest cause may be that a
# thread had no CPU, which only the kernel's tracing shows. The cause among the other parts follows then.
answer_of() {
	"$posixtrace" why $1.ptl | sed -n 1,3p >lines
	if grep -q '^Cause: .*ready to run, but without a CPU' lines; then
		"$posixtrace" why --json $1.ptl >answer
		python3 "$source/check_why.py" answer >>lines
	fi
}
# wait_for NAME TEXT...
wait_for() {
	name=$1
	shift
	for way in none $ways; do
		recorded -q --force -o $name.ptl ./waits $name <&9
		answer_of $name
		for text; do
			check "$name, $way: the answer has: $text" grep -q -e "$text" lines
		done
	done
}
mkfifo never
exec 9<>never
maker='by thread [0-9]* (maker) -> sleeping: usleep() in run_maker'
child='thread [0-9]* of process [0-9]*[^>]* -> sleeping: usleep() in start_process'
for name in sem sem-timed; do
	wait_for $name 'waiting for sem "semaphore"' "$maker"
done
wait_for sem-vain 'Cause: .*waiting in vain for sem "semaphore" until a time limit in wait_semaphore_in_vain'
wait_for sem-shared 'waiting for sem 0x' "$child"
wait_for sem-named 'waiting for sem "/posixtrace-why-' "$child"
wait_for barrier 'waiting for barrier' '(maker) -> sleeping: usleep() in run_maker'
wait_for futex 'waiting for futex "word"' "$maker"
wait_for join 'waiting for the end of a thread' '(maker) -> sleeping: usleep() in run_maker'
for name in waitpid waitid; do
	wait_for $name 'waiting for the end of process' "$child"
done
wait_for sigwait 'waiting for SIGUSR1 in sigwait()' "$maker"
wait_for sigwaitinfo 'waiting for SIGUSR1 in sigwaitinfo()' "sent by $child"
wait_for sigtimedwait 'waiting for SIGUSR1 in sigtimedwait()' "$maker"
wait_for sig-vain 'Cause: .*waiting in vain for a signal in sigtimedwait() until a time limit'
wait_for sig-child 'waiting for SIGCHLD in sigwaitinfo()' "$child"
wait_for sig-alarm 'waiting for SIGALRM in sigwaitinfo()' 'sent by a timer'
wait_for sig-timer 'waiting for SIGALRM in sigwait()' 'probably sent by a timer that the process had set to '
wait_for pause 'waiting for a signal in pause()' "$maker"
wait_for pause-alarm 'waiting for a signal in pause()' 'probably sent by a timer that the process had set to '
wait_for sigsuspend 'waiting for a signal in sigsuspend()' "$child"
wait_for pipe 'read on descriptor [0-9]* (pipe)' "$maker"
wait_for pair 'read on descriptor [0-9]* (pair of sockets)' "$child"
wait_for eventfd 'read on descriptor [0-9]* (eventfd)' "$maker"
wait_for timerfd 'Cause: .*sleeping until a timer expires in read() of descriptor [0-9]* (timerfd)'
wait_for input 'read on descriptor 0 (pipe)' "$maker"
wait_for mq-receive 'waiting for a message of message queue /posixtrace-why-' "$child"
wait_for mq-send 'waiting for room in message queue /posixtrace-why-' "$child"
wait_for flock 'waiting for the lock of /tmp/posixtrace-why-[0-9]* in flock()' \
	'held by thread [0-9]* (maker) -> sleeping: usleep() in hold_file'
wait_for fcntl 'waiting for the lock of /tmp/posixtrace-why-[0-9]* in fcntl()' \
	'held by thread [0-9]* of process [0-9]*[^>]* -> sleeping: usleep() in lock_record'
wait_for poll 'waiting for input in poll()' "$maker"
wait_for select 'waiting for input in select()' "$maker"
wait_for epoll 'Cause: .*sleeping until a timer expires (timerfd) in epoll()'
wait_for poll-vain 'Cause: .*sleeping: poll() in poll_in_vain'
wait_for nanosleep 'Cause: .*sleeping: nanosleep() in sleep_on_purpose'
wait_for accept 'waiting for a client in accept() on descriptor' "$child"
wait_for connect-none 'at the end: waiting in vain for the connection to 127.0.0.1:[0-9]* in connect(): there was no'
wait_for accept-none 'until SIGTERM ended the process' 'probably it waited for a client'
wait_for stdin 'in a call that did not return' 'until SIGTERM ended the process'

# Threads that are slow because of a group of others, and loops with a rhythm: the first three lines name
# the group. A loaded machine may leave the thread without a CPU for most of the time. Then any line of the
# page may name it.
${CC:-cc} -g -O1 -fno-omit-frame-pointer -pthread -o groups "$source/groups.c" || exit 99
# The python3 of the PATH may be a script, or in a folder of root.
python=$(python3 -c 'import sys; print(sys.executable)')
$by_user test -x "$python" || python=/usr/bin/python3
# first_lines: the lines of the page that should name the cause.
first_lines() {
	sed -n 1,3p page >lines
	! grep -q '^Cause: .*ready to run, but without a CPU' lines || cp page lines
}
# group NAME COMMAND TEXT...: the first lines have each text. If a text begins with !, the page lacks it.
group() {
	name=$1 command=$2
	shift 2
	for way in none $ways; do
		# shellcheck disable=SC2086 # the words of the command
		recorded -q --force --trace default,lock-hold -o $name.ptl $command <&9
		"$posixtrace" why $name.ptl >page
		first_lines
		for text; do
			case $text in
			!*) check "$name, $way: the page lacks: ${text#!}" test -z "$(grep -e "${text#!}" page)" ;;
			*) check "$name, $way: the answer has: $text" grep -q -e "$text" lines ;;
			esac
		done
	done
}
workers='in a queue, because all 2 workers were busy'
taken='taken later by thread [0-9]* (worker) -> sleeping: usleep() in work_slowly'
group pool-own './groups pool-own' "$workers" "$taken"
group pool-shared './groups pool-shared' "$workers" "$taken"
group pool-idle './groups pool-idle' '!workers' '!Workers'
group pool-pipe './groups pool-pipe' "$workers" "$taken"
group pool-dispatched './groups pool-dispatched' "probably $workers" "$taken"
group pool-turns './groups pool-turns' \
	'probably in a queue, because its worker was busy (the thread that waits for work in serve_own' "$taken"
group pool-answers './groups pool-answers' 'sleeping: usleep() in work_slowly' '!workers' '!Workers'
for name in server-accept server-poll; do
	group $name "./groups $name" 'meanwhile all 2 workers were busy'
	"$posixtrace" why --thread "$("$posixtrace" dump -e process.start $name.ptl | awk '{ print $3; exit }')" \
		$name.ptl >page
	first_lines
	for text in "$workers (the processes that accept connections in serve_clients" \
		'taken later by thread [0-9]* of process [0-9]*[^>]* -> sleeping: usleep() in work_slowly'; do
		check "$name: the answer of the client has: $text" grep -q -e "$text" lines
	done
done
group pool-python "$python $source/groups.py pool" "$workers" 'taken later by thread [0-9]* -> '
group load-python "$python $source/groups.py load" 'meanwhile all 2 workers were busy'
group writer-starved './groups writer-starved' \
	'waiting as a writer for rwlock_write "table" in write_table (groups.c:[0-9]*), while readers that came later' \
	'during the whole wait, 4 readers held it [0-9]* times: thread [0-9]* (reader) for'
for way in none $ways; do
	recorded -q --force -o default.ptl ./groups writer-starved
	answer_of default
	check "writer-starved, $way: without lock-hold, the answer has the number of readers" grep -q -e \
		'waiting for rwlock_write "table" in write_table .*readers* held it when the wait began' lines
done
group writer-held './groups writer-held' '!as a writer' 'sleeping: usleep() in work_slowly'
group gil-python "$python $source/groups.py gil" \
	'waiting for the lock of the Python interpreter (GIL)' 'held by thread [0-9]*'
group drift './groups drift' 'the loop asked for 40.00ms each time, but its period was [0-9.]*ms on average'
group drift-poll './groups drift-poll' 'sleeping until a time limit in poll()' \
	'the loop asked for 40.00ms each time, but its period was [0-9.]*ms on average'
group drift-python "$python $source/groups.py drift" \
	'the loop asked for about 4[0-9.]*ms each time, but its period was [0-9.]*ms'
group throttle './groups throttle' 'sleeping: poll() in throttle' '!the loop asked for'
group keep-time './groups keep-time' '!drifts'
group miss-ticks './groups miss-ticks' 'sleeping: poll()' '!drifts'
"$posixtrace" why miss-ticks.ptl >page
check "miss-ticks: the page has the expirations without a read of their own" grep -q \
	'^Timer: the timer expired every 10.00ms, but the thread read it every [0-9.]*ms on average: about [0-9]* of' page

# A process that is not recorded writes slowly. The recorder sees a wait of a second from outside, and the
# processes that may end it. It does not see a shorter wait, and the answer says so.
for way in none $ways; do
	rm -f started
	$by_user ./groups write-late |
		recorded -q --force -o unseen.ptl ./groups read-input
	answer_of unseen
	check "unseen writer, $way: its process is named" grep -q -e \
		'by .*process [0-9]* (groups), which was not recorded' lines
	test $way != tracefs || continue
	rm -f started
	$by_user ./groups write-soon |
		recorded -q --force -o unseen.ptl ./groups read-input
	"$posixtrace" why unseen.ptl >page
	check "unseen writer, $way: a short wait has none" grep -q \
		'^Peer: the log does not show .*record --sched' page
done

# Waits that nothing ends: the program is killed when the log has the last event of each thread.
has_events() {
	test "$("$posixtrace" dump -e posixtrace_blocked $name.ptl 2>/dev/null | wc -l)" -ge "$events"
}
# stuck NAME EVENTS TEXT...
stuck() {
	name=stuck-$1 events=$2
	shift 2
	for way in none $(test $name = stuck-pipes || echo $ways); do
		rm -f $name.ptl
		recorded -q --force --trace default,lock-hold -o $name.ptl ./waits $name <&9 &
		recorder=$!
		until has_events; do
			kill -0 $recorder 2>/dev/null || break
			sleep 0.1
		done
		all=$("$posixtrace" dump -e posixtrace_blocked $name.ptl 2>/dev/null |
			sed -n 's/.* posixtrace_blocked pid=\([0-9]*\) .*/\1/p' | sort -u)
		# A process whose peer ends first would return from its call. A stop changes the states of threads.
		test $way != none || kill -STOP $all
		kill -KILL $all
		wait $recorder 2>/dev/null
		answer_of $name
		for text; do
			check "$name, $way: the answer has: $text" grep -q -e "$text" lines
		done
	done
}
stuck crosswise 2 '^Deadlock: ' '(waits) holds mutex "left", acquired in stuck_crosswise (waits.c:[0-9]*), and waits for mutex "right"' \
	'(maker) holds mutex "right", acquired in lock_right_first (waits.c:[0-9]*), and waits for mutex "left"'
stuck twice 1 '^Deadlock: .* holds mutex "left", acquired in stuck_twice .* waits for the same lock'
stuck table 2 '^Deadlock: .* holds rwlock "table", acquired in stuck_table' 'waits for rwlock "table" in write_table'
stuck join 2 '^Deadlock: .* holds mutex "left", and waits for the end of thread' '(maker) waits for mutex "left"'
# The second note of each wait shows both waits at one time. A user who may not see the descriptors of all
# processes cannot exclude another writer.
stuck pipes 4 '^\(Deadlock\|Possible deadlock\): .* waits for data in a pipe into which only process [0-9]* could write'
stuck pipe 1 'waiting for data in read() on descriptor [0-9]* (pipe:.*only this process itself has the pipe open'
stuck condition 1 'the futex "changed+0x[0-9a-f]*", until SIGKILL ended the process'
stuck semaphore 1 'the futex "semaphore", until SIGKILL ended the process'
stuck accept 1 'waiting for a client in accept() on descriptor [0-9]* (socket at 127.0.0.1:[0-9]*), until SIGKILL'
stuck receive 1 'waiting for data in recvfrom() on descriptor [0-9]* (127.0.0.1:[0-9]*, its peer), until SIGKILL'
finish
