#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# hex.sh FILE: prints the file in the form that log_of of golden.sh reads.
od -A n -v -t x1 -w1 "$1" | awk '
	function put(text) {
		if (length(line) + length(text) > 99) {
			print line
			line = ""
		}
		line = line (line == "" ? "" : " ") text
	}
	function flush_run() {
		if (count > 2)
			put(byte "*" count)
		else
			while (count-- > 0)
				put(byte)
		count = 0
	}
	{
		if ($1 != byte)
			flush_run()
		byte = $1
		count++
	}
	END {
		flush_run()
		print line
	}'
