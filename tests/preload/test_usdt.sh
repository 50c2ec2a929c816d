#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# record --probe: USDT probes at all kinds of places, their values, and what the option refuses.
. "${0%/*}/lib.sh"

POSIXTRACE_PRELOAD=$shim
export POSIXTRACE_PRELOAD
test "$(uname -m)" = x86_64 || skip "probes are patched on x86-64 only"
"$posixtrace" list --probes "$probe" 2>&1 | grep -q 'built without' && skip "no Zydis or libelf"
# shellcheck disable=SC2086 # $CC is a command with arguments
${CC:-cc} -O1 -w -o "$tmp/shop" "$here/probe_usdt.c" || exit 99

# traced OPTION...: runs the program plain and with a trace into $log
traced() {
	"$tmp/shop" >"$tmp/plain.out"
	rm -f "$log"*
	"$posixtrace" record -o "$log" "$@" "$tmp/shop" >"$tmp/traced.out" 2>"$tmp/err"
}
same() { diff "$tmp/plain.out" "$tmp/traced.out"; }
# data NAME TEXT: the data of the only event of the probe
data() {
	"$posixtrace" dump -e "shop:$1" --fields data "$log" >"$tmp/data"
	printf '%s\n' "$2" | diff - "$tmp/data"
}

run 0 list --probes "$tmp/shop"
check "an instruction behind the NOP is moved" has out '^probe     moved    1 event   shop:leaf  (8@-128(%rsp))$'
check "a NOP of five bytes is replaced" has out '^probe     room     1 event   shop:room  (-8@%rax -8@%rdi)$'
check "a branch behind the NOP allows one byte" has out '^probe     byte     1 event   shop:loops  (8@%rdi)$'
check "a semaphore is shown" has out '^probe     moved    1 event   shop:asked  (-4@$1, semaphore)$'
check "a place without a NOP is refused" has out '^probe     refused  -         shop:wrong  (): there is no NOP at its place$'

traced --probe 'shop:*'
check "the program does what it does without a trace" same
check "one is refused" grep -q '^posixtrace: --probe: 11 probes are traced at 11 places, 1 refused: 1 (there is no NOP' "$tmp/err"
check "all values" data values 'arg1=0xfffffffffffffffe arg2=-2 arg3=-2 arg4=65534 arg5=-2 arg6=-127 arg7=4294967293 arg8=0x1234567890abcdef arg9=300 arg10=-5 arg11=7 arg12=-10'
check "floating point" data floats 'arg1=1.5 arg2=0.25'
check "the red zone" data leaf arg1=0x3e8
check "a byte" data loops arg1=0xa
check "a NOP of five bytes" data room 'arg1=42 arg2=41'
check "probes one behind another" data one arg1=40
check "the second" data two arg1=40
check "the third" data three__last arg1=41
check "a probe with a semaphore" data asked arg1=1
check "nothing is lost" test "$("$posixtrace" dump -e posixtrace_shim_lost "$log" | wc -l)" -eq 0
check "the log is sound" "$posixtrace" verify "$log"

# Types that the user gives, and pointers that are none.
traced --probe 'shop:text(str,str,str)' --probe 'shop:values(s8,x16,-,x8,bool,char,u64)'
check "with types the program does the same" same
check "texts" data text 'arg1="apples" arg2="" arg3=""'
check "types" data values "arg1=-2 arg2=0xfffe arg3=-2 arg4=0xfe arg5=true arg6='\\x81' arg7=4294967293 arg8=0x1234567890abcdef arg9=300 arg10=-5 arg11=7 arg12=-10"

traced --trace none --probe 'shop:leaf'
check "without any family of calls" data leaf arg1=0x3e8

# Together with functions; a name with hyphens; one file.
traced --probe 'shop:three-*@shop' --function '*@shop'
check "with functions the program does the same" same
check "one probe" grep -q ': 1 probe is traced at 1 place$' "$tmp/err"
check "a name with hyphens" data three__last arg1=41
check "the semaphore of another probe stays 0" test "$("$posixtrace" dump -e 'shop:*' "$log" | wc -l)" -eq 1

# Semaphores that are code, and that are nowhere.
cat >"$tmp/hostile.c" <<'EOT'
#include "usdt.h"
__attribute__((noinline)) void sell(void)
{
	__asm__ volatile(PROBE_AT("nop", "code", "", "main"));
	__asm__ volatile(PROBE_AT("nop", "nowhere", "", "main+0x40000000"));
	__asm__ volatile(PROBE_AT("nop", "sold", "", "0") "xorl %%eax, %%eax\n" ::: "eax");
}
int main(void)
{
	sell();
	return 0;
}
EOT
# shellcheck disable=SC2086
${CC:-cc} -O1 -w -I"$here" -o "$tmp/hostile" "$tmp/hostile.c" || exit 99
rm -f "$log"
run 0 record -o "$log" --probe 'shop:*' "$tmp/hostile"
check "a semaphore must be a variable" \
	has err ': 1 probe is traced at 1 place, 2 refused: 2 (its semaphore is not a variable)$'
check "the probe without one is traced" test "$("$posixtrace" dump -e 'shop:*' "$log" | wc -l)" -eq 1

# A recorded program that waits for a library, while attach is refused. The plan of record remains.
cat >"$tmp/waits.c" <<'EOT'
#include <dlfcn.h>
#include <stdio.h>
#include "usdt.h"
int main(int argc, char **argv)
{
	void *library;
	int (*function)(void);

	puts("runs");
	fflush(stdout);
	__asm__ volatile(PROBE("here", "-4@%0") "xorl %%eax, %%eax\n" :: "r"(getchar()) : "eax");
	library = dlopen(argv[1], RTLD_NOW);
	function = library ? (int (*)(void))dlsym(library, "in_plugin") : 0;
	printf("%d\n", function ? function() : 0);
	return 0;
}
EOT
cat >"$tmp/plugin.c" <<'EOT'
#include "usdt.h"
int in_plugin(void)
{
	int a = 41;

	__asm__ volatile(PROBE("late", "4@%0") "incl %0\n" : "+r"(a));
	return a;
}
EOT
# shellcheck disable=SC2086
${CC:-cc} -O1 -w -I"$here" -o "$tmp/waits" "$tmp/waits.c" -ldl &&
	${CC:-cc} -O1 -shared -fPIC -I"$here" -o "$tmp/plugin.so" "$tmp/plugin.c" || exit 99
mkfifo "$tmp/go"
rm -f "$log"
"$posixtrace" record -q -o "$log" --probe 'shop:here' --probe "shop:late@$tmp/plugin.so" \
	"$tmp/waits" "$tmp/plugin.so" <"$tmp/go" >"$tmp/waits.out" 2>"$tmp/err" &
recorder=$!
exec 9>"$tmp/go"
until grep -q runs "$tmp/waits.out" || ! kill -0 $recorder 2>/dev/null; do sleep 0.02; done
pid=$(pgrep -P $recorder waits)
for i in 1 2; do
	"$posixtrace" attach -p "$pid" -o "$tmp/refused" -d 1ms --probe 'shop:here(s8)' 2>>"$tmp/refused.err"
done
exec 9>&-
wait $recorder
check "the program waits for its library and ends" test $? -eq 0
check "it works" grep -qx 42 "$tmp/waits.out"
check "its probes are traced" data here arg1=-1
check "that of the library, too" data late arg1=41
if ! grep -q 'not permitted' "$tmp/refused.err"; then
	check "both attempts were refused by the process" \
		test "$(grep -c 'an earlier trace has given other types to the values of a probe' "$tmp/refused.err")" -eq 2
fi

# A probe that no jump can replace: branches lead to it and behind it, and its own bytes lead into the
# file. The kernel records it, where it may; the shim records the other one.
cat >"$tmp/stuck.c" <<'EOT'
#include "usdt.h"
int main(void)
{
	__asm__ volatile("xorl %%eax, %%eax\n xorl %%ecx, %%ecx\n 3:\n"
			 PROBE("stuck", "-4@%%ecx")
			 "2: .byte 0x05, 5, 0, 0, 0\n incl %%ecx\n cmpl $1, %%ecx\n je 2b\n"
			 "cmpl $3, %%ecx\n jb 3b\n" ::: "eax", "ecx");
	__asm__ volatile(PROBE("easy", "-4@$7") "xorl %%eax, %%eax\n xorl %%ecx, %%ecx\n xorl %%edx, %%edx\n"
			 ::: "eax", "ecx", "edx");
	return 0;
}
EOT
# shellcheck disable=SC2086
${CC:-cc} -O1 -w -I"$here" -o "$tmp/stuck" "$tmp/stuck.c" || exit 99
rm -f "$log"
run 0 record -o "$log" --probe 'shop:*' "$tmp/stuck"
check "the shim records the easy one" data easy arg1=7
if grep -q 'uprobes' "$tmp/err"; then
	check "record says that the kernel records one" has err '^posixtrace: --probe: 2 probes are traced at 2 places, 1 by uprobes of the kernel$'
	check "the kernel records each arrival" data stuck "arg1=0
arg1=2"
	run 0 verify "$log"
	check "nothing is lost" has out 'unread 0 + lost 0$'
	run 0 list --probes "$tmp/stuck"
	check "list has the method" has out '^probe     uprobe   1 trap    shop:stuck'
else
	check "it is refused with the reason" has err '1 refused: 1 (its instructions cannot be moved, and a jump that replaces only its first byte would lead into the file itself)'
fi

# Wrong values of the option.
for wrong in shop :sold shop: 'shop:(str)' 'shop:sold(str' shop:sold@ 'shop:sold(text)'; do
	run 2 record -o "$log" --probe "$wrong" "$tmp/shop"
done
check "a type that is none is named" has err '^posixtrace: --probe shop:sold(text): text: no such type; there are str'
for wrong in '' 'u8,' ',u8' 'u8,,u8'; do
	run 2 record -o "$log" --probe "shop:sold($wrong)" "$tmp/shop"
	check "($wrong): the reason is a missing type" has err "^posixtrace: --probe shop:sold($wrong): a type is missing; write - for the type that the file gives\$"
done
run 125 record -o "$log" --probe 'shop:nothing' "$tmp/shop"
check "no match is an error" has err 'no probe of .*/shop and its libraries matches'
"$posixtrace" record -q -o "$log" --probe shop:rom --probe shop:room "$tmp/shop" >"$tmp/out" 2>"$tmp/err"
check "a probe that does not exist beside one that does is named, with a similar one" has err \
	'^posixtrace: --probe shop:rom: no probe of .*; did you mean shop:room?; list --probes lists'
check "the probe that exists is not" lacks err '^posixtrace: --probe shop:room:'
run 125 record -o "$log" --probe 'shop:wrong' "$tmp/shop"
check "a probe that is refused is one, too" has err '0 probes are traced at 0 places, 1 refused'
# A program that cannot load the library.
echo 'int main(void) { return 0; }' >"$tmp/static.c"
# shellcheck disable=SC2086
if ${CC:-cc} -static -o "$tmp/static" "$tmp/static.c" 2>/dev/null; then
	run 125 record -o "$log" --probe 'shop:*' "$tmp/static"
	# Where the kernel records such programs, this one has no such probe.
	check "a static program is refused with the reason" \
		has err 'those of .*/static cannot be traced: it is statically linked; no uprobes: \|no probe of .*/static and its libraries matches'
fi

finish
