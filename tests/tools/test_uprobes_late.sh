#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Functions and probes of plugins that a program without the preload library loads after the
# recording has begun. The host counts the calls; the log must have as many. Skipped where the kernel
# does not permit uprobes.
. "${0%/*}/lib.sh"

work_in_tmp

cat >host.c <<'EOF2'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int (*work)(int);
static void *plugin;

static int commands(void)
{
	char line[512];

	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = 0;
		if (!strncmp(line, "open ", 5)) {
			plugin = dlopen(line + 5, RTLD_NOW);
			work = plugin ? dlsym(plugin, "plug_work") : 0;
			printf("%s\n", work ? "opened" : dlerror());
		} else if (!strncmp(line, "call ", 5)) {
			for (int i = atoi(line + 5); i > 0; i--)
				work(i);
			printf("called\n");
		} else if (!strcmp(line, "close")) {
			printf("%s\n", dlclose(plugin) ? "refused" : "closed");
		} else if (!strcmp(line, "fork") && fork()) {
			wait(0);
			printf("waited\n");
		} else if (!strcmp(line, "exit")) {
			_exit(0);
		} else {
			printf("child\n");
		}
		fflush(stdout);
	}
	return 0;
}

int main(void)
{
	setvbuf(stdin, 0, _IONBF, 0);
	return commands();
}
EOF2
cat >plug.c <<'EOF2'
#ifdef PROBES
#include <sys/sdt.h>
#endif
static volatile int sum;
__attribute__((noinline, noclone)) int plug_step(int n) { sum += n; return n + 1; }
int plug_work(int n)
{
#ifdef PROBES
	DTRACE_PROBE1(plug, worked, n);
#endif
	return plug_step(n) + plug_step(n + 1);
}
EOF2

# make HOST FOLDER COMPILER FLAG...: a host, and plugins in the folder and below it.
make_host() {
	host=$1 folder=$2 cc=$3
	shift 3
	probes=
	echo '#include <sys/sdt.h>' | $cc -E - >/dev/null 2>&1 && probes=-DPROBES
	mkdir -p "$folder/deep/er" && $cc -O1 -w "$@" -o "$folder/$host" host.c -ldl 2>err || return
	for plugin in near deep/er/far deep/er/next deep/er/child deep/er/new; do
		$cc -O1 -w -shared -fPIC -nostdlib $probes -DNAME="$plugin" -Wl,--build-id \
			-o "$folder/$plugin.so" plug.c 2>err || return
	done
	mkdir -p "$folder/home/.local/lib" && cp "$folder/deep/er/far.so" "$folder/home/.local/lib" || exit 99
	printf 'open ./near.so\ncall 3\n' | (cd "$folder" && "./$host") >out 2>err
	test "$(tr '\n' ' ' <out)" = "opened called "
}
make_host static glibc "${CC:-cc}" -static || skip "no program with a static C library that has plugins: $(head -n 1 err)"
"$posixtrace" doctor >out 2>err
grep -q '^works  *uprobes' out || skip "uprobes: $(sed -n 's/^limited  *uprobes  *\(.*\): functions of static.*/\1/p' out)"

# until_has FILE TEXT [TIMES]: a minute at most.
until_has() {
	tries=600
	until test "$(grep -c -e "$2" "$1")" -ge "${3:-1}"; do
		tries=$((tries - 1))
		test $tries -gt 0 || return 1
		sleep 0.1
	done
}

# say COMMAND ANSWER: sends a command to the host, and waits for the next answer.
answers=0
say() {
	echo "$1" >&7
	answers=$((answers + 1))
	until_has said . $answers
	check "$1" test "$(tail -n 1 said)" = "$2"
}

# begin COMMAND...: the host in the background, in its folder, with a pipe as its input.
begin() {
	rm -f in said trace.err
	mkfifo in
	: >said
	answers=0
	(cd "$folder" && exec "$@") <in >said 2>trace.err &
	host_id=$!
	exec 7>in
}

# is_counted LOG N: the calls of the plugin's two functions.
is_counted() {
	check "$label: plug_work has $2 calls" test "$("$posixtrace" latency -e func.call "$1" | awk '$NF == "plug_work" { n += $1 } END { print n + 0 }')" -eq "$2"
	check "$label: plug_step has twice as many" test "$("$posixtrace" latency -e func.call "$1" | awk '$NF == "plug_step" { n += $1 } END { print n + 0 }')" -eq $((2 * $2))
	run 0 verify "$1"
	check "$label: nothing is lost" has out 'unread 0 + lost 0$'
}

scenes() {
	# The name is found before the program starts: each call is there.
	label="$folder: found ahead"
	begin "$posixtrace" record --force -o ../ahead.ptl --function 'plug_*@near.so' "./$host"
	say "open ./near.so" opened
	say "call 10" called
	exec 7>&-
	wait $host_id
	check "$label: record says so" has trace.err ': --function: 2 functions are traced by uprobes of the kernel$'
	is_counted ahead.ptl 10

	# It is not found, so the mapping is noticed. The calls after that moment are there.
	label="$folder: noticed"
	begin "$posixtrace" record --force -o ../late.ptl --function 'plug_*@far.so' --function 'plug_*@new.so' "./$host"
	say "open ./deep/er/far.so" opened
	check "$label: record says so" until_has trace.err ': --function: 2 functions of far.so, mapped [0-9.]* ms before, are traced by uprobes of the kernel$'
	say "call 10" called
	# The same file with another time: its calls have one event each.
	say close closed
	touch -t 202001010000 "$folder/deep/er/far.so"
	say "open ./deep/er/far.so" opened
	say "open ./deep/er/new.so" opened
	check "$label: each file has a line" until_has trace.err ' functions of new.so, mapped'
	say close closed
	say "open ./deep/er/far.so" opened
	say "call 5" called
	# Another file with the same path.
	say "open ./deep/er/new.so" opened
	say close closed
	cp "$folder/deep/er/far.so" "$folder/new" && mv "$folder/new" "$folder/deep/er/new.so"
	say "open ./deep/er/new.so" opened
	check "$label: a new file of the same name" until_has trace.err ' functions of new.so, mapped' 2
	say "call 7" called
	exec 7>&-
	wait $host_id
	is_counted late.ptl 22
	"$posixtrace" dump --raw -e func.late late.ptl >out
	check "$label: the log has the times" has_lines out 3
	check "$label: with the file" has out "missed=[0-9.]*[num]*s functions=2 probes=0 file=\"$tmp/$folder/deep/er/far.so\""

	# A child: only patterns with a module count there.
	label="$folder: a child"
	begin "$posixtrace" record --force -o ../child.ptl --function 'plug_*' --function main --function 'plug_work@child.so' "./$host"
	say fork child
	say "open ./deep/er/next.so" opened
	say "open ./deep/er/child.so" opened
	check "$label: record says so" until_has trace.err ' functions of child.so, mapped'
	say "call 5" called
	say exit waited
	say "open ./deep/er/next.so" opened
	check "$label: a pattern without a module counts in the program" until_has trace.err ' 2 functions of next.so, mapped'
	say "call 6" called
	exec 7>&-
	wait $host_id
	is_counted child.ptl 11

	# A running process: its own folder is searched.
	label="$folder: attached"
	begin "./$host"
	say "open ./near.so" opened
	"$posixtrace" attach -p $host_id -o running.ptl --force --function 'plug_*@next.so' --function 'plug_*@far.so' \
		--probe 'plug:worked@far.so' >out 2>trace.err &
	tracer=$!
	until_has trace.err '^posixtrace: --function: no loaded file has the name after @'
	check "$label: attach says so" has trace.err 'tracing begins there when the program loads one'
	say "open ./deep/er/far.so" opened
	check "$label: a line says so" until_has trace.err ' functions of far.so, mapped'
	say "call 10" called
	kill -INT $tracer
	wait $tracer
	exec 7>&-
	wait $host_id
	is_counted running.ptl 10
	test -z "$probes" || check "$label: probes" test "$("$posixtrace" dump --raw -e plug:worked running.ptl | wc -l)" -eq 10

	# In another mount namespace the path is that of another file.
	if unshare -m true 2>/dev/null; then
		label="$folder: another namespace"
		begin unshare -m sh -c 'mount --bind deep/er/next.so deep/er/far.so && exec "$0"' "./$host"
		say "open ./near.so" opened
		"$posixtrace" attach -p $host_id -o other.ptl --force --function 'plug_*@far.so' >out 2>trace.err &
		tracer=$!
		until_has trace.err '^posixtrace: --function: no loaded file has the name after @'
		say "open ./deep/er/far.so" opened
		check "$label: a line says so" until_has trace.err "^posixtrace: process $host_id: --function and --probe: $tmp/$folder/deep/er/far.so is not traced: the process sees another file there, as in a container, or it was replaced\$"
		kill -INT $tracer
		wait $tracer
		check "$label: no other file is traced" lacks trace.err ' functions of far.so'
		exec 7>&-
		wait $host_id
	fi

	# Names of folders are relative to the folder of the process, also in its environment.
	for folders in LD_LIBRARY_PATH=deep/er PYTHONPATH=none:deep "HOME=$tmp/$folder/home"; do
		label="$folder: attached, $folders"
		begin env "$folders" "./$host"
		say "open ./near.so" opened
		"$posixtrace" attach -p $host_id -o ahead.ptl --force --function 'plug_*@far.so' >out 2>trace.err &
		tracer=$!
		until_has trace.err '^posixtrace: --function: .* traced'
		check "$label: found ahead" has trace.err ': --function: 2 functions are traced by uprobes of the kernel$'
		kill -INT $tracer
		wait $tracer
		exec 7>&-
		wait $host_id
	done
}
scenes
POSIXTRACE_KERNEL=perf
export POSIXTRACE_KERNEL
label="the older way"
begin "$posixtrace" record --force -o ../older.ptl --function 'plug_*@far.so' "./$host"
say "open ./deep/er/far.so" opened
until_has trace.err ' functions of far.so, mapped'
say "call 10" called
exec 7>&-
wait $host_id
is_counted older.ptl 10

# The memory of --sched is all that every user may lock. RLIMIT_MEMLOCK permits 64 pages more for each
# CPU, and the largest memory for mappings has 65, so record must map less. No other test locks memory
# as this user.
cpus=$(getconf _NPROCESSORS_CONF)
caps=-all,+bpf,+perfmon,+sys_admin,+sys_ptrace,+dac_override,+kill
limited="prlimit --memlock=$((cpus * 256 * 1024)) setpriv --reuid=65531 --inh-caps=$caps --ambient-caps=$caps"
if test "$cpus" -le 50 && $limited true 2>/dev/null; then
	label="little memory"
	begin $limited "$posixtrace" record --force --sched -o ../little.ptl --function 'plug_*@far.so' "./$host"
	say "open ./deep/er/far.so" opened
	check "$label: record says so" until_has trace.err ' functions of far.so, mapped'
	say "call 10" called
	exec 7>&-
	wait $host_id
	is_counted little.ptl 10
else
	echo "no prlimit, no setpriv, or more than 50 CPUs: not tested with little memory"
fi
unset POSIXTRACE_KERNEL

if make_host dynamic musl musl-gcc; then
	scenes
else
	echo "no musl-gcc: not tested"
fi
finish
