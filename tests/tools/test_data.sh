#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Names of locks that are variables: of the program, of a library, in a child, and none if the file has
# no symbols or the lock is on the heap. Names of functions to which fields point.
: "${CC:=cc}"
. "${0%/*}/lib.sh"

if nm "$posixtrace" 2>/dev/null | grep -q '__[at]san_init'; then
	skip "programs are linked here without the sanitizer"
fi
POSIXTRACE_PRELOAD=$shim
export POSIXTRACE_PRELOAD

cat >"$tmp/library.c" <<'END'
#include <pthread.h>
static pthread_mutex_t library_lock = PTHREAD_MUTEX_INITIALIZER;
void use_library(void)
{
	pthread_mutex_lock(&library_lock);
	pthread_mutex_unlock(&library_lock);
}
END
cat >"$tmp/program.c" <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
void use_library(void);
pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
struct { char text[64]; pthread_mutex_t lock; } cache = { "", PTHREAD_MUTEX_INITIALIZER };
static struct {
	int clients;
	struct { pthread_mutex_t lock; int used; } pool[4];
} server;
static union { char pad[64]; pthread_mutex_t lock; } padded;
static pthread_mutex_t grid[2][3][4];
static void use(pthread_mutex_t *lock)
{
	pthread_mutex_lock(lock);
	pthread_mutex_unlock(lock);
}
int main(void)
{
	static pthread_mutex_t child_lock = PTHREAD_MUTEX_INITIALIZER;
	pthread_mutex_t *heap = calloc(1, sizeof(*heap));

	use(&table_lock);
	use(&cache.lock);
	use(&server.pool[0].lock);
	use(&server.pool[3].lock);
	use(&padded.lock);
	use(&grid[1][2][3]);
	use(heap);
	use_library();
	if (!fork()) {
		use(&child_lock);
		_exit(0);
	}
	wait(NULL);
	free(heap);
	return 0;
}
END
(cd "$tmp" && $CC -O1 -fPIC -shared -Wl,--build-id=sha1 -o libuse.so library.c -pthread &&
	$CC -O1 -fPIE -pie -Wl,--build-id=sha1 -o pie program.c -L. -luse -Wl,-rpath,"$tmp" -pthread &&
	$CC -g -O1 -fPIE -pie -Wl,--build-id=sha1 -o debug-info program.c -L. -luse -Wl,-rpath,"$tmp" -pthread &&
	$CC -O1 -fno-pie -no-pie -Wl,--build-id=sha1 -o fixed program.c -L. -luse -Wl,-rpath,"$tmp" -pthread) ||
	skip "no compiler for programs and libraries"

for program in pie fixed; do
	run 0 record --trace lock,lock-hold,process -q -o "$tmp/$program.ptl" "$tmp/$program"
	"$posixtrace" symbols "$tmp/$program.ptl" | grep -q -- ' -> ' || skip "built without elfutils"
	run 0 latency "$tmp/$program.ptl"
	check "$program: a variable has its name" has out ' 0x[0-9a-f]* "table_lock"'
	check "$program: a lock in a variable has the distance from its begin" has out ' 0x[0-9a-f]* "cache+0x40"'
	check "$program: a variable of a library" has out ' 0x[0-9a-f]* "library_lock"'
	check "$program: a child has the names of its parent" has out ' 0x[0-9a-f]* "child_lock[.0-9]*"'
	check "$program: a lock on the heap has none" test "$(grep -c '0x[0-9a-f]*$' "$tmp/out")" = 1
	run 0 latency --json "$tmp/$program.ptl"
	check "$program: also in JSON" has out '"lock_name":"table_lock"'
done

# With debug information the members of variables have their names.
run 0 record --trace lock,lock-hold,process -q -o "$tmp/debug-info.ptl" "$tmp/debug-info"
run 0 latency "$tmp/debug-info.ptl"
for name in table_lock cache.lock 'server.pool\[0\].lock' 'server.pool\[3\].lock' padded.lock \
	'grid\[1\]\[2\]\[3\]' library_lock; do
	check "with debug information: $name" has out " 0x[0-9a-f]* \"$name\""
done

# dump names locks and functions, if symbols are requested.
run 0 dump --symbols -e 'lock.*_held' "$tmp/debug-info.ptl"
for name in table_lock cache.lock 'server.pool\[3\].lock' library_lock; do
	check "dump: $name" has out " lock=0x[0-9a-f]* <$name>"
done
check "dump: a lock on the heap has no name" has out ' lock=0x[0-9a-f]* in '
run 0 dump --symbols --json -e 'lock.*_held' "$tmp/debug-info.ptl"
check "dump: JSON has a label" has out '"labels":{"lock":"table_lock"}'
run 0 dump -e 'lock.*_held' "$tmp/debug-info.ptl"
check "dump: no names without --symbols" lacks out '<'

cat >"$tmp/thread.c" <<'END'
#include <pthread.h>
void *before(void *arg) { return arg; }
void *worker(void *arg) { return arg; }
int main(void)
{
	pthread_t thread;

	return pthread_create(&thread, NULL, worker, NULL) || pthread_join(thread, NULL);
}
END
$CC -g -O1 -Wl,--build-id=sha1 -o "$tmp/thread" "$tmp/thread.c" -pthread
run 0 record --trace thread -q -o "$tmp/thread.ptl" "$tmp/thread"
run 0 dump --symbols -e 'thread.*' "$tmp/thread.ptl"
check "dump: the function of a thread" has out 'thread.create .* function=0x[0-9a-f]* <worker> .* in main (.*thread.c:8)'
check "dump: a thread begins in its function" has out 'thread.begin .* in worker (.*thread.c:3)'
check "dump: a thread ends in its function" has out 'thread.end .* in worker (.*thread.c:3)'

# clang stores the addresses of variables in a table.
if clang -gdwarf-5 -O1 -fPIE -pie -Wl,--build-id=sha1 -o "$tmp/by-clang" "$tmp/program.c" -L"$tmp" -luse \
	-Wl,-rpath,"$tmp" -pthread 2>/dev/null; then
	run 0 record --trace lock,lock-hold,process -q -o "$tmp/by-clang.ptl" "$tmp/by-clang"
	run 0 latency "$tmp/by-clang.ptl"
	check "by clang: a member" has out ' 0x[0-9a-f]* "cache.lock"'
	check "by clang: an element" has out ' 0x[0-9a-f]* "grid\[1\]\[2\]\[3\]"'
fi

# A file without symbols names nothing; the file with symbols may be elsewhere.
mkdir "$tmp/debug"
cp "$tmp/pie" "$tmp/debug/pie.debug"
strip "$tmp/pie"
run 0 latency "$tmp/pie.ptl"
check "without symbols there is no name" lacks out 'table_lock'
check "the library still has its names" has out '"library_lock"'
finish
