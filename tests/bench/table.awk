# SPDX-License-Identifier: LGPL-2.1-or-later
# BENCH lines in, the table out. A figure's identity is its name and its parameters. LTTng's figure
# is in a line of the same identity whose name begins with lttng_.
$1 != "BENCH" { next }

{
	name = $2
	beside = sub(/^lttng_/, "", name)
	identity = name
	key = value = bound = sense = verdict = law = ""
	for (i = 3; i <= NF; i++) {
		split($i, pair, "=")
		if (pair[1] ~ /^(threads|payload_bytes|streams|stream_KiB|max_data|calls)$/)
			identity = identity " " $i
		if (beside)
			lttng[identity, pair[1]] = pair[2]
		if (pair[1] == "limit" || pair[1] == "floor") {
			sense = pair[1] == "limit" ? "<=" : ">="
			bound = pair[2]
			split($(i - 1), judged, "=")
			key = judged[1]
			value = judged[2]
		}
		if (pair[1] == "verdict")
			verdict = pair[2]
		if (pair[1] == "law")
			law = pair[2]
	}
	if (law == "BROKEN")
		broken++
	if (beside || !(key || verdict))
		next
	rows++
	row[rows] = identity; rowkey[rows] = key; rowvalue[rows] = value
	rowbound[rows] = sense " " bound; rowverdict[rows] = verdict; rowlaw[rows] = law
	count[verdict]++
}

END {
	form = "%-58s %-22s %10s %9s  %-10s %-6s %10s\n"
	printf form, "figure", "in", "reached", "must be", "verdict", "law", "LTTng-UST"
	for (r = 1; r <= rows; r++)
		printf form, row[r], rowkey[r], rowvalue[r], rowbound[r], rowverdict[r], rowlaw[r],
			lttng[row[r], rowkey[r]]
	printf "\n%d met, %d missed, %d unmeasured; laws broken: %d\n", count["met"],
		count["missed"], count["unmeasured"], broken
	exit broken > 0
}
