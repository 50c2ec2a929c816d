#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# inside.sh ROOT FOLDER[:FOLDER] COMMAND...: runs COMMAND in the system ROOT of system.sh, in the
# current folder. The folders, with the sources and the build, have the same paths there.
#
# The kernel starts qemu-aarch64 for each program of arm64, by binfmt_misc of a user namespace of
# its own (Linux 6.7): the caller needs no privilege and this machine keeps its configuration. The
# command has its own processes, which end with it, and its own empty /tmp and /dev/shm.
set -eu
if test "$1" != --inside; then
	qemu=$(command -v qemu-aarch64-static) || {
		echo "$0: qemu-aarch64-static is needed (package qemu-user-static)" >&2
		exit 99
	}
	exec unshare --user --map-root-user --mount --pid --fork --kill-child --mount-proc \
		sh "$0" --inside "$qemu" "$@"
fi
qemu=$2 root=$3 folders=$4 build=$(cd "${top_builddir:-.}" && pwd)
shift 4

failed() {
	echo "inside.sh: $*" >&2
	exit 99
}

mount -t binfmt_misc none /proc/sys/fs/binfmt_misc 2>/dev/null ||
	failed "this kernel has no binfmt_misc for user namespaces (Linux 6.7)"
# The head of an ELF file of 64 bits for aarch64, ET_EXEC or ET_DYN. F: the kernel opens the
# emulator now, so that it is not needed in ROOT. P, O, C: the emulator gets the first argument
# and the open file, and programs have the rights of their own files.
printf '%s' ':qemu-aarch64:M:0:\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00:'\
'\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:'"$qemu:POCF" \
	>/proc/sys/fs/binfmt_misc/register || failed "qemu-aarch64 is not registered"

mkdir -p "$root/proc" "$root/sys" "$root/dev" "$root/tmp"
for folder in $(echo "$folders" | tr : ' '); do
	mkdir -p "$root$folder"
	mount --rbind "$folder" "$root$folder"
done
mount --rbind /proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"
mount -t tmpfs -o mode=1777 none "$root/dev/shm"
mount -t tmpfs -o mode=1777 none "$root/tmp"
# The program behind a script of libtool starts faster.
program=$1
if test -x "${program%/*}/.libs/${program##*/}"; then
	shift
	set -- "${program%/*}/.libs/${program##*/}" "$@"
fi
here=$PWD
cd "$root"
# Without exec, this shell is the first process of the namespace: it waits for the orphans of the
# command, and a signal that ends the command has its usual effect, unlike in a first process.
chroot "$root" /usr/bin/env -u TMPDIR PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp \
	LD_LIBRARY_PATH="$build/lib/.libs" CC=gcc CXX=g++ \
	/bin/sh -c 'cd "$1" && shift && exec "$@"' sh "$here" "$@"
