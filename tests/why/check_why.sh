#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# make check-why: programs that are slow for a known reason. posixtrace why names it, and its parts
# equal the programs' own measurements. The load of the machine has no influence: both include it.
. "${0%/*}/../tools/lib.sh"

build=$(cd "${top_builddir:-..}" && pwd)
source=$(cd "${0%/*}" && pwd)
posixtrace=$build/tools/posixtrace/posixtrace
cd "$tmp" || exit 99
unset POSIXTRACE_TRACE LD_PRELOAD
POSIXTRACE_PRELOAD=$build/lib/.libs/libposixtrace-preload.so
export POSIXTRACE_PRELOAD
command -v python3 >/dev/null || skip "python3 is not there"
${CC:-cc} -g -O1 -fno-omit-frame-pointer -pthread -o causes "$source/causes.c" || exit 99
"$posixtrace" record --sched -q -o probe.ptl true 2>err ||
	skip "when threads run cannot be recorded here: $(cat err)"
"$posixtrace" dump -e sched.clock probe.ptl | sed 's/.*way=/the kernel records by /'

# A slow disk: FUSE needs a privilege, a library and the kernel's consent.
SLOW_FILE=$tmp/disk/slow
export SLOW_FILE
has_disk() {
	pkg-config --exists fuse3 2>/dev/null && mkdir -p disk &&
		${CC:-cc} -o slowfs "$source/slowfs.c" $(pkg-config --cflags --libs fuse3) 2>/dev/null &&
		./slowfs -o allow_other disk 2>err && test -r "$SLOW_FILE"
}
if has_disk; then
	trap 'umount "$tmp/disk" 2>/dev/null; rm -rf "$tmp"' 0
	disk=yes
else
	disk=
	echo "without the slow disk: libfuse3, root and /dev/fuse are needed: $(cat err)"
fi

# reason NAME KIND END [OPTION]...: the program, the part of its time, and a part of the chain's text.
# The first way is that of this user, by tracefs if it is permitted; the second is without a privilege.
reason() {
	name=$1 kind=$2 end=$3
	shift 3
	for way in usual perf; do
		POSIXTRACE_KERNEL=$way "$posixtrace" record --sched --trace default,lock-hold -q --force \
			"$@" -o $name.ptl ./causes $name >measured
		"$posixtrace" why --json --thread subject $name.ptl >answer
		check "$name, $way: why is right" python3 "$source/check_why.py" answer measured "$kind" \
			"$end"
	done
}

reason convoy lock 'held by'
reason starved runnable 'the CPU ran'
reason inversion lock 'without a CPU'
reason world lock 'sleeping: usleep()'
reason pipes peer 'sleeping: usleep()'
reason child peer 'sleeping: usleep()'
reason sleep sleep 'in sleep_hidden (causes.c'
reason timer sleep 'nanosleep()'
reason busy running 'running'
# Samples: the functions that run, and by the samples that are missing, the page faults.
reason faults fault 'page faults of touch (causes.c)' --sample 4999 --trace alloc
reason sharing running 'running write_line (causes.c)' --sample 999
if test -n "$disk"; then
	reason disk file "read of $SLOW_FILE"
	# Privileged: the process behind the disk.
	if "$posixtrace" dump -e sched.clock probe.ptl | grep -q tracefs; then
		"$posixtrace" record --sched -q --force -o slow.ptl ./causes disk >measured
		"$posixtrace" why --thread subject slow.ptl >answer
		check "disk: the process behind the disk is named" grep -q \
			'woken by thread [0-9]* of process [0-9]* (slowfs), which was not recorded' answer
	fi
fi
finish
