#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# names.sh COMPILER... - writes a C source with the names of the system calls by their numbers, from
# the headers of the kernel: those of this processor, and on x86-64 those of 32-bit programs.
# Numbers must be decimal numbers less than 512, or macros that are defined as decimal numbers.
# Other calls get no name.
table() {
	header=$1
	shift
	echo "#include <asm/$header>" | "$@" -E -dM - 2>/dev/null | LC_ALL=C sort | awk '
		$1 == "#define" && $2 ~ /^__NR[0-9]*_[a-z0-9_]+$/ { value[$2] = $3 }
		END {
			for (name in value) {
				number = value[name]
				if (number in value)
					number = value[number]
				if (name !~ /^__NR_/ || number !~ /^[0-9]+$/ || number >= 512)
					continue
				sub(/^__NR_/, "", name)
				if (name != "syscalls" && name != "arch_specific_syscall")
					of[number + 0] = name
			}
			for (number = 0; number < 512; number++)
				if (number in of)
					printf "\t[%d] = \"%s\",\n", number, of[number]
		}'
}
echo '/* Made by names.sh. */'
echo '#include "syscalls/syscalls.h"'
echo
echo 'static const char *const native[SYSCALLS_NUMBERS] = {'
table unistd.h "$@"
echo '	[SYSCALLS_NUMBERS - 1] = NULL,'
echo '};'
echo
echo 'static const char *const narrow[SYSCALLS_NUMBERS] = {'
echo '#if defined __x86_64__'
table unistd_32.h "$@"
echo '#endif'
echo '	[SYSCALLS_NUMBERS - 1] = NULL,'
echo '};'
echo
echo 'const char *syscalls_name(uint32_t number, bool is_32bit)'
echo '{'
echo '	return number < SYSCALLS_NUMBERS ? (is_32bit ? narrow : native)[number] : NULL;'
echo '}'
