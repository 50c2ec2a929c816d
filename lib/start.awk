# SPDX-License-Identifier: LGPL-2.1-or-later
# start.awk - makes a linker script from a list of functions: awk -f start.awk start.functions
#
# The linker adds the script to its own script (INSERT). The script places the functions of the list
# side by side before all other functions. It places the variables that a start uses side by side in
# the initialized data. Without the script, these functions and variables would be among others that
# a start does not use, in many more pages (tests/bench/CURVES).
#
# -v start=NAME: the section of the variables that a start uses. The script puts all of .data into
# this section, because .data has few other variables.
# -v rare=NAME: a section behind `start`. A start uses only the beginning of this section.
# -v nexts=NAME: a section before `start`. A start uses only the last variables of this section,
# which are those of the option `last`.
# -v last='FILE ...': the object files whose variables become the last of the section `nexts`
# -v whole=FILE: an object file with assembly code, whose whole .text a start uses

BEGIN {
	print "SECTIONS { .text.start : {"
}

# "FILE: FUNCTION ...": a compiler may add a suffix such as .constprop.0 to the name of a function.
# The name unlikely.FUNCTION means the unlikely part of a function, which the compiler has moved
# away.
!/^#/ {
	for (i = 2; i <= NF; i++)
		printf "\t*(.text.%s .text.%s.* .text.startup.%s .text.exit.%s)\n", $i, $i, $i, $i
}

END {
	# pthread_atfork(), and the functions of every library that run first and last
	print "\t*libc_nonshared.a:*(.text)\n\t*crtbegin*.o(.text)"
	if (whole)
		printf "\t%s(.text)\n", whole
	print "} } INSERT BEFORE .text;"
	data = ".data .data.rel .data.rel.local .data.rel.local.* .data.DW.ref.*"
	# Behind .data, so that these sections are not in the segment that becomes read-only
	# (RELRO).
	print "SECTIONS {"
	if (nexts) {
		printf "\t%s : { *(EXCLUDE_FILE(%s) %s)", nexts, last, nexts
		for (i = 1; i <= split(last, file); i++)
			printf " %s(%s)", file[i], nexts
		print " }"
	}
	printf "\t%s : { *(%s) *(%s) }\n", start, data, start
	if (rare)
		printf "\t%s : { *(%s) }\n", rare, rare
	print "} INSERT AFTER .data;"
	# These variables become the first of .bss. They share the last page of the initialized
	# data.
	print "SECTIONS { .bss.start : { *crtbegin*.o(.bss) *(.bss.start) } } INSERT BEFORE .bss;"
}
