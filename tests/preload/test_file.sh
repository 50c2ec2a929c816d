#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The shim's family file, and descriptors that belong to no file.
. "${0%/*}/lib.sh"

mkdir "$tmp/here"
shim file "$probe" file "$tmp/here"
check "the program works as without the shim" exits 0
check "a folder is made" shows 'file.mkdir .* error=0 folder=-100 mode=0x1e8 path=sub$' 1
check "an error is reported" shows 'file.mkdir .* error=17 .* path=sub$' 1
check "stat" shows 'file.stat .* error=0 folder=-100 flags=0x0 path=sub$' 1
check "lstat" shows 'file.stat .* error=0 folder=-100 flags=0x100 path=sub/soft$' 1
check "a file that is not there" shows 'file.stat .* error=2 .* path=/no/such/file$' 1
check "access" shows 'file.access .* error=0 folder=-100 mode=0x6 flags=0x0 path=sub/file$' 1
check "rename" shows 'file.rename .* error=0 .* path=sub/file to=sub/new$' 1
check "link" shows 'file.link .* error=0 .* path=sub/new to=sub/hard$' 1
check "symlink" shows 'file.symlink .* error=0 .* path=sub/soft to=new$' 1
check "readlink, with the result" shows 'file.readlink .* error=0 .* path=sub/soft to=new$' 1
check "readlink of a file" shows 'file.readlink .* error=22 .* path=sub/new to=$' 1
check "chmod" shows 'file.chmod .* mode=0x180 flags=0x0 path=sub/new$' 1
check "chown" shows 'file.chown .* user=-1 group=-1 flags=0x0 path=sub/new$' 1
check "truncate" shows 'file.truncate .* error=0 fd=-1 length=77 path=sub/new$' 1
check "ftruncate" shows 'file.truncate .* error=0 fd=[0-9]+ length=5 path=$' 1
check "utimensat" shows 'file.utimes .* error=0 .* path=sub/new$' 1
check "unlink" shows 'file.unlink .* error=0 .* flags=0x0 path=sub/(soft|hard)$' 2
check "rmdir" shows 'file.unlink .* error=39 folder=-100 flags=0x200 path=sub$' 1
check "umount" shows 'file.umount .* path=sub/nothing$' 1
check "memory that is not there is not looked at" shows 'file.stat .* error=14 .* path=$' 1
check "a path is also omitted if another argument is wrong" shows 'file.(rename|access|truncate) .* error=22 .* path=( to=)?$' 3
check "opendir" shows 'file.opendir .* error=0 fd=[0-9]+ path=sub$' 1
check "opendir that fails" shows 'file.opendir .* error=2 fd=-1 path=sub/nothing$' 1
check "each entry" shows 'file.readdir .* error=0 fd=[0-9]+ name=(\.|\.\.|new)$' 3
check "the end of the folder is recorded" shows 'file.readdir .* error=0 fd=[0-9]+ name=$' 1
check "closedir" shows 'file.closedir .* error=0 fd=[0-9]+$' 1
check "getcwd" shows "file.getcwd .* error=0 path=$tmp/here\$" 1
check "getcwd that fails" shows 'file.getcwd .* error=34 path=$' 1
check "realpath" shows "file.realpath .* error=0 path=sub/../sub/new to=$tmp/here/sub/new\$" 1
check "mkstemp, with the name" shows 'file.mkstemp .* error=0 fd=[0-9]+ flags=0xc2 path=sub/......$' 1
check "glob" shows 'file.glob .* result=[03] flags=0x0 path=sub/[nz]\*$' 2
check "chdir" shows 'file.chdir .* path=(sub|\.\.)$' 2
check "inotify" shows 'file.inotify_add_watch .* mask=0x100 path=\.$' 1
run 0 dump "$log"
check "flags have their names" has out 'file.inotify_add_watch .* mask=IN_CREATE path="\."$'
check "no other family" shows ' io\.' 0

rm -r "$tmp/here"/*
shim io,net,process "$probe" file "$tmp/here"
run 0 dump "$log"
check "fcntl() has names for the flags that it returned" has out 'io.fcntl .* command=F_GETFL result=0 lock=none flags=O_RDONLY value=0$'
check "fcntl() has names for the flags that it set" has out 'io.fcntl .* command=F_SETFL result=0 lock=none flags=O_RDONLY|O_NONBLOCK value=2048$'
check "pipe2" shows 'io.pipe .* error=0 fd=[0-9]+ write=[0-9]+ flags=0x80000$' 1
check "F_DUPFD_CLOEXEC" shows 'io.fcntl .* error=0 fd=[0-9]+ command=1030 result=100 lock=-1 flags=0x0 value=100$' 1
check "a command without a value, and the flags that it returned" \
	shows 'io.fcntl .* command=3 result=0 lock=-1 flags=0x4 value=0$' 1
check "the flags that a command set" shows 'io.fcntl .* command=4 result=0 lock=-1 flags=0x804 value=2048$' 1
check "dup2" shows 'io.dup .* error=0 fd=100 copy=101 ' 1
check "dup that fails" shows 'io.dup .* error=9 .* copy=-1 ' 1
check "ioctl" shows 'io.ioctl .* error=0 fd=100 result=0 request=0x541b value=0x[0-9a-f]+$' 1
check "flock" shows 'io.flock .* error=0 fd=[0-9]+ operation=0x2$' 1
check "eventfd" shows 'io.eventfd .* fd=[0-9]+ value=3 flags=0x800$' 1
check "timerfd" shows 'io.timerfd_create .* clock=1 flags=0x0$' 1
check "memfd" shows 'io.memfd_create .* flags=0x1 name=some$' 1
check "a name that is not there is not looked at" shows 'io.memfd_create .* error=14 .* name=$' 1
check "epoll_create1" shows 'net.epoll_create .* flags=0x80000$' 1
check "epoll_ctl" shows 'net.epoll_ctl .* operation=[12] fd=100 events=0x[01]$' 2
check "getaddrinfo" shows 'net.getaddrinfo .* error=0 result=0 node=127.0.0.1 service=80 servers=$' 1
check "getaddrinfo that fails" shows 'net.getaddrinfo .* result=-2 node=no number service= servers=$' 1
check "kill" shows 'process.kill .* error=0 pid=[0-9]+ signal=0 tid=0 thread=0x0$' 1
check "limits" shows 'process.limit .* error=0 pid=0 resource=7 set=[01] limit=[0-9]+ ' 2

shim file "$probe" file-variants
check "variants work as without the shim" exits 0
check "stat64, lstat64, fstatat, statx" shows 'file.stat .* error=0 .* path=/$' 4
check "statfs" shows 'file.statfs .* error=0 fd=-1 path=/$' 1
check "__readlink_chk" shows 'file.readlink .* error=2 .* path=/no/such/link to=$' 1

# Strings and structs that a failed call may not have read: the results are those without the shim.
for what in file-strings file-structs; do
	rm -rf "$tmp/here"
	mkdir "$tmp/here"
	"$probe" $what "$tmp/here" >"$tmp/plain" </dev/null
	shim file,io,process,net,time "$probe" $what "$tmp/here" </dev/null
	check "$what: the program survives" exits 0
	check "$what: results are those without the shim" cmp "$tmp/plain" "$tmp/out"
done
rm -rf "$tmp/here"
mkdir "$tmp/here"
shim file "$probe" file-strings "$tmp/here" </dev/null
check "a string that ends before an unreadable page is recorded" \
	shows 'file.rename .* error=[1-9][0-9]* folder=-100 to_folder=-100 flags=0x0 path=y to=y$'
check "one without a NUL there is not" shows 'path=x' 0
check "a path that is too long keeps its end" shows 'file.unlink .* error=36 .* path=\.\.\.l{200}'
check "two paths that are too long keep their ends" shows 'file.rename .* path=\.\.\.l{200}l* to=\.\.\.l{200}l*$'

# Some of its children end by SIGSEGV, so that its log is not examined.
run 0 record -q -o "$tmp/small" -- "$probe" file-small </dev/null
check "a call without strings needs no stack for them" test "$(tail -n 1 "$tmp/out")" -ge 256

shim io "$probe" file-owner
check "the owner of a descriptor is a group" exits 0
check "a negative result is no error" \
	shows 'io.fcntl .* error=0 fd=[0-9]+ command=9 result=-[0-9]+ lock=-1 flags=0x0 value=0$' 1

# Programs that were linked with an old glibc call __xstat(), which has no header any more.
cat >"$tmp/old.c" <<'EOF'
#include <dlfcn.h>
int main(void)
{
	char to[1024];
	unsigned long device = 0;
	int (*old)(int, const char *, void *) = dlsym(RTLD_DEFAULT, "__xstat");
	int (*node)(int, const char *, unsigned, void *) = dlsym(RTLD_DEFAULT, "__xmknod");
	int (*at)(int, int, const char *, unsigned, void *) = dlsym(RTLD_DEFAULT, "__xmknodat");
	if (!old || !node || !at)
		return 9;
	if (node(0, "/no/such/node", 0100644, &device) != -1)
		return 8;
	if (at(0, -100, "/no/such/nodeat", 0100644, &device) != -1)
		return 7;
	return old(1, "/etc", to);
}
EOF
if ${CC:-cc} -o "$tmp/old" "$tmp/old.c" -ldl 2>/dev/null; then
	shim file "$tmp/old"
	check "__xstat finds the function of the C library" exits 0
	check "__xmknod and __xmknodat find their functions" \
		shows 'file.mknod .* error=2 folder=-100 mode=0x81a4 path=/no/such/node(at)?$' 2
	check "the call of __xstat is recorded" shows 'file.stat .* error=0 .* path=/etc$' 1
fi

run 0 record -q -o "$log" -- sh -c 'ls /nonexist 2>/dev/null; true'
run 0 dump --where 'error == ENOENT' "$log"
check "ls of a missing file shows its name and the error" \
	has out 'error=ENOENT folder=AT_FDCWD .*path="/nonexist"'
finish
