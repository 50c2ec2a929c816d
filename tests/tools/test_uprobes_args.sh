#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Arguments and results of functions that the kernel's uprobes record. The same program, linked
# dynamically, has the same values by the preload library. Skipped where the kernel does not permit
# uprobes.
. "${0%/*}/lib.sh"
needs_shim

work_in_tmp

cat >args.c <<'EOF2'
#include <pthread.h>
#include <setjmp.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PLAIN __attribute__((noinline, noclone))
#define BODY __asm__ volatile("" ::: "memory")
enum colour { RED, GREEN = 5 };
struct big { long a, b, c; };
struct pair { int a, b; };
static jmp_buf env;

PLAIN int add(int a, short b, const char *name) { BODY; return a + b + (int)strlen(name); }
PLAIN const char *label(enum colour c) { BODY; return c == RED ? "red" : c == GREEN ? "green" : NULL; }
PLAIN long many(long a, long b, long c, long d, long e, long f, long g, const char *h) { BODY; return a + b + c + d + e + f + g + h[0]; }
PLAIN unsigned char small(_Bool is, signed char s, struct big v, char c, struct pair p, unsigned long last) { BODY; return is + s + v.a + c + p.a + last; }
PLAIN int leave(int n) { BODY; if (n) longjmp(env, 1); return 4; }
PLAIN int recurse(int n) { int below = n ? recurse(n - 1) : 0; BODY; return below + n; }
PLAIN int tail(int n) { BODY; return add(n, -2, "tail"); }
PLAIN void nothing(const char *a, const char *b) { BODY; }
static PLAIN long own(long unused, long n) { BODY; return n * 3; }
static void *work(void *arg) { for (int i = 0; i < 50; i++) recurse(3); return arg; }

int main(int argc, char **argv)
{
	struct big v = { 1, 2, 3 };
	struct pair p = { 4, 5 };
	pthread_t thread[3];
	char text[900], own_text[] = "child";
	/* The kernel reads a text only if the process has its page. */
	static const volatile char *const used[] = {
		"three", "", "red", "green", "h", "tail", "a\tb\"c", "\xc3\xa4"
	};

	for (int i = 0; i < 8; i++)
		(void)used[i][0];
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	add(1, -2, "three");
	add(-2000000000, 32767, "");
	label(GREEN);
	label(RED);
	label((enum colour)7);
	many(1, 2, 3, 4, 5, 6, -7, "h");
	small(1, -3, v, 'q', p, 0xffffffffffffffff);
	if (!setjmp(env))
		leave(3);
	leave(0);
	recurse(5);
	tail(70000);
	nothing(NULL, (const char *)16);
	nothing(text, text);
	nothing("a\tb\"c", "\xc3\xa4");
	own(argc, argc + 10);
	for (int i = 0; i < 3; i++)
		pthread_create(&thread[i], NULL, work, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	if (fork() == 0) {
		own_text[0] = 'C'; /* the child has this page now */
		add(5, 6, own_text);
		_exit(0);
	}
	wait(NULL);
	return 3;
}
EOF2
${CC:-cc} -g -O2 -w -static -pthread -o static args.c 2>/dev/null || skip "no static C library"
run 0 doctor
grep -q '^works  *uprobes' out || skip "the kernel does not permit uprobes"
if "$posixtrace" list --probes ./static | grep -q ' --args: s32 a; s16 b; str name; s32 return$'; then :; else
	skip "built without libdw or Zydis"
fi
names='add label many small leave recurse tail nothing own'
all=
for name in $names; do all="$all --function $name"; done

# values LOG: the calls as in C, sorted.
values() { "$posixtrace" dump -e 'func.call:*' "$1" | sed 's/.* depth=[0-9]* //' | sort; }

# same PROGRAM HOW: the values are those of ./wanted.
same() {
	run 3 record --force -o same.ptl --args $all "$1"
	check "$2: record says how" has err '^posixtrace: --function: 9 functions are traced by uprobes of the kernel, 9 with arguments or result$'
	values same.ptl >ours
	check "$2: arguments and results are those that the library records" diff wanted ours
	run 0 verify same.ptl
	check "$2: the account is exact" has out ': called \([0-9]*\) = reported \1 + unread 0 + lost 0$'
}

# The reference. The library records at most 255 bytes of texts, the kernel 511: the texts are shorter.
sed 's/text\[900\]/text[101]/' args.c >short.c
${CC:-cc} -g -O2 -w -pthread -fpatchable-function-entry=5 -fno-optimize-sibling-calls -o dynamic short.c || skip "no functions that can be patched"
run 3 record --force -o dynamic.ptl --args $all ./dynamic
values dynamic.ptl >wanted
check "the reference has all calls" test "$(lines wanted)" -eq 622
check "the reference has the values of arguments" grep -q '^small(is=true, s=-3, c=.q., last=18446744073709551615) = ' wanted
for options in '-O2 -static' '-O2 -static-pie' '-O0 -static' '-O1 -static -fcf-protection=full'; do
	# shellcheck disable=SC2086
	${CC:-cc} -g -w $options -pthread -o static short.c 2>/dev/null && same ./static "$options"
done
if command -v musl-gcc >/dev/null && musl-gcc -g -O2 -w -pthread -o musl short.c 2>/dev/null; then
	same ./musl musl
	musl-gcc -g -O2 -w -static -pthread -o musl-static short.c 2>/dev/null && same ./musl-static "musl -static"
fi
POSIXTRACE_KERNEL=perf
export POSIXTRACE_KERNEL
same ./static "an event for each place"
unset POSIXTRACE_KERNEL

# Long texts end at a bound; two of them have half of it each.
${CC:-cc} -g -O2 -w -static -pthread -o static args.c
run 3 record --force -q -o long.ptl --args --function nothing ./static
"$posixtrace" dump --raw -e 'func.call:nothing' --fields field.a,field.b long.ptl >out
check "long texts are cut" has out '^"x\{200,255\}"	"x\{200,255\}"$'
check "a pointer to nothing is an empty text" has out '^""	""$'

# The values can be used, and other functions have none.
run 0 dump --raw -e 'func.*' --where 'n > 69999' --fields field.n,field.return same.ptl
check "--where knows arguments" has out '^70000	70002$'
run 3 record --force -q -o plain.ptl --function add ./static
"$posixtrace" dump --raw --fields event plain.ptl | sort -u >out
check "without --args the events have no arguments" has out '^func.call$'
run 3 record --force -q -o chosen.ptl --args -e 'func.call:add' --function add --function label ./static
"$posixtrace" dump --raw -e 'func*' --fields event chosen.ptl | sort -u >out
check "a pattern chooses types" test "$(cat out)" = func.call:add

# The types of the events are those of the library, so that logs can be compared.
for log in dynamic same; do
	"$posixtrace" dump -o json "$log.ptl" 2>/dev/null | sed -n 's/.*"event":"\(func.call:[a-z]*\)".*/\1/p' | sort -u >"$log.types"
done
check "the types have the same names" diff dynamic.types same.types

# Go passes arguments in registers. Texts and slices have no field.
mkdir go
cat >go/main.go <<'EOF2'
package main

import "os"

type point struct{ x, y int }

//go:noinline
func add(a int, b int8, s string, p *point, ok bool, u uint16) int { return a + int(b) + len(s) + p.x + int(u) }

//go:noinline
func (p *point) move(dx, dy int, list []int) (int, error) { p.x += dx; p.y += dy; return p.x + len(list), nil }

//go:noinline
func grow(n int, f float64) int {
	var big [4096]byte
	big[n] = 1
	if n > 0 {
		return grow(n-1, f) + int(big[n])
	}
	return 0
}

func main() {
	p := &point{1, 2}
	add(40, -3, "hello", p, true, 65535)
	p.move(-3, 1<<40, []int{1, 2})
	c := make(chan int)
	for i := 0; i < 8; i++ {
		go func() { c <- grow(5, 1.5) }()
	}
	for i := 0; i < 8; i++ {
		<-c
	}
	os.Exit(3)
}
EOF2
if command -v go >/dev/null && CGO_ENABLED=0 GOCACHE=$tmp/cache go build -o golang go/main.go 2>/dev/null; then
	run 3 record --force -o go.ptl --syscalls=none --args --function 'main.*' ./golang
	values go.ptl | sed 's/0x[0-9a-f]*/P/' >ours
	check "Go: arguments of add" grep -q '^main.add(a=40, b=-3, p=P, ok=true, u=65535)$' ours
	check "Go: a receiver is an argument" grep -q '^main.(\*point).move(p=P, dx=-3, dy=1099511627776)$' ours
	for n in 0 1 2 3 4 5; do
		check "Go: grow($n) was called 8 times" test "$(grep -c "^main.grow(n=$n)\$" ours)" -eq 8
	done
	run 0 verify go.ptl
	check "Go: nothing is lost" has out 'unread 0 + lost 0$'
else
	echo "no Go: not tested"
fi
finish
