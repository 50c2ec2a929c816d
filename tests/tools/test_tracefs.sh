#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# posixtrace record --sched by the kernel's tracing (tracefs): who woke a thread, which thread got the CPU,
# and no instance that remains. If tracefs is not mounted, the suite mounts it in a mount namespace of its
# own. Skipped where that is not permitted.
mount_tracefs='mount -t tracefs nodev /sys/kernel/tracing 2>/dev/null'
if test -z "${PTX_OWN_MOUNTS-}" && ! grep -q ' tracefs ' /proc/mounts &&
	unshare -m sh -c "$mount_tracefs" 2>/dev/null; then
	PTX_OWN_MOUNTS=1
	export PTX_OWN_MOUNTS
	exec unshare -m sh -c "$mount_tracefs"' && exec sh "$1"' - "$0"
fi
. "${0%/*}/lib.sh"
. "${0%/*}/targets.sh"

work_in_tmp
count_of() { "$posixtrace" dump -e "$2" "$1" | wc -l; }

# The way is in the log, whichever it is.
"$posixtrace" record --sched -q -o way.ptl true 2>err || skip "the kernel does not permit --sched: $(cat err)"
"$posixtrace" dump -e sched.clock way.ptl >out
check "the log says by which way" has out 'way="\(tracefs\|perf_event_open\)'
if POSIXTRACE_KERNEL=perf "$posixtrace" record --sched -q -o perf.ptl true 2>err; then
	"$posixtrace" dump -e sched.clock perf.ptl >out
	check "a wish for the other way is obeyed" has out 'way="perf_event_open'
	check "it does not know who woke a thread" test "$(count_of perf.ptl sched.wake)" = 0
fi
check "without a wish, switches are complete" sh -c '"$1" dump -e sched.clock way.ptl | grep -q perf_event_open ||
	! POSIXTRACE_KERNEL=perf "$1" record --sched -q -o p.ptl true 2>err' - "$posixtrace"
POSIXTRACE_KERNEL=tracefs
export POSIXTRACE_KERNEL
run 0 doctor
grep -q '^works  *tracefs' out || skip "tracefs: $(grep '^[a-z]*  *tracefs' out)"
tracing=$(awk '$3 == "tracefs" { print $2; exit }' /proc/mounts)
# has_instance PID: there is an instance of this process.
has_instance() { ls "$tracing/instances" | grep -q "^posixtrace-$1-"; }
has_none() { ! has_instance "$1"; }

# A reader of a pipe is woken by its writer, which is not traced.
mkfifo fifo
cat >writer <<'EOF'
exec >fifo
for i in 1 2 3; do sleep 0.05; echo line; done
EOF
sh writer &
writer=$!
"$posixtrace" record --sched -q -o a.ptl cat fifo >/dev/null 2>err &
recorder=$!
wait $recorder
check "record succeeds" test $? = 0
wait $writer
check "no instance remains" has_none $recorder
run 0 verify a.ptl
check "the account is exact" has out ': called \([0-9]*\) = reported \1 + unread 0 + lost 0$'
"$posixtrace" dump -e sched.wake --where "by_tid == $writer && context == \"thread\"" a.ptl >out
check "the writer woke the reader" test "$(lines out)" -ge 2
check "its name is there" has out 'by="sh"'
"$posixtrace" dump -e sched.out a.ptl >out
check "a thread that leaves a CPU names the next one" has out 'next_pid=[0-9]* next_tid=[0-9]* next="'
"$posixtrace" dump -e sched.in a.ptl >out
check "a thread that gets a CPU names the one before it" has out 'prev_pid=[0-9]* prev_tid=[0-9]* prev="'
"$posixtrace" dump -e sched.out a.ptl >out
check "the end has its state" has out 'state=\(dead\|zombie\)'
check "the end of the thread follows" test "$(count_of a.ptl sched.exit)" = 1
run 0 why a.ptl
check "why names the waker of another process" \
	has out "woken by thread $writer of process $writer (sh), which was not recorded"

# A traced waker: the chain continues in its thread, whose states agree.
run 0 record --sched -o b.ptl sh -c 'sleep 0.1 | cat'
run 0 verify b.ptl
check "a switch that the kernel did not record is no lost event" has out 'lost 0$'
if command -v python3 >/dev/null; then
	"$posixtrace" dump --json a.ptl >one
	"$posixtrace" dump --json b.ptl >two
	check "only traced threads have events; sched.gap has the place of each switch that is missing" \
		python3 - one two <<'EOF'
import json, sys
for name in sys.argv[1:]:
    state = {}
    gap = {}
    for line in open(name):
        e = json.loads(line)
        if not e["event"].startswith("sched."):
            continue
        assert e["pid"] > 0 and e["tid"] > 0, line
        if e["event"] == "sched.gap":
            assert e["tid"] not in gap, line
            gap[e["tid"]] = e
        elif e["event"] in ("sched.in", "sched.out"):
            is_missing = state.get(e["tid"]) == e["event"]
            assert is_missing == (e["tid"] in gap), line
            if is_missing:
                missing = gap.pop(e["tid"])["labels"]["missing"]
                assert missing != e["event"][len("sched."):], (missing, line)
            state[e["tid"]] = e["event"]
    assert state and not gap
EOF
fi

# --no-follow: only the process itself.
run 0 record --sched --no-follow -o n.ptl sh -c 'sleep 0.01; true'
"$posixtrace" dump -e 'sched.*' --fields pid n.ptl | sort -u >out
check "without its children" has_lines out 1

# attach: a process that runs already.
# It runs until the recorder has an instance of the kernel's tracing, and then wakes up often and ends.
sh -c 'until test -e attached; do sleep 0.05; done; exec sleep 1' &
sleeper=$!
"$posixtrace" attach -p $sleeper --sched -o p.ptl >out 2>err &
tracer=$!
until has_instance $tracer || ! kill -0 $tracer; do sleep 0.05; done 2>/dev/null
: >attached
wait $sleeper
wait $tracer
check "attach ends with the process" test $? -eq 0
run 0 verify p.ptl
check "its wake-up is there" test "$(count_of p.ptl sched.wake)" -ge 1
check "its end, too" test "$(count_of p.ptl sched.exit)" = 1
run 2 attach -p $$ --sched --policy loop -o none.ptl
check "a log that overwrites has no place for them" has err 'never full'

# --kernel: events with the fields that the kernel describes.
run 0 record --kernel page_fault_user --kernel 'sched:sched_process_e*' -o kernel.ptl sh -c 'exit 0'
run 0 verify kernel.ptl
check "the account is exact" has out ': called \([0-9]*\) = reported \1 + unread 0 + lost 0$'
"$posixtrace" dump -e exceptions:page_fault_user kernel.ptl >out
check "page faults have their fields" has out 'cpu=[0-9]* address=0x[0-9a-f]* ip=0x[0-9a-f]* error_code='
check "a pattern without a system is one of names" test "$(lines out)" -ge 5
"$posixtrace" dump -e 'sched:*' kernel.ptl >out
check "the execution of the program is there, with a text" has out 'sched:sched_process_exec .*filename="/.*sh"'
check "fields serve in --where" test "$("$posixtrace" dump --where 'error_code & 2 && address > 4096' kernel.ptl | wc -l)" -ge 1
check "JSON has the fields" sh -c '"$1" dump --json -e sched:sched_process_exit kernel.ptl | grep -q "\"comm\":\"sh\""' - "$posixtrace"
"$posixtrace" query "select count(*) from events where name = 'exceptions:page_fault_user'" kernel.ptl >out 2>err &&
	check "query finds them" has out '[1-9]'
run 0 convert --to ctf -o ctf kernel.ptl
check "exports need no special case" grep -q 'name = "exceptions:page_fault_user"' ctf/metadata
run 0 record --kernel softirq_raise --kernel softirq_raise -o twice.ptl true
check "two patterns of one event are one type" \
	test "$("$posixtrace" dump --raw -e irq:softirq_raise twice.ptl | sort | uniq -d | wc -l)" = 0
run 125 record --kernel page_falt_user -o none.ptl true
check "the nearest name" has err "did you mean page_fault_user?"
run 125 record --kernel sched:sched_swich -o none.ptl true
check "with its system" has err "did you mean sched:sched_switch?"
run 125 record --kernel 'blok:*' -o none.ptl true
check "a wrong system" has err "did you mean block:\*?"
check "then there is no log" test ! -e none.ptl
run 125 record --kernel '*' -o none.ptl true
check "too many" has err 'more than 128'
POSIXTRACE_KERNEL=perf run 125 record --kernel page_fault_user -o none.ptl true
check "without tracefs there is the reason" has err 'needs the kernel.s tracing'

# Samples are of all CPUs then; those of other processes are left out.
cat >outsider <<'EOF'
# Each depth is another stack.
deep() { if test $1 -gt 0; then deep $(($1 - 1)); fi; }
until test -e enough; do deep 50; done
EOF
sh outsider &
outsider=$!
run 0 record --sample 997 --trace none -o sampled.ptl sh -c 'i=0; while test $i -lt 100000; do i=$((i + 1)); done; sh -c "true; true"'
: >enough
wait $outsider
check "there are samples" test "$(count_of sampled.ptl cpu.sample)" -ge 10
check "none of another process" test "$("$posixtrace" dump --pid $outsider sampled.ptl | wc -l)" = 0
check "all are of the program" test "$("$posixtrace" dump -e cpu.sample --fields pid sampled.ptl | sort -u | wc -l)" -le 2
# A stack of the log's number n is the n-th one that the recorder kept, also for what it left out.
"$posixtrace" dump --raw -e cpu.stack --fields field.stack sampled.ptl | sort -n >out
check "stacks of other processes are not kept" test "$(tail -n 1 out)" -lt $((2 * $(lines out) + 20))
# A child's first samples follow its start, which the recorder reads elsewhere.
run 0 record --sample 997 --trace none -o children.ptl sh -c 'for n in 1 2 3 4 5 6 7 8 9 10 11 12; do
	sh -c "i=0; while test \$i -lt 20000; do i=\$((i + 1)); done"; done'
check "each child has samples" test "$("$posixtrace" dump --raw -e cpu.sample --fields pid children.ptl | sort -u | wc -l)" -ge 12

# The number of a child that has ended becomes the number of a process of another program, which starts another one.
cat >again.c <<'EOF'
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void spin(double seconds)
{
	struct timespec from, now;

	clock_gettime(CLOCK_MONOTONIC, &from);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((double)(now.tv_sec - from.tv_sec) + 1e-9 * (double)(now.tv_nsec - from.tv_nsec) < seconds);
}

static void write_to(const char *path, pid_t number)
{
	FILE *file = fopen(path, "w");

	if (file) {
		fprintf(file, "%d", (int)number);
		fclose(file);
	}
}

/* With an argument: the other program. Without: the program that is recorded, with a child that ends at once. */
int main(int argc, char *argv[])
{
	FILE *file;
	int number = 0, status = 1;
	pid_t pid;

	(void)argv;
	if (argc == 1) {
		pid = fork();
		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
		usleep(200000);
		write_to("number.new", pid);
		rename("number.new", "number");
		while (access("over", F_OK))
			usleep(20000);
		return 0;
	}
	while (!(file = fopen("number", "r")))
		usleep(20000);
	if (fscanf(file, "%d", &number) != 1)
		return 2;
	for (int tries = 0; status && tries < 2000; tries++) {
		write_to("/proc/sys/kernel/ns_last_pid", number - 1);
		pid = fork();
		if (!pid && getpid() != number)
			_exit(1);
		if (!pid) {
			pid = fork();
			if (pid)
				write_to("descendant", pid);
			spin(0.3);
			waitpid(pid, NULL, 0);
			_exit(0);
		}
		waitpid(pid, &status, 0);
	}
	write_to("over", 1);
	return status != 0;
}
EOF
${CC:-cc} -o again again.c || exit 99
./again other &
other=$!
run 0 record --sample 997 --trace none -o again.ptl ./again
if wait $other; then
	check "a number that is used again belongs to another program" test \
		"$("$posixtrace" dump -e cpu.sample --pid "$(cat number)" again.ptl | wc -l)" -le 20
	check "no sample is of a process that this program starts" test \
		"$("$posixtrace" dump -e cpu.sample --pid "$(cat descendant)" again.ptl | wc -l)" = 0
else
	echo "without a number that is used again: no process got it"
fi

# Killed recorders: the next one, or doctor, removes what remains. One that lives keeps its own.
cat >program <<'EOF'
echo $$ >$1.pid
while test -e $1.pid; do sleep 0.1; done
EOF
# An instance of a process that has ended is removed by any recorder or doctor on this machine. So the
# killed recorder stays a zombie, which has its number, until this test has seen the instance.
mkfifo reap
sh -c '"$@" & echo $! >recorder; read -r line <reap; wait' - \
	"$posixtrace" record --sched --trace none -q -o killed.ptl sh program killed 2>/dev/null &
keeper=$!
"$posixtrace" record --sched --trace none -q -o lives.ptl sh program lives 2>/dev/null &
lives=$!
for file in killed.pid lives.pid recorder; do
	until test -s $file; do sleep 0.05; done
done
killed=$(cat recorder)
check "there is an instance" has_instance $killed
check "there are two" has_instance $lives
kill -9 $killed
until grep -q '^State:.Z' /proc/$killed/status || ! test -e /proc/$killed; do sleep 0.05; done 2>/dev/null
check "a killed recorder leaves its instance" has_instance $killed
echo >reap
wait $keeper
run 0 doctor
check "doctor removes it" has_none $killed
check "that of a living one remains" has_instance $lives
# Nothing is known about the process 1 of another PID namespace.
if mkdir "$tracing/instances/posixtrace-1-1-1" 2>/dev/null; then
	run 0 doctor
	check "an instance with an unknown owner remains" test -d "$tracing/instances/posixtrace-1-1-1"
	check "doctor says so" has out '^limited  *tracefs .*unknown owner'
	rmdir "$tracing/instances/posixtrace-1-1-1"
fi
rm -f killed.pid lives.pid
wait $lives
check "the other one ends well" test $? = 0
check "its instance is gone, too" has_none $lives

# Records that the kernel has no room for are in the ledger. The recorder is stopped, and reads none.
if command -v cc >/dev/null && cat >yield.c <<'EOF' && cc -pthread -o yield yield.c 2>/dev/null; then
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <unistd.h>
static sem_t a, b;
static void *other(void *arg)
{
	for (;;) {
		sem_wait(&a);
		sem_post(&b);
	}
	return arg;
}
int main(void)
{
	pthread_t thread;
	long n = 150000;
	sem_init(&a, 0, 0);
	sem_init(&b, 0, 0);
	pthread_create(&thread, NULL, other, NULL);
	kill(getppid(), SIGSTOP);
	while (n--) {
		sem_post(&a);
		sem_wait(&b);
	}
	kill(getppid(), SIGCONT);
	return 0;
}
EOF
	run 0 record --sched --trace none -o full.ptl ./yield
	run 0 verify full.ptl
	check "lost records of the kernel are counted" \
		has out ': called [0-9]* = reported [0-9]* + unread 0 + lost [1-9]'
	run 0 stat full.ptl
	check "with their cause" has out 'stream full'
fi
finish
