#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Each command of golden/commands prints exactly the text in golden/NAME, for logs that never
# change. With UPDATE=1 the test writes the texts instead; git diff then shows what a change of the
# tool prints differently.
. "${0%/*}/lib.sh"

here=$(cd "${0%/*}" && pwd)
posixtrace=$(cd "${posixtrace%/*}" && pwd)/${posixtrace##*/}
LD_LIBRARY_PATH=$(cd "${top_builddir:-..}/lib/.libs" 2>/dev/null && pwd)${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
samples=$here/../samples
"$posixtrace" --version >/dev/null || exit 99

# log_of HEX: the bytes of a commented text of tests/golden, which has strings and hexadecimal
# numbers; 00*29 is a number 29 times.
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

cd "$tmp" || exit 99
for kind in append loop; do
	LC_ALL=C log_of "$here/../golden/1.2/$kind.hex" >$kind.ptl || exit 99
done
for name in demo_threadx txlinux_wrapped; do
	! has_format tracex || "$posixtrace" convert "$samples/tracex/$name.trx" -o $name.ptl 2>/dev/null
done
cat >rules <<'END'
never sample* where "x > 8"
few: count posix_trace_unnamed_userevent <= 3
rate posix_trace_unnamed_userevent <= 10 per 1s
never posix_trace_stop
END

number=0
while read -r name command; do
	case $name in
	'' | '#'*) continue ;;
	esac
	case $command in
	*demo_threadx* | *txlinux*) has_format tracex || continue ;;
	esac
	case $command in
	query*) "$posixtrace" query --help >/dev/null 2>&1 || continue ;;
	esac
	number=$((number + 1))
	{
		eval "\"\$posixtrace\" $command" 2>err
		echo "status $?"
		cat err
	} >out </dev/null
	if test "${UPDATE-}" = 1; then
		cp out "$here/golden/$name"
	fi
	check "$command prints golden/$name" diff "$here/golden/$name" out
done <"$here/golden/commands"
check "there are commands" test "$number" -ge 25
finish
