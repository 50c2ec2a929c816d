#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The shim's family process: the tree of a family is in the log, with every way to create a child.
. "${0%/*}/lib.sh"

child() { sed -n "s/^$1 //p" "$tmp/out"; }
# The number of events of a call of clone() whose child shares the memory.
case $(uname -m) in x86_64 | aarch64) shared=1 ;; *) shared=0 ;; esac
true=/usr/bin/true
test -x $true || skip "no true"

shim process "$probe" process "$true" x
check "the program works as without the shim" exits 0
check "the event of a program's start has its process, parent and name" shows "process.start pid=[0-9]+ parent=$$ program=$probe\$" 1
me=$(sed -n 's/.* process.start pid=\([0-9]*\) .*probe$/\1/p' "$tmp/events")
pid=$(child fork)
check "fork, in the parent" shows "^$me .* process.fork .* child=$pid error=0 flags=0x[0-9a-f]*\$" 1
check "fork, in the child" shows "^$pid .* process.child pid=$pid parent=$me\$" 1
check "exit" shows "^$pid .* process.exit pid=$pid status=3 by=exit\$" 1
check "the end after it" shows "^$pid .* process.end pid=$pid\$" 1
check "waitpid" shows "process.wait .* child=$pid error=0 which=$pid options=0x0 status=0x300 known=1\$" 1
check "its end, seen by the parent" shows "^$me .* posixtrace_ended pid=$pid status=exited with 3 code=3 signal=0 core=" 1
pid=$(child vfork)
check "vfork, in the parent" shows "^$me .* process.vfork .* child=$pid error=0 flags=0x0\$" 1
check "vfork, in the child" shows "^$me .* process.vchild pid=$pid parent=$me\$" 1
check "exec, before it" shows "^$me .* process.exec pid=$pid fd=-1 path=$true arguments=$true x\$" 1
check "the program that was executed" shows "^$pid .* process.start pid=$pid parent=$me program=$true\$" 1
pid=$(child failed)
check "a program that is not there" shows "process.exec pid=$pid fd=-1 path=/no/such/program arguments=no such\$" 1
check "it failed" shows "process.exec_failed pid=$pid error=2\$" 1
check "_exit() is recorded" shows "process.exit pid=$pid status=5 by=_exit\$" 1
pid=$(child spawn)
check "posix_spawn" shows "process.spawn .* child=$pid error=0 path=$true arguments=$true x\$" 1
check "posix_spawn, the program" shows "^$pid .* process.start pid=$pid parent=$me " 1
check "posix_spawnp that fails" shows 'process.spawn .* child=-1 error=2 path=no-such-program ' 1
check "system" shows 'process.system .* status=0x700 error=0 command=exit 7$' 1
check "popen" shows 'process.popen .* error=0 fd=[0-9]+ mode=r command=exit 8$' 1
check "pclose" shows 'process.pclose .* status=0x800 error=0 fd=[0-9]+$' 1
check "the shells of both" shows "process.start pid=[0-9]+ parent=$me program=/bin/sh\$" 2
pid=$(child waitid)
check "waitid" shows "process.wait .* child=$pid error=0 which=$pid options=0x4 status=0x900 known=1\$" 1
check "waitid() reports the end of the child" shows "^$me .* posixtrace_ended pid=$pid status=exited with 9 code=9 " 1
check "no children are left" shows 'process.wait .* child=-1 error=10 ' 1
check "nothing was lost" shows shim_lost 0

shim process "$probe" vfork
check "vfork leaves the stack as it was" exits 0
check "51 of them" shows 'process.vfork .* error=0 flags=0x0$' 51

# Children that the C library does not know are processes as well.
shim process "$probe" clone
check "clone leaves the program as it was" exits 0
me=$(sed -n 's/.* process.start pid=\([0-9]*\) .*probe$/\1/p' "$tmp/events")
pid=$(child raw)
check "clone by syscall, in the parent" shows "^$me .* process.fork .* child=$pid error=0 flags=0x[0-9a-f]*\$" 1
check "clone by syscall, in the child" shows "^$pid .* process.child pid=$pid parent=$me\$" 1
check "the end of the child is recorded" shows "^$pid .* process.exit pid=$pid status=3 by=exit\$" 1
pid=$(child clone)
check "clone with a stack, in the parent" shows "^$me .* process.fork .* child=$pid error=0 flags=0x[0-9a-f]*\$" 1
check "clone with a stack, in the child" shows "^$pid .* process.child pid=$pid parent=$me\$" 1
pid=$(child shared)
check "clone with shared memory, in the parent" \
	shows "^$me .* process.vfork .* child=$pid error=0 flags=0x4111\$" "$shared"
check "clone with shared memory, in the child" \
	shows "^$me .* process.vchild pid=$pid parent=$me\$" "$shared"
pid=$(child tls)
check "clone with other thread-local memory, in the parent" \
	shows "^$me .* process.fork .* child=$pid error=0 flags=0x80011\$" 1
check "clone with other thread-local memory has no event of the child" \
	shows "process.child pid=$pid " 0
pid=$(child ended)
check "pidfd_open by syscall" shows "process.pidfd_open .* error=0 fd=[0-9]+ pid=$pid flags=0x0\$" 1
check "pidfd_getfd by syscall" shows 'process.pidfd_getfd .* error=9 fd=-1 process=[0-9]+ of=77$' 1
check "pidfd_send_signal by syscall" shows 'process.pidfd_send_signal .* error=0 fd=[0-9]+ signal=9$' 1
check "a clone that fails" shows 'process.fork .* child=-1 error=22 flags=0x20200$' 1

# is_counted [TYPE]: events are lost, because a child in the memory of a thread has no rings.
is_counted() {
	"$posixtrace" stat "$log" 2>/dev/null | grep -q "${1-} (no place for the thread [1-9]"
}

# An emulator of programs may know no such children.
if test -z "${PTX_LACKS-}" || "$probe" shares >"$tmp/out" 2>&1; then
	shim process,io "$probe" shares
	check "children that share something leave the program as it was" exits 0
	me=$(sed -n 's/.* process.start pid=\([0-9]*\) .*probe$/\1/p' "$tmp/events")
	for kind in files=0x411 folder=0x4611; do
		pid=$(child "${kind%=*}")
		check "${kind%=*}, in the parent" \
			shows "^$me .* process.fork .* child=$pid error=0 flags=${kind#*=}\$" 1
		check "${kind%=*}, in the child" shows "^$pid .* process.child pid=$pid parent=$me\$" 1
		check "${kind%=*}, a call" shows "^$pid .* io.open .* error=2 .*path=/no/such/file\$" 1
	done
	for kind in sleeping=0x4111 all=0x4f11; do
		pid=$(child "${kind%=*}")
		check "${kind%=*}, in the parent" \
			shows "^$me .* process.vfork .* child=$pid error=0 flags=${kind#*=}\$" "$shared"
		check "${kind%=*}, in the child" shows "^$me .* process.vchild pid=$pid parent=$me\$" "$shared"
	done
	pid=$(child memory)
	check "shared memory, in the parent" \
		shows "^$me .* process.fork .* child=$pid error=0 flags=0x111\$" "$shared"
	pid=$(child bare)
	check "no thread-local memory, in the parent" \
		shows "^$me .* process.vfork .* child=$pid error=0 flags=0x4311\$" "$shared"
	check "no thread-local memory, in the child" \
		shows "^$me .* process.vchild pid=$pid parent=$me\$" "$shared"
	child clone3 >"$tmp/pids"
	flags=0x11
	while read -r pid; do
		check "clone3, in the parent" \
			shows "^$me .* process.fork .* child=$pid error=0 flags=$flags\$" 1
		check "clone3, in the child" shows "^$pid .* process.child pid=$pid parent=$me\$" 1
		flags=0x411
	done <"$tmp/pids"
	check "both of them" has_lines pids 2
	check "a clone with flags that fail" \
		shows 'process.vfork .* child=-1 error=22 flags=0x24b11$' "$shared"
	check "the calls of the child in shared memory are counted" is_counted

	# Children that a program makes by syscall(), on stacks of their own.
	shim process,io "$probe" raw
	check "children by syscall leave the program as it was" exits 0
	me=$(sed -n 's/.* process.start pid=\([0-9]*\) .*probe$/\1/p' "$tmp/events")
	for kind in copy=0x11 copy3=0x11 beside=0x111 beside3=0x111 thread=0x250f00 thread3=0x250f00; do
		pid=$(child "${kind%=*}")
		check "${kind%=*} by syscall, in the parent" \
			shows "^$me .* process.fork .* child=$pid error=0 flags=${kind#*=}\$" 1
	done
	for kind in copy copy3; do
		pid=$(child $kind)
		check "$kind by syscall, in the child" shows "^$pid .* process.child pid=$pid parent=$me\$" 1
		check "$kind by syscall, a call" shows "^$pid .* io.open .* error=2 .*path=/no/such/file\$" 1
	done
	for kind in sleeping sleeping3; do
		pid=$(child $kind)
		check "$kind by syscall, in the parent" \
			shows "^$me .* process.vfork .* child=$pid error=0 flags=0x4111\$" 1
		check "$kind by syscall, in the child" shows "^$me .* process.vchild pid=$pid parent=$me\$" 1
	done
	for kind in copy copy3 beside beside3 sleeping sleeping3; do
		check "the end of $kind by syscall" \
			shows "^$me .* posixtrace_ended pid=$(child $kind) status=exited with 6 " 1
	done
	check "a call of each child whose parent sleeps" shows "^$me .* io.open .*path=/no/such/file\$" 2
	check "calls of the parent" shows "^$me .* io.open .*path=/no/such/folder/file\$" 8
	check "a call by syscall that fails" shows 'process.fork .* child=-1 error=22 flags=0x10100$' 1
	check "the calls of children beside their parent are counted" is_counted io.open
	"$posixtrace" record -o "$log" --trace process,io "$probe" raw >"$tmp/out" 2>"$tmp/err"
	check "the recorder says that they are not recorded" \
		has err '^posixtrace: 4 children use the thread-local memory of their parent, so their calls'
	check "a thread is no process" has err '^posixtrace: 7 processes: 1 exited with 0, 6 exited with 6'

	# A child in the thread-local memory of its parent changes nothing of the parent's.
	shim process,io,signal "$probe" guests
	check "children in the memory of a thread leave the program as it was" exits 0
	me=$(sed -n 's/.* process.start pid=\([0-9]*\) .*probe$/\1/p' "$tmp/events")
	check "the calls of the parent are recorded" shows "^$me .* io.open .* error=2 .*path=/no/such/file\$" 2
	check "a child that shares the memory has no event of vfork()" shows 'process.v(child|fork) ' 0
	check "a handler of the parent is recorded" shows "^$me .* signal.enter " 1
	check "a handler of a child is not recorded" shows 'signal.enter ' 1
	check "the calls of a child with a filter are not recorded" shows 'io.open .*path=/no/such/folder/file$' 0
	check "the calls of a child with a filter are counted" is_counted io.open

	shim process,io "$probe" filtered-guest
	check "a child in the memory of a thread with a filter leaves the program as it was" exits 0
	check "the thread is traced before" shows 'io.open .*path=/no/such/file$' 1
	check "the thread is traced after it has a filter" shows 'io.open .*path=/no/such/folder/file$' 1
	check "the calls of a child with shared memory are counted" is_counted io.open

	# Neither do its trace points damage the events of the parent.
	"$posixtrace" record -q -s 8M -o "$log" --trace process "$probe" records-beside >"$tmp/out" 2>"$tmp/err"
	status=$?
	check "children that record events beside their parent leave the program as it was" exits 0
	"$posixtrace" stat "$log" >"$tmp/events" 2>/dev/null
	for each in first own last; do
		check "the parent has its events: $each" \
			test "$("$posixtrace" dump -e "probe.$each" "$log" | wc -l)" -eq 20000
	done
	check "the events of the child are counted" shows 'probe.guest \(no place for the thread 20000\)'
	check "the losses of the account are complete" shows '^account  *called ([0-9]+) .* lost 20000 '

	# A child that inherits no stream has an arena of its own; it shares the descriptors nevertheless.
	LD_PRELOAD=$shim "$posixtrace" record --no-follow --trace process,io -q -o "$log" "$probe" shares >"$tmp/out" 2>"$tmp/err"
	status=$?
	check "children that are not traced leave the program as it was" exits 0
else
	echo "SKIP: children that share something: clone() makes none here"
fi

shim process "$probe" closes "$true"
check "a child that closed all descriptors is traced when it executes a program" \
	shows "process.start .* program=$true\$" 1
check "into the same log" test ! -e "$log.old"

# The process has lost the lock on its log, but the log is its own until it ends.
shim process "$probe" closes-own "$true"
check "a program that closed all descriptors runs" exits 0
check "its log has all of its events" shows 'process.wait ' 1
check "its log has the end of the program" shows 'process.end ' 1
check "the log of its child has another name" test -e "$log.2" -a ! -e "$log.old"

# The link in the runtime folder has the number of the first process, which has ended then.
"$posixtrace" record -q --wait -o "$log" --trace process "$probe" daemon "$true" >"$tmp/out" 2>"$tmp/err"
status=$?
"$decode" "$log" >"$tmp/events" 2>"$tmp/why"
check "a daemon works as without the shim" exits 0
check "its programs are traced, although all its ancestors have ended" \
	shows "process.start .* program=$true\$" 2

# A process with the number of a member that has ended is another process. With namespaces of
# process ids, a new process can get this number at once.
full() { echo "$(cd "${1%/*}" && pwd)/${1##*/}"; }
cat >"$tmp/reuse.sh" <<'EOF'
cd "$1" || exit
echo '>begun; until test -e stop; do sleep 0.05; done' >waits
shim=$2 posixtrace=$3 probe=$4
"$posixtrace" record -q --wait -o reuse --trace process "$probe" daemon /bin/sh waits >child &
for try in $(seq 600); do
	test -e begun && break
	sleep 0.05
done
member=$(sed -n 's/^daemon //p' child)
sleep 0.1
echo $((member - 1)) >/proc/sys/kernel/ns_last_pid || exit
LD_PRELOAD=$shim /usr/bin/true other &
test $! -eq "$member" && echo reused
wait $!
>stop
wait
"$posixtrace" dump reuse
EOF
if unshare --pid --fork --mount-proc sh "$tmp/reuse.sh" "$tmp" "$shim" "$(full "$posixtrace")" "$probe" \
	>"$tmp/reused" 2>"$tmp/err" && grep -q '^reused' "$tmp/reused"; then
	check "a daemon of a namespace is traced" has reused 'process.start.*program="/bin/sh"'
	check "another process with the number of a member is not" lacks reused 'program="/usr/bin/true"'
fi

# The kernel makes no user namespace for a process with several threads.
if unshare -Ur true 2>/dev/null; then
	shim process unshare -Urf "$probe" vfork
	check "a program with a log of its own gets a user namespace" exits 0
	check "the program in the user namespace is traced" shows 'process.vfork .* error=0 flags=0x0$' 51
	rm -f "$log"*
	run 0 record -q -o "$log" -- unshare -Ur "$true"
fi

shim process "$probe" nested
check "a child that calls vfork() changes nothing of its parent's call" shows \
	"process.vfork time=([2-9][0-9]{7}|[0-9]{9,}) child=$(child outer) error=0 flags=0x0\$" 1

# An emulator may have threads of its own.
if "$probe" alone plain; then
	shim process "$probe" alone
	check "the thread of the library pauses only if it must" exits 0
fi
shim process "$probe" alone-cancelled
check "it does not stay paused if the caller is cancelled" exits 0

shim process "$probe" exec "$probe"
check "each program of a process has its log" test -s "$log.2"
check "the first log has the event of the exec" shows "process.exec .* path=$probe arguments=$probe a b c\$" 1
check "memory that is not there is not looked at" shows 'process.exec pid=[0-9]+ fd=-1 path= arguments=' 1
check "failed calls of exec are recorded" shows 'process.exec_failed .* error=14$' 10

# Programs that run at once and share a name of a log have a log each.
rm -f "$log"*
mkfifo "$tmp/go"
exec 9<>"$tmp/go"
for n in 1 2 3 4 5; do
	LD_PRELOAD=$shim POSIXTRACE_OPTIONS="-v -o $log --trace=io" sh -c 'read line' <"$tmp/go" &
done
logs() { ls "$tmp" | grep -c '^log\(\.[2-5]\)*$'; }
has_logs() { test "$(logs)" -eq "$1"; }
until_true() {
	for try in $(seq 600); do
		"$@" && return 0
		sleep 0.05
	done
	return 1
}
check "each has a log" until_true has_logs 5
check "none took the place of another's" test ! -e "$log.old"
seq 5 >&9
wait
exec 9>&-
for each in "$log" "$log.2" "$log.3" "$log.4" "$log.5"; do
	(log=$each && until_complete)
	check "${each#"$tmp/"} is sound" "$posixtrace" verify "$each"
	"$decode" "$each" >>"$tmp/all" 2>>"$tmp/why"
done

finish
