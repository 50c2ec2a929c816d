# SPDX-License-Identifier: LGPL-2.1-or-later
# tracex_table.awk - the C table of ThreadX's events from tracex-events.csv.
#
# The file tracex-events.csv was made from the public headers of ThreadX, FileX, NetX Duo and USBX.
# No field of this file contains a comma or a quote. The lines are in the order of the ids, because
# tracex_event_of() searches the table by id.
BEGIN {
	FS = ","
	print "/* Made from tracex-events.csv by tracex_table.awk. */"
	print "#include \"convert/tracex/tracex.h\"\n"
	print "const struct tracex_event tracex_events[] = {"
}

NR > 1 {
	if ($1 + 0 <= last + 0 || $4 == "" || length($4) > 30) {
		print "tracex-events.csv:" NR ": bad line" >"/dev/stderr"
		exit bad = 1
	}
	last = $1
	printf "\t{ %d, \"%s\", { \"%s\", \"%s\", \"%s\", \"%s\" } },\n", $1, $4, $5, $6, $7, $8
}

END {
	if (bad)
		exit 1
	print "};\n"
	print "const size_t tracex_events_count = sizeof(tracex_events) / sizeof(tracex_events[0]);"
}
