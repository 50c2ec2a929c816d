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
	check "$how-new-dtags: the call is reported" shows 'dl.open mode=0x2 path=libwhich.so$' 1
done

# Generated code is in no object; the dynamic linker searches the folders of the program for it.
case $(uname -m) in
x86_64 | aarch64)
	cat >"$tmp/generated.c" <<'EOF'
#include <dlfcn.h>
#include <string.h>
#include <sys/mman.h>
int main(void)
{
#ifdef __x86_64__
	/* sub $8, %rsp; call *%rdx; add $8, %rsp; ret */
	static const unsigned char code[] = { 0x48, 0x83, 0xec, 8, 0xff, 0xd2,
					      0x48, 0x83, 0xc4, 8, 0xc3 };
#else
	/* stp x29, x30, [sp, #-16]!; blr x2; ldp x29, x30, [sp], #16; ret */
	static const unsigned code[] = { 0xa9bf7bfd, 0xd63f0040, 0xa8c17bfd, 0xd65f03c0 };
#endif
	void *(*open)(const char *, int, void *(*)(const char *, int));
	void *handle, *page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				   -1, 0);
	int (*answer)(void);

	if (page == MAP_FAILED)
		return 2;
	memcpy(page, code, sizeof code);
	__builtin___clear_cache(page, (char *)page + sizeof code);
	if (mprotect(page, 4096, PROT_READ | PROT_EXEC))
		return 77;
	*(void **)&open = page;
	handle = open("libwhich.so", RTLD_NOW, dlopen);
	answer = handle ? (int (*)(void))dlsym(handle, "answer") : 0;
	return answer ? answer() : 1;
}
EOF
	$CC -o "$tmp/generated" "$tmp/generated.c" -Wl,-rpath,"$tmp/b" -Wl,--enable-new-dtags -ldl
	# The shim of the build tree has a DT_RUNPATH (29) itself, unlike an installed one; it becomes
	# DT_DEBUG (21), which the dynamic linker ignores in a library.
	entry=$(LC_ALL=C readelf -dW "$shim" | awk '/at offset/ { at = $5 } /^ *0x/ { n++ }
		/\(RUNPATH\)/ { print at " + 16 * " n - 1 }')
	cp "$shim" "$tmp/libposixtrace-preload.so"
	shim=$tmp/libposixtrace-preload.so
	test -z "$entry" || printf '\025' | dd of="$shim" bs=1 seek=$((entry)) conv=notrunc 2>/dev/null
	shim dl "$tmp/generated"
	if test $status -eq 77; then
		echo "SKIP: no memory for generated code"
	else
		check "generated code: the program's path is searched" exits 7
		check "generated code: the call is reported" shows 'dl.open mode=0x2 path=libwhich.so$' 1
	fi
	;;
esac

finish
