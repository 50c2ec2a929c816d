# SPDX-License-Identifier: LGPL-2.1-or-later
# tools/golden.sh - transcripts of golden/; sourced by the scripts test_golden_*.sh.
#
# A transcript has commands and all that they print, for logs that never change:
#
#	# a comment
#	@ has_format etw            the lines up to the next @ count only if this command succeeds
#	$ posixtrace stat plain.ptl
#	> a further line of the command
#	| a line of standard output; |\ behind it: the line has no end
#	! a line of standard error
#	= 2                         the exit status, unless it is 0
#
# A script has "golden FOLDER...", which runs the commands of each transcript in these folders and
# compares all that they print. With UPDATE=1 it writes the transcripts instead; git diff then
# shows what a change of the tool prints differently. With ONLY='dump/where stat' each script runs
# these transcripts and no others: dump/where, and all of the folder stat.
#
# Each transcript runs in a folder of its own. The folder has a log NAME.ptl for each
# golden/logs/NAME.events (compose.c describes these texts), append.ptl and loop.ptl of
# tests/golden/1.2, a file NAME.so for each golden/elf/NAME.hex (golden/elf/README), the files of
# golden/files, and the files of tests/samples.
. "${0%/*}/lib.sh"

here=$(cd "${0%/*}" && pwd)
posixtrace=$(cd "${posixtrace%/*}" && pwd)/${posixtrace##*/}
compose=$(cd "${top_builddir:-..}/tests/tools" && pwd)/compose
test ! -x "${compose%/*}/.libs/compose" || compose=${compose%/*}/.libs/compose
LD_LIBRARY_PATH=$(cd "${top_builddir:-..}/lib/.libs" 2>/dev/null && pwd)${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
unset COLUMNS LINES TERM DEBUGINFOD_URLS POSIXTRACE_GUARDIAN
# Makes the messages of a program that fails to start with them visible.
"$posixtrace" --version >/dev/null || exit 99

# log_of HEX: the bytes of a commented text of tests/golden or of golden/elf, which has strings and
# hexadecimal numbers; 00*29 is a number 29 times.
log_of() {
	# shellcheck disable=SC2059 # the text is a format of octal escapes
	printf "$(command awk '
		BEGIN {
			for (i = 0; i < 256; i++) {
				octal[sprintf("%02x", i)] = sprintf("\\%03o", i)
				octal_of[sprintf("%c", i)] = sprintf("\\%03o", i)
			}
		}
		{
			line = $0
			while (match(line, /^[ \t]*("[^"]*"|[0-9a-f][0-9a-f](\*[0-9]+)?)/)) {
				token = substr(line, 1, RLENGTH)
				line = substr(line, RLENGTH + 1)
				gsub(/^[ \t]*|"$/, "", token)
				if (sub(/^"/, "", token))
					for (i = 1; i <= length(token); i++)
						printf "%s", octal_of[substr(token, i, 1)]
				else {
					count = split(token, part, "*") == 2 ? part[2] : 1
					while (count-- > 0)
						printf "%s", octal[part[1]]
				}
			}
		}' "$1")"
}

make_logs() {
	mkdir "$tmp/logs" || exit 99
	for text in "$here"/golden/logs/*.events; do
		name=${text##*/}
		"$compose" "$tmp/logs/${name%.events}.ptl" <"$text" || exit 99
	done
	for kind in append loop; do
		LC_ALL=C log_of "$here/../golden/1.2/$kind.hex" >"$tmp/logs/$kind.ptl" || exit 99
	done
	for text in "$here"/golden/elf/*.hex; do
		name=${text##*/}
		LC_ALL=C log_of "$text" >"$tmp/logs/${name%.hex}.so" || exit 99
	done
	chmod a-w "$tmp"/logs/*
}

# A folder for a transcript, with everything that its commands may read.
make_place() {
	rm -rf "$tmp/place"
	mkdir "$tmp/place" || exit 99
	ln "$tmp"/logs/* "$tmp/place"
	ln -s "$here"/golden/files/* "$here"/../samples/*/*.trx "$here"/../samples/*/*.etl \
		"$here"/../samples/*/*.srec "$here"/../samples/*/*.hex "$here/../samples/rkh" \
		"$here/trcfmt" "$tmp/place"
}

# The functions that the commands of a transcript can use, in addition to the programs of the system.
posixtrace() { "$posixtrace" "$@"; }
compose() { "$compose" "$@"; }
# changed FILE COPY OFFSET BYTES: a copy of a file with other bytes, in the form of printf, at OFFSET.
changed() {
	rm -f "$2" && cp "$1" "$2" && chmod u+w "$2" || return 1
	printf %b "$4" | dd of="$2" bs=1 seek="$3" conv=notrunc status=none
}
# tidy: JSON with a line for each member, so that git diff shows which one changes.
tidy() {
	awk '{
		depth = quoted = 0
		for (i = 1; i <= length($0); i++) {
			c = substr($0, i, 1)
			if (quoted && c == "\\") {
				printf "%s", c
				c = substr($0, ++i, 1)
			} else if (c == "\"") {
				quoted = !quoted
			} else if (!quoted && c ~ /[\]}]/) {
				depth--
			}
			printf "%s", c
			if (!quoted && c ~ /[\[{]/)
				depth++
			if (!quoted && c ~ /[\[{,]/ && substr($0, i + 1, 1) !~ /[\]}]/)
				printf "\n%s", substr("                    ", 1, 2 * depth)
		}
		print ""
	}'
}
# page_data [FILE]: the data of a page of posixtrace html, which is a JSON object of several lines.
page_data() { sed -n '/<script[^>]*application/,/<\/script>/p' ${1+"$1"}; }
# decode FORMAT [FILE]: decode.py has the formats.
decode() { python3 "$here/decode.py" "$@"; }
has_elfutils() { ! "$posixtrace" symbols "$tmp/logs/objects.ptl" 2>&1 | grep -q 'built without'; }
has_patches() { "$posixtrace" list --probes "$tmp/logs/shop.so" | grep -q '^function  moved'; }
has_program() { command -v "$1" >/dev/null; }
# fake SCRIPT FAULT...: a server of fake_clickhouse.py or fake_collector.py, until the command ends.
# Its port is in $port, its account in the file result.
fake() {
	rm -f result port
	script=$here/$1
	shift
	python3 "$script" "$PWD/result" "$@" >port 2>server.err &
	server=$!
	trap 'kill $server 2>/dev/null' 0
	until test -s port; do
		kill -0 $server || return 1
		sleep 0.02
	done
	port=$(cat port)
}
# ships ARGUMENT...: posixtrace ship; its output has PORT for the port of the server. Sizes and some
# messages differ from one version of a library to another.
ships() {
	"$posixtrace" ship ${port+--state state} "$@" >said 2>complained
	set -- $?
	sed "s/:${port:-1}/:PORT/g; s/[0-9]* bytes/SIZE bytes/; s,$PWD,PLACE,g" said
	sed "s/:${port:-1}/:PORT/g; s,$PWD,PLACE,g; s/Failed to connect.*/NO CONNECTION/" complained >&2
	return "$1"
}

# Replaces the text that differs from run to run. live.sh replaces this function.
mask() { cat; }

# Runs the command of $pending and prints the transcript of what it prints.
run_pending() {
	(cd "$tmp/place" && eval "$pending") >"$tmp/out" 2>"$tmp/err" </dev/null
	status=$?
	mask <"$tmp/out" | sed 's/^/| /; s/^| $/|/'
	# The last line of the output does not end.
	test -z "$(tail -c 1 "$tmp/out")" || printf '\n|\\\n'
	test ! -s "$tmp/err" || mask <"$tmp/err" | sed 's/^/! /; s/^! $/!/'
	test "$status" -eq 0 || echo "= $status"
	pending=
	ran=$((ran + 1))
}

# Prints a transcript with what the commands print now.
play() {
	pending='' counts=yes
	while IFS= read -r text; do
		case $text in
		'> '*)
			printf '%s\n' "$text"
			test -z "$pending" || pending="$pending
${text#> }"
			continue
			;;
		esac
		test -z "$pending" || run_pending
		case $text in
		'$ '*)
			printf '%s\n' "$text"
			test "$counts" = no || pending=${text#$ }
			;;
		'|'* | '!'* | '= '*)
			test "$counts" = yes || printf '%s\n' "$text"
			;;
		'@ '*)
			printf '%s\n' "$text"
			counts=no
			! eval "${text#@ }" >/dev/null 2>&1 </dev/null || counts=yes
			;;
		*)
			printf '%s\n' "$text"
			;;
		esac
	done
	test -z "$pending" || run_pending
	echo "$ran" >"$tmp/ran"
}

# A transcript may not record faults of its own commands.
works() {
	! grep -n -e '^! Traceback' -e '^! .*golden.sh: ' -e '^! .*: not found$' "$1"
}

golden() {
	make_logs
	ran=0
	for name in ${ONLY-"$@"}; do
		check "golden/$name exists" test -e "$here/golden/$name"
		for transcript in "$here/golden/$name" "$here/golden/$name"/*; do
			test -f "$transcript" || continue
			name=${transcript#"$here/golden/"}
			make_place
			play <"$transcript" >"$tmp/now"
			if test "${UPDATE-}" = 1 && ! cmp -s "$tmp/now" "$transcript"; then
				cat "$tmp/now" >"$transcript"
			fi
			check "golden/$name: the commands print what the transcript says" \
				diff -U 5 "$transcript" "$tmp/now"
			check "golden/$name: the decoders and the shell work" works "$tmp/now"
		done
	done
}
