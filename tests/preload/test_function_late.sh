#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# --function and --probe for libraries that a program loads while it runs: by itself if it has one
# thread, by posixtrace otherwise. Calls in constructors and right after dlopen() may be missed then,
# so that these tests wait for the message that the library is traced.
. "${0%/*}/lib.sh"

POSIXTRACE_PRELOAD=$shim
export POSIXTRACE_PRELOAD
test "$(uname -m)" = x86_64 || skip "functions are patched on x86-64 only"
"$posixtrace" list --probes "$probe" 2>&1 | grep -q 'built without' && skip "no Zydis or libelf"
posixtrace=$(realpath "$posixtrace")
mkdir -p "$tmp/near" "$tmp/far/from/here"
cat >"$tmp/plugin.c" <<'C'
int plugin_inner(int a);
int plugin_outer(int a);
__attribute__((noinline)) int plugin_inner(int a) { __asm__ volatile(""); return a * 3 + 1; }
int plugin_outer(int a) { return plugin_inner(a) + 2; }
C
# shellcheck disable=SC2086 # $CC is a command with arguments
{
	${CC:-cc} -O1 -w -pthread -o "$tmp/near/loads" "$here/probe_plugin.c" -ldl &&
		${CC:-cc} -O1 -shared -fPIC -o "$tmp/near/plugin.so" "$tmp/plugin.c" &&
		cp "$tmp/near/plugin.so" "$tmp/far/from/here/remote.so"
} || exit 99
loads=$tmp/near/loads
count() { "$posixtrace" dump -e "$1" "$log" 2>/dev/null | wc -l; }
# recorded PATTERN COMMAND...
recorded() {
	pattern=$1
	shift
	rm -f "$log"*
	run 0 record -s 16M -o "$log" --trace none --function "$pattern" "$@"
}

# One thread: the library patches the plugin before dlopen() returns, and no call is missed.
for plugin in "$tmp/near/plugin.so" ./near/plugin.so; do
	cd "$tmp" || exit 99
	recorded 'plugin_*@plugin.so' "$loads" $plugin 5
	check "$plugin: its results are right" has out '^wrong 0 '
	check "$plugin: each call is recorded, each time it is loaded" \
		test "$(count func.call)" -eq 100
	recorded 'plugin_*@plugin.so' "$loads" $plugin 5 moves
	check "$plugin: it is loaded at other places" has out '^wrong 0 places 1$'
	check "$plugin: each call is recorded there" test "$(count func.call)" -eq 100
done
recorded 'plugin_*@plugin.so' sh -c "$loads ./near/plugin.so 2; $loads ./near/plugin.so 3"
check "in children, too" test "$(count func.call)" -eq 100

# Two libraries of one plan are loaded in turn at the same address. The second has other functions,
# and more of them.
cat >"$tmp/turns.c" <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static void *runs(void *arg) { for (;;) usleep(1000); return arg; }
int main(int argc, char **argv)
{
	int wrong = 0, same = 0;
	unsigned long last = 0;
	pthread_t thread;
	if (argc > 3)
		pthread_create(&thread, NULL, runs, NULL);
	for (int i = 0; i < 6; i++) {
		void *library = dlopen(argv[1 + i % 2], RTLD_NOW);
		int (*function)(int) = (int (*)(int))dlsym(library, "turn_last");
		struct link_map *map;
		dlinfo(library, RTLD_DI_LINKMAP, &map);
		same += map->l_addr == last;
		last = map->l_addr;
		for (int k = 0; k < 10; k++)
			wrong += function(k) != (i % 2 ? k + 78 : k * 5);
		dlclose(library);
	}
	printf("wrong %d same %d\n", wrong, same > 0);
	return 0;
}
C
cat >"$tmp/turn_a.c" <<'C'
int turn_last(int a) { __asm__ volatile("nop; nop; nop; nop"); return a * 5; }
C
{
	echo 'int turn_0(int a) { __asm__ volatile("nop; nop; nop; nop"); return a; }'
	i=0
	while test $i -lt 12; do
		i=$((i + 1))
		echo "int turn_$((i - 1))(int); int turn_$i(int a) { return turn_$((i - 1))(a + $i) + 0; }"
	done
	echo 'int turn_last(int a) { return turn_12(a); }'
} >"$tmp/turn_b.c"
# shellcheck disable=SC2086 # $CC is a command with arguments
{
	${CC:-cc} -O1 -w -pthread -o "$tmp/turns" "$tmp/turns.c" -ldl &&
		${CC:-cc} -O1 -w -shared -fPIC -o "$tmp/near/turn_a.so" "$tmp/turn_a.c" &&
		${CC:-cc} -O1 -w -shared -fPIC -fno-optimize-sibling-calls -o "$tmp/near/turn_b.so" "$tmp/turn_b.c"
} || exit 99
rm -f "$log"*
run 0 record -s 16M -o "$log" --trace none --function 'turn_*@turn_a.so' --function 'turn_*@turn_b.so' \
	"$tmp/turns" "$tmp/near/turn_a.so" "$tmp/near/turn_b.so"
check "two libraries at one address: their results are right" has out '^wrong 0 same 1$'
# 30 calls of the first library's function, and 30 of the 14 of the second.
check "each call of both is recorded" test "$(count func.call)" -eq 450
rm -f "$log"*
run 0 record -s 16M -o "$log" --trace none --function 'turn_*@turn_a.so' --function 'turn_*@turn_b.so' \
	"$tmp/turns" "$tmp/near/turn_a.so" "$tmp/near/turn_b.so" threads
check "with another thread, too: their results are right" has out '^wrong 0 '

# Another thread runs, or the file is not found before: posixtrace patches the process.
mkfifo "$tmp/end"
# until_traced FILE: waits for the message, or the end of the tracer
until_traced() {
	tries=6000
	until grep -q 'of .*\.so are traced' "$1" || ! kill -0 $tracer 2>/dev/null || test $tries -eq 0; do
		tries=$((tries - 1))
		sleep 0.02
	done
}
late() {
	name=$1
	pattern=$2
	shift 2
	rm -f "$log"*
	: >"$tmp/err" # of the run before: the tracer truncates it later
	"$posixtrace" record -s 16M -o "$log" --trace none --function "$pattern" "$@" \
		<"$tmp/end" >"$tmp/out" 2>"$tmp/err" &
	tracer=$!
	exec 9>"$tmp/end"
	until_traced "$tmp/err"
	sleep 0.1
	exec 9>&-
	wait $tracer
	check "$name: the program ends as usual" test $? -eq 0
	check "$name: its results are right" has out '^wrong 0 '
	check "$name: it is patched later" has err '^posixtrace: --function: 2 functions of .*.so are traced'
	has err 'functions of .*.so are traced' || cat "$tmp/err"
	check "$name: calls are recorded" test "$(count func.call)" -gt 0
}
PLUGIN=$tmp/far/from/here/remote.so
export PLUGIN
if "$posixtrace" record -o "$log" --trace none --function 'plugin_*@remote.so' "$loads" - 1 2>&1 |
	grep -q 'the kernel forbids'; then
	echo "processes cannot be changed here"
else
	late "a file that was not found" 'plugin_*@remote.so' "$loads" - 0
	check "record says that it waits for the file" has err 'the name after @; tracing begins there when the program loads one'
	late "another thread" 'plugin_*@plugin.so' "$loads" "$tmp/near/plugin.so" 0 threads
	check "the log says that the program could not do it" test "$("$posixtrace" dump --system \
		-e posixtrace_shim_patched "$log" | grep -c 'other threads ran')" -gt 0
	late "at other places" 'plugin_*@plugin.so' "$loads" "$tmp/near/plugin.so" 0 threads moves

	# A process that was running before.
	: >"$tmp/out"
	"$loads" "$tmp/near/plugin.so" 0 waits threads <"$tmp/end" >"$tmp/out" 2>&1 &
	pid=$!
	exec 9>"$tmp/end"
	until grep -q runs "$tmp/out"; do sleep 0.02; done
	rm -f "$log"*
	"$posixtrace" attach -p $pid -o "$log" --trace none --function 'plugin_*@plugin.so' 2>"$tmp/err" &
	tracer=$!
	until grep -q 'tracing begins there' "$tmp/err" || ! kill -0 $tracer 2>/dev/null; do sleep 0.02; done
	echo >&9
	until_traced "$tmp/err"
	sleep 0.1
	kill -INT $tracer
	wait $tracer
	check "a process that was running is patched when it loads the file" test "$(count func.call)" -gt 0
	exec 9>&-
	wait $pid
	check "it ends as usual" test $? -eq 0
	check "that process has right results, too" has out '^wrong 0 '
fi

# An extension module of Python, which is in a folder of the system.
python=$(command -v /usr/bin/python3)
module=$(test -z "$python" || "$python" -c 'import _json; print(_json.__file__)' 2>/dev/null)
if test -f "$module"; then
	rm -f "$log"*
	run 0 record -o "$log" --trace none --function 'PyInit_*@_json*' "$python" -c 'import _json; print("good")'
	check "a module of Python does what it does" has out '^good$'
	check "its function is traced" test "$(count func.call)" -eq 1
fi

finish
