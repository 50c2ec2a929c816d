# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=sh
# The features of Linux that a suite needs and that an emulator or a program checker may lack.
# $source is the tree.

# not_done CC [EMULATOR...]: sets $undone to the words that emulated.c prints under the emulator
not_done() {
	not_done_cc=$1
	shift
	"$not_done_cc" -std=gnu11 -D_GNU_SOURCE -o emulated.program "$source/tests/builds/emulated.c" &&
		undone=$("$@" ./emulated.program 2>/dev/null) && undone=$(echo $undone)
}

# needs SUITE: words of emulated.c
needs() {
	grep -Eq 'puppet_start|miser_start|folder_run|wait_for_end|exec[lv]p?e?\(|posix_spawn|SUBREAPER' \
		"$source/tests/$1.c" && echo exec
	# A process that traces another identifies it by its start time, and holds it by a
	# descriptor.
	grep -q 'puppet_start' "$source/tests/$1.c" && echo stat pidfd
	case $1 in
	unit/arena/test_orphan | unit/arena/test_region) echo populate ;;
	unit/cursor/test_recover | posix/test_log) echo stat ;;
	posix/test_level | posix/test_describe | posix/test_secure) echo stat pidfd ;;
	posix/test_shutdown) echo memory ;;
	posix/test_sigcan) echo mask ;;
	esac
}

# lacks SUITE: prints the features that the suite needs and that are missing here
lacks() {
	for word in $(needs "$1"); do
		case " $undone " in
		*" $word "*) echo "$word" && return 0 ;;
		esac
	done
	return 1
}
