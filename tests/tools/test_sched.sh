#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# posixtrace record --sched and --sample: the kernel's records are events of the same log, in their order.
. "${0%/*}/lib.sh"
. "${0%/*}/targets.sh"

work_in_tmp
count_of() { "$posixtrace" dump -e "$2" "$1" | wc -l; }

run 2 record --sched --loop true
check "a log that overwrites has no place for them" has err 'never full'
run 2 record --sched --log-policy until-full true
run 2 record --sample 10 --loop true
run 2 record --sample 0 true
run 2 record --sample 10001 true
check "the limit is named" has err 'from 1 to 10000'
run 2 record --sample x true

"$posixtrace" record --sched --trace=none -o s.ptl true 2>err || {
	grep -q 'the kernel' err || cat err
	check "a refusal has its reason" grep -q 'the kernel .* when threads run' err
	skip "the kernel does not permit perf_event_open()"
}

# The program sleeps, so its threads are blocked; it works, so that they are sampled.
run 0 record --sched --sample 997 -o a.ptl sh -c 'sleep 0.01; i=0; while test $i -lt 60000; do i=$((i + 1)); done; sleep 0.01'
run 0 verify a.ptl
check "the log is sound" has out ': sound:'
check "its account is exact" has out ': called \([0-9]*\) = reported \1 + unread 0 + lost 0$'
for type in sched.in sched.out sched.exit cpu.sample cpu.stack; do
	check "there is $type" test "$(count_of a.ptl $type)" -ge 1
done
check "the clock's error is there once" test "$(count_of a.ptl sched.clock)" = 1
check "threads block" test "$("$posixtrace" dump -e sched.out --where 'reason == "blocked"' a.ptl | wc -l)" -ge 2
check "the log still has the calls" test "$(count_of a.ptl 'process.*')" -ge 3
check "the log has the mapped files" test "$("$posixtrace" symbols a.ptl | grep -c libc)" -ge 1
check "running is a span" sh -c '"$1" latency a.ptl | grep -q " running$"' - "$posixtrace"
run 0 why a.ptl
check "why uses them" has out 'have an error of [0-9]* ns'
check "why uses the samples" has out '^Functions: [0-9]* samples'
check "it does not miss them" lacks out 'does not say when threads had a CPU'

if command -v python3 >/dev/null; then
	"$posixtrace" dump --json a.ptl >lines
	check "times, threads and stacks agree" python3 - lines <<'EOF'
import json, sys
state, stacks, error = {}, set(), None
for line in open(sys.argv[1]):
    e = json.loads(line)
    name, tid, f = e["event"], e["tid"], e.get("fields", {})
    if name == "sched.clock":
        error = int(f["error_ns"])
    elif name == "sched.in":
        # Between two times on a CPU a thread leaves it.
        assert state.get(tid) != "in", line
        state[tid] = "in"
    elif name == "sched.out":
        assert state.get(tid) != "out", line
        state[tid] = "out"
    elif name == "cpu.stack":
        assert f["stack"] not in stacks, line
        stacks.add(f["stack"])
    elif name == "cpu.sample":
        assert f["stack"] in stacks, line
assert error is not None and error < 1000000
EOF
fi

# The clock: a sleeping thread is blocked after its call, and has a CPU before the call returns.
if command -v cc >/dev/null && cat >sleeper.c <<'EOF' && cc -o sleeper sleeper.c 2>/dev/null; then
#include <unistd.h>
int main(void)
{
	for (int i = 0; i < 20; i++)
		usleep(1000);
	return 0;
}
EOF
	run 0 record --sched -o b.ptl ./sleeper
	"$posixtrace" dump --raw -e 'sched.*' -e time.sleep --fields time,event,tid,field.time,field.reason b.ptl >lines
	check "calls and states are on one clock, to 100 us" awk '
		$2 == "sched.out" && $5 ~ /blocked/ { out = $1 }
		$2 == "sched.in" { into = $1 }
		$2 == "time.sleep" {
			n++
			split($4, d, /[a-z]+/); unit = $4; gsub(/[0-9.]/, "", unit)
			ns = d[1] * (unit == "ns" ? 1 : unit == "us" ? 1000 : unit == "ms" ? 1000000 : 1000000000)
			begin = $1 - ns
			if (out < begin - 100000 || into < out || into > $1 + 100000)
				bad = bad " " NR
		}
		END { if (bad || n != 20) print n " sleeps, wrong lines:" bad; exit bad || n != 20 }' lines
fi

# Page faults in bursts: the samples' sum is the number of faults. The program prints the kernel's number.
if ${CC:-cc} -o bursts -x c - <<'EOF'; then
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
int main(void)
{
	struct rusage used;

	for (int i = 0; i < 20; i++) {
		char *page = mmap(NULL, 640 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (page == MAP_FAILED || madvise(page, 640 * 4096, MADV_NOHUGEPAGE))
			return 1;
		for (int at = 0; at < 640; at++)
			page[at * 4096] = 1;
		usleep(3000);
	}
	getrusage(RUSAGE_SELF, &used);
	printf("%ld\n", used.ru_minflt);
	return 0;
}
EOF
	run 0 record --sched --sample 997 -q -o faults.ptl ./bursts
	faults=$(cat "$tmp/out")
	run 0 query --csv faults.ptl "select sum(faults) from events where name = 'cpu.fault'"
	sampled=$(sed 1d "$tmp/out")
	check "samples of page faults add up to their number: $sampled of $faults" \
		test "$((sampled * 10))" -ge "$((faults * 8))" -a "$((sampled * 10))" -le "$((faults * 12))"
fi

# A program that is already running; one that fails; one that does not exist.
sleep 1000000 &
sleeper=$!
# The new process must have loaded its C library.
until grep -q libc "/proc/$sleeper/maps" && grep -q '(sleep) S' "/proc/$sleeper/stat"; do sleep 0.01; done
run 0 record --sched -p $sleeper -d 100ms -o p.ptl
kill $sleeper
run 0 verify p.ptl
run 7 record --sched -o f.ptl sh -c 'exit 7'
run 0 verify f.ptl
run 127 record --sched -o none.ptl ./no-such-program
check "then there is no log" test ! -e none.ptl
run 1 record --sched -p 999999999 -o none.ptl

# The callers of samples in a program without frame pointers. The program runs until it was sampled
# often: it counts its own CPU time, so that the load of the machine has no influence. Its leaves are
# many and run for irregular times, so that no leaf can have two thirds of the samples: regular times
# can agree with the period of the samples.
cat >deep.c <<'END'
#include <time.h>
static volatile unsigned n, state = 1;
#define LEAF(name) \
	__attribute__((noinline)) void name(void) \
	{ \
		unsigned random = state = state * 1103515245 + 12345; \
		for (unsigned i = 0; i < 1000 + (random >> 16) % 16381; i++) n += i; \
	}
LEAF(deep_1) LEAF(deep_2) LEAF(deep_3) LEAF(deep_4) LEAF(deep_5) LEAF(deep_6) LEAF(deep_7)
__attribute__((noinline)) void deep_middle(void)
{
	deep_1(); deep_2(); deep_3(); deep_4(); deep_5(); deep_6(); deep_7(); n++;
}
__attribute__((noinline)) void deep_outer(void) { deep_middle(); n++; }
int main(void) { while (clock() < CLOCKS_PER_SEC / 5) deep_outer(); return 0; }
END
run 2 record --sample-stack --sched -o none.ptl true
check "--sample-stack needs --sample" has err 'sample-stack needs --sample'
if ${CC:-cc} -O1 -fomit-frame-pointer -fno-optimize-sibling-calls -Wl,--build-id=sha1 -o deep deep.c &&
	run 0 record --sched --sample 999 --sample-stack --force -q -o deep.ptl ./deep &&
	"$posixtrace" symbols deep.ptl 2>/dev/null | grep -q ' -> '; then
	run 0 why --json --thread deep deep.ptl
	check "the function that has all samples is named, with its callers" \
		has out '"what":"running deep_middle and what it calls, called by deep_outer < main"'
	check "its parts are below it" has out '"what":"running deep_[1-7] (deep)"'
fi

# The kernel's functions. read(2) of /dev/zero clears memory in the kernel, for most of the time of dd.
if "$posixtrace" doctor | grep -q 'kernel events .*, also in the kernel' && command -v dd >/dev/null; then
	run 0 record --sched --sample 999 --force -q -o k.ptl dd if=/dev/zero of=/dev/null bs=1M count=2000
	run 0 verify k.ptl
	check "its account is exact with names of the kernel" has out ': called \([0-9]*\) = reported \1 + unread 0 + lost 0$'
	run 0 why k.ptl
	check "why names the kernel's functions" has out 'running in the kernel: [a-zA-Z0-9_.]* <- .*read'
	run 0 convert --to folded --stacks cpu.sample -o k.folded k.ptl
	check "folded stacks mark them" grep -q ';vfs_read_\[k\];.*_\[k\] [0-9]*$' k.folded
	check "the kernel's functions are inside of the program's" \
		sh -c '! grep -q "_\[k\];[^;]*[^];];\|_\[k\];0x" k.folded'
	run 0 query k.ptl "select count(*) from objects where pid = 0 and name = 'vfs_read'"
	check "the log has their names once" has out '^ *1$'
	run 0 convert --to log -o again.ptl k.ptl
	"$posixtrace" convert --to folded --stacks cpu.sample -o again.folded again.ptl
	check "a copy of the log has them, too" cmp k.folded again.folded
	if run 0 record --sample 999 --sample-stack --force -q -o s.ptl dd if=/dev/zero of=/dev/null bs=1M count=2000; then
		"$posixtrace" convert --to folded --stacks cpu.sample -o s.folded s.ptl
		check "unwound stacks have them inside" grep -q 'read;.*;vfs_read_\[k\]' s.folded
	fi
fi
finish
