# SPDX-License-Identifier: LGPL-2.1-or-later
# rkh_table.awk - the C tables of RKH's records from rkh2-records.csv and rkh3-records.csv.
#
# No field of these files contains a comma or a quote. The field "args" is a list of name:kind.
BEGIN {
	FS = ","
	print "/* Made from rkh2-records.csv and rkh3-records.csv by rkh_table.awk. */"
	print "#include \"convert/rkh/rkh.h\""
}

FNR == 1 {
	if (tables++)
		print "};"
	name = FILENAME
	sub(/.*\//, "", name)
	printf "\nconst struct rkh_record %s_records[256] = {\n", substr(name, 1, 4)
	next
}

{
	args = ""
	n = split($4, arg, " ")
	levels = $5 == "none" ? 0 : $5 == "GE" ? 1 : $5 == "GE+AO" ? 3 : $5 == "GE+AO+SIG" ? 7 : -1
	if (n > 7 || $1 !~ /^[0-9A-F][0-9A-F]$/ || $3 == "" || levels < 0) {
		print FILENAME ":" FNR ": bad line" >"/dev/stderr"
		exit bad = 1
	}
	for (i = 1; i <= n; i++) {
		split(arg[i], part, ":")
		args = args sprintf("{ \"%s\", RKH_%s }, ", part[1], toupper(part[2]))
	}
	printf "\t[0x%s] = { \"%s\", \"%s\", %d, %d, { %s} },\n", $1, $2, $3, levels, n, args
}

END {
	if (bad)
		exit 1
	print "};"
}
