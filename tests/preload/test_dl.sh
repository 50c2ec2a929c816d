#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The shim's family dl: libraries are found as without it, by the caller's search path.
. "${0%/*}/lib.sh"

: "${CC:=cc}"
echo 'int answer(void) { return 42; }' >"$tmp/answer.c"
$CC -shared -fPIC -o "$tmp/libanswer.so" "$tmp/answer.c" 2>/dev/null || skip "no compiler"

shim dl "$probe" dl "$tmp/libanswer.so" libm.so.6
check "the program works as without the shim" exits 0
check "a path: the call and its result" shows "dl.opened time=[0-9]+ handle=0x[1-9a-f][0-9a-f]* mode=0x2 path=$tmp/libanswer.so\$" 1
check "a name: the call" shows 'dl.open mode=0x1 path=libm.so.6$' 1
check "the program itself" shows 'dl.open mode=0x2 path=$' 1
check "a library that is not there" shows 'dl.opened .* handle=0x0 mode=0x2 path=/no/such/library.so$' 1
check "dlclose" shows 'dl.close .* handle=0x[0-9a-f]+ result=0$' 2

# Two libraries with one name; the caller's RUNPATH selects one.
mkdir "$tmp/a" "$tmp/b"
cat >"$tmp/caller.c" <<'EOF'
#include <dlfcn.h>
int main(void)
{
	void *handle = dlopen("libwhich.so", RTLD_NOW);
	int (*answer)(void) = handle ? (int (*)(void))dlsym(handle, "answer") : 0;

	return answer ? answer() : 1;
}
EOF
sed 's/42/7/' "$tmp/answer.c" >"$tmp/seven.c"
$CC -shared -fPIC -o "$tmp/a/libwhich.so" "$tmp/answer.c"
$CC -shared -fPIC -o "$tmp/b/libwhich.so" "$tmp/seven.c"
for how in enable disable; do
	$CC -o "$tmp/caller" "$tmp/caller.c" -Wl,-rpath,"$tmp/b" -Wl,--$how-new-dtags -ldl
	shim dl "$tmp/caller"
	check "$how-new-dtags: the caller's path is searched" exits 7
	check "$how-new-dtags: the call is told" shows 'dl.open mode=0x2 path=libwhich.so$' 1
done

finish
