#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# record --function --args: arguments and results of functions, as the debugging information
# describes them. The values are also those of optimized code, and no pointer ends the program.
. "${0%/*}/lib.sh"

POSIXTRACE_PRELOAD=$shim
export POSIXTRACE_PRELOAD
test "$(uname -m)" = x86_64 || skip "functions are patched on x86-64 only"
cc=${CC:-cc} cxx=${CXX:-c++}
"$posixtrace" record -o "$log" --function main "$probe" 2>&1 | grep -q 'built without' && skip "no Zydis"

cat >"$tmp/args.c" <<'C'
#include <pthread.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#define APART __attribute__((noinline, noclone))
#define KEEP __asm__ volatile("nop; nop; nop; nop; nop")
enum color { RED, GREEN, BLUE = 7 };
enum bits { READ = 1, WRITE = 2, EXECUTE = 4 };
enum below { NONE = -1, SOME = 3 };
enum hour { H0, H1, H2, H3, H4, H5, H6, H7, H8, H9, H10, H11, H12, H13, H14, H15, H16, H17, H18, H19, H20, H21, H22, H23, H24, H25, H26 };
struct pair { int x, y; };
struct large { long a[5]; };
APART int parse_line(const char *line, int n) { KEEP; return line ? (int)strlen(line) - n : -1; }
APART enum color paint(enum color color, enum bits bits, enum below below) { KEEP; return BLUE; }
APART int turn(enum hour hour) { KEEP; return hour + 1; }
APART bool is_odd(uint8_t value, bool invert) { KEEP; return (value & 1) != invert; }
APART double half(double a, float b) { KEEP; return a / 2 + b; }
APART float quarter(float a) { KEEP; return a / 4; }
APART long sum(long a, long b, long c, long d, long e, long f, long g, short h) { KEEP; return a + b + c + d + e + f + g + h; }
APART const char *name_of(int number, char letter) { KEEP; return number ? "seven" : NULL; }
APART void *identity(void *pointer) { KEEP; return pointer; }
APART void nothing(void) { KEEP; }
APART int8_t negative(int8_t a, int16_t b, int64_t c) { KEEP; return -1; }
APART uint64_t largest(uint64_t a) { KEEP; return a; }
APART long by_struct(struct pair pair, int after) { KEEP; return pair.x + pair.y + after; }
APART struct large large(int number) { struct large l = { { number } }; KEEP; return l; }
APART long in_memory(struct large l, int after) { KEEP; return l.a[0] + after; }
APART int varies(int count, ...) { KEEP; return count; }
APART int time_of(int time, int function, int depth) { KEEP; return time + function + depth; }
APART int jumps(jmp_buf *back, int n) { KEEP; longjmp(*back, n); return 0; }
APART long fibonacci(long n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
APART static int own(int a, const char *text) { KEEP; return a + text[0]; }
APART int tail(int a) { KEEP; return parse_line("tail", a); }
APART int unsafe(const char *text) { KEEP; return 5; }
APART long double wide(long double a, int after) { KEEP; return a + after; }
static void *runs(void *arg) { char text[32]; snprintf(text, sizeof(text), "thread"); parse_line(strdup(text), *(int *)arg); return NULL; }
int main(void)
{
	static char long_text[2000];
	struct pair pair = { 1, 2 };
	struct large l;
	jmp_buf back;
	pthread_t thread;
	int value = 4;
	char *two = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	printf("%d\n", parse_line("abc", 3));
	printf("%d\n", parse_line(NULL, -2));
	printf("%d %d\n", paint(GREEN, READ | EXECUTE, NONE), is_odd(3, true));
	printf("%d\n", is_odd(4, true));
	printf("%g %g %ld\n", half(3, 0.5f), quarter(10), sum(1, 2, 3, 4, 5, 6, -7, -8));
	printf("%s %p\n", name_of(7, 'x'), identity(NULL));
	name_of(0, '\n');
	nothing();
	printf("%d %d\n", negative(-3, -300, -3000000000), largest(UINT64_MAX) == UINT64_MAX);
	l = large(8);
	printf("%ld %ld %d %d\n", by_struct(pair, 3), in_memory(l, 4), varies(2, 1, 2), time_of(1, 2, 3));
	if (!setjmp(back))
		jumps(&back, 9);
	printf("%ld %d %d %Lg\n", fibonacci(5), own(1, "own"), tail(1), wide(1, 2));
	memset(long_text, 'x', sizeof(long_text) - 1);
	unsafe(long_text);
	unsafe((const char *)8);
	unsafe((const char *)-1);
	unsafe((const char *)(UINT64_C(1) << 62));
	memset(two, 'y', 8192);
	munmap(two + 4096, 4096);
	unsafe(two + 4090);
	munmap(two, 4096);
	unsafe(two);
	pthread_create(&thread, NULL, runs, &value);
	pthread_join(thread, NULL);
	return 0;
}
C
# dumped NAME: the calls of a function, without times
dumped() { "$posixtrace" dump -e "func.call:$1" "$log" | sed -n 's/.* depth=[0-9]* //p'; }
# is NAME TEXT...: its calls are these lines
is() {
	name=$1
	shift
	printf '%s\n' "$@" >"$tmp/expected"
	dumped "$name" | diff "$tmp/expected" - || return 1
}
for flags in '-O0 -g' '-O1 -g' '-O2 -g' '-O2 -gdwarf-4' '-O2 -g -fno-pie -no-pie' '-O2 -g -fcf-protection'; do
	# shellcheck disable=SC2086
	$cc $flags -w -pthread -o "$tmp/args" "$tmp/args.c" || continue
	"$tmp/args" >"$tmp/plain" || exit 99
	rm -f "$log"*
	run 0 record --wait -s 4M -o "$log" --trace none --args --function '*@args' "$tmp/args"
	check "$flags: the program does what it does without a trace" cmp "$tmp/plain" "$tmp/out"
	check "$flags: the log is sound" "$posixtrace" verify "$log"
	check "$flags: text and numbers" is parse_line 'parse_line(line="abc", n=3) = 0' \
		'parse_line(line="", n=-2) = -1' 'parse_line(line="tail", n=1) = 3' \
		'parse_line(line="thread", n=4) = 2'
	check "$flags: enumerations" is paint 'paint(color=GREEN, bits=READ|EXECUTE, below=NONE) = BLUE'
	check "$flags: truth" is is_odd 'is_odd(value=3, invert=true) = false' 'is_odd(value=4, invert=true) = true'
	check "$flags: fractions" is half 'half(a=3, b=0.5) = 2'
	check "$flags: small fractions" is quarter 'quarter(a=10) = 2.5'
	check "$flags: on the stack" is sum 'sum(a=1, b=2, c=3, d=4, e=5, f=6, g=-7, h=-8) = 6'
	check "$flags: text as the result" is name_of "name_of(number=7, letter='x') = \"seven\"" \
		"name_of(number=0, letter='\\n') = \"\""
	check "$flags: pointers" is identity 'identity(pointer=0x0) = 0x0'
	check "$flags: signs" is negative 'negative(a=-3, b=-300, c=-3000000000) = -1'
	check "$flags: no sign" is largest 'largest(a=18446744073709551615) = 18446744073709551615'
	check "$flags: behind a structure" is by_struct 'by_struct(after=3) = 6'
	check "$flags: a structure as the result" is large 'large(number=8)'
	check "$flags: behind a large structure" is in_memory 'in_memory(after=4) = 12'
	check "$flags: named ones of variable arguments" is varies 'varies(count=2) = 2'
	check "$flags: names that each call has" is time_of 'time_of(time_=1, function_=2, depth_=3) = 6'
	check "$flags: a function that is left has no result" test "$(dumped jumps | sed 's/0x[0-9a-f]*/P/')" = \
		'jumps(back=P, n=9)'
	check "$flags: recursion, which the compiler may unroll" test "$(dumped fibonacci | wc -l)" -ge 1
	check "$flags: the last result of a recursion" test "$(dumped fibonacci | tail -n 1)" = 'fibonacci(n=5) = 5'
	check "$flags: long double" is wide 'wide(after=2)'
	check "$flags: wrong pointers and long texts" test "$(dumped unsafe | wc -l)" -eq 6
	check "$flags: a long text loses its end" test "$(dumped unsafe | sed -n 1p | wc -c)" -lt 300
	check "$flags: a text ends with its page" test "$(dumped unsafe | sed -n 5p)" = 'unsafe(text="yyyyyy") = 5'
	check "$flags: memory that is gone" test "$(dumped unsafe | sed -n 6p)" = 'unsafe(text="") = 5'
	check "$flags: a function without arguments and result" test "$("$posixtrace" dump -e func.call "$log" | wc -l)" -ge 1
done

# Fields are typed: queries, filters and exports use them.
check "a filter" test "$("$posixtrace" dump -e 'func.call:*' --where 'n < 0' "$log" | wc -l)" -eq 1
check "a filter of a result" test "$("$posixtrace" dump -e 'func.call:parse_line' --where 'return == -1' "$log" | wc -l)" -eq 1
run 0 latency "$log"
check "latency has a row per function" test "$(awk '$NF == "parse_line" { print $1 }' "$tmp/out")" = 4
run 0 dump --json -e func.call:half "$log"
check "numbers in JSON" has out '"a": *3'
run 0 convert --to folded "$log"
check "folded stacks" has out '^main;tail'
if "$posixtrace" query --help >/dev/null 2>&1; then
	run 0 query "$log" 'select [field.line], n + 1, "return" from events where name = "func.call:parse_line" order by n'
	check "columns of a table" has out '^abc  *4  *0$'
fi

# Each value of a function of C++, with exceptions.
cat >"$tmp/args.cc" <<'C'
#include <stdexcept>
namespace shop {
struct item { int price; __attribute__((noinline)) int total(int n) const; };
int item::total(int n) const { __asm__ volatile(""); if (n < 0) throw std::runtime_error("negative"); return price * n; }
__attribute__((noinline)) int twice(int a) { __asm__ volatile("nop; nop; nop; nop; nop"); return 2 * a; }
__attribute__((noinline)) double twice(double a) { __asm__ volatile("nop; nop; nop; nop; nop"); return 2 * a; }
}
int main() { shop::item item = { 3 }; int sum = item.total(2) + shop::twice(4) + (int)shop::twice(0.5);
	try { sum += item.total(-1); } catch (const std::exception &) { sum++; } return sum == 16 ? 0 : 1; }
C
# shellcheck disable=SC2086
if $cxx -O1 -g -w -o "$tmp/cxx" "$tmp/args.cc" 2>/dev/null; then
	rm -f "$log"*
	run 0 record --wait -o "$log" --trace none --args --function 'shop::*@cxx' "$tmp/cxx"
	check "a method" test "$(dumped 'shop::item::total' | sed 's/0x[0-9a-f]*/P/' | tr '\n' ';')" = \
		'shop::item::total(this=P, n=2) = 6;shop::item::total(this=P, n=-1);'
	check "one of two functions of the same name has arguments" test "$(dumped 'shop::twice' | wc -l)" -eq 1
	check "the other one is counted" has err '2 with arguments or result (1 more for which'
fi

# Without debugging information.
strip -g -o "$tmp/stripped" "$tmp/args"
rm -f "$log"*
run 0 record --wait -o "$log" --trace none --args --function 'parse_*@stripped' "$tmp/stripped"
check "without debugging information calls have no arguments" has err '1 function is traced, 0 with arguments'
check "calls without arguments are recorded" test "$("$posixtrace" dump -e func.call "$log" | wc -l)" -eq 4
run 2 record -o "$log" --args "$tmp/args"
check "--args needs --function" has err '--args'
run 0 list --probes "$tmp/args"
check "list says what is described" has out 'parse_line(const char \*line, int n)  --args: str line; s32 n; s32 return$'
check "an enumeration has its first 24 names" has out 'turn(enum hour hour)  --args: u32 hour{0=H0,1=H1,.*,22=H22,23=H23}; s32 return$'
finish
