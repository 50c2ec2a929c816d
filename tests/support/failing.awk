# SPDX-License-Identifier: LGPL-2.1-or-later
# Prints the failing part of the log of a suite: the checks of a script that failed, with their output,
# such as the difference of a transcript, and the tests of Check that failed. Each has at most LINES
# lines, all together three times as many. The log of a suite that was ended, or that did not begin,
# has no such check or no sum of its checks: its last LINES lines are printed, too.
# The log may have any bytes, so run it with LC_ALL=C.
BEGIN {
	if (!LINES)
		LINES = 30
}

{
	gsub(/[\001-\010\013-\037]/, "?")
	line = length($0) > 300 ? substr($0, 1, 300) "..." : $0
	last[NR % LINES] = line
}

/^[0-9]+%: Checks: / {
	summed = 1
}

# A script indents the output of a check by a tab. Check prints its failures at the end of the log.
/^FAILED: / || /^[^ \t]+:[0-9]+:[FE]:/ {
	inside = 1
	shown = 0
	of_script = /^FAILED: /
	failed++
}

of_script && !/^FAILED: / && !/^\t/ {
	inside = 0
}

inside {
	shown++
	if (shown <= LINES && total < 3 * LINES) {
		print line
		total++
	} else {
		omitted++
	}
}

END {
	if (omitted)
		print "(" omitted " lines more)"
	if (!failed || !summed)
		for (i = NR > LINES ? NR - LINES + 1 : 1; i <= NR; i++)
			print last[i % LINES]
}
