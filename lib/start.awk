# SPDX-License-Identifier: LGPL-2.1-or-later
# start.awk - makes a linker script from a list of functions: awk -f start.awk start.functions
#
# The script adds to the linker's own script (INSERT). It places the functions of the list side by
# side before all other functions, and the variables that a start uses side by side at the end of
# the initialized data. Without the script, they would be among functions and variables that a start
# does not use, in many more pages (tests/bench/CURVES).
#
# -v start=NAME: the section of variables that a start uses. All of .data belongs to them, because
# it has few other variables.
# -v rare=NAME: a section of variables that a start does not use, except its beginning; it becomes
# the last
# -v nexts=NAME: a section of variables that a start does not use; it becomes the first
# -v whole=FILE: an object file whose .text, which is assembly, a start uses
# -v last='FILE ...': object files whose part of the section `nexts` a start uses; it becomes the
# last

BEGIN {
	print "SECTIONS { .text.start : {"
}

# "FILE: FUNCTION ...": a compiler may add a suffix such as .constprop.0 to the name. The name
# unlikely.FUNCTION is the part of a function that the compiler has moved away as unlikely.
!/^#/ {
	for (i = 2; i <= NF; i++)
		printf "\t*(.text.%s .text.%s.* .text.startup.%s .text.exit.%s)\n", $i, $i, $i, $i
}

END {
	# pthread_atfork(), and the first and the last function of every library
	print "\t*libc_nonshared.a:*(.text)\n\t*crtbegin*.o(.text)"
	if (whole)
		printf "\t%s(.text)\n", whole
	print "} } INSERT BEFORE .text;"
	data = ".data .data.rel .data.rel.local .data.rel.local.* .data.DW.ref.*"
	# Behind .data, so that nothing of it is in the segment that becomes read-only (RELRO).
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
	# The first of the variables of zeros. They share the last page of the file.
	print "SECTIONS { .bss.start : { *crtbegin*.o(.bss) *(.bss.start) } } INSERT BEFORE .bss;"
}
