#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# No control character of a log or a command line reaches the terminal.
. "${0%/*}/lib.sh"

# Bytes that a terminal may obey: C0 except the line end, DEL, and in UTF-8 C1 and direction marks.
is_tame() {
	! LC_ALL=C tr -d '\n' <"$1" | LC_ALL=C grep -q "[$(printf '\001-\037\177')]" &&
		! LC_ALL=C grep -q "$(printf '\302[\200-\237]')" "$1" &&
		! LC_ALL=C grep -q "$(printf '\342\200[\252-\256]')" "$1"
}

log=$tmp/evil.log
events=$("$make_log" evil "$log") || exit 99
for locale in C.UTF-8 C; do
	LC_ALL=$locale
	for arguments in "dump" "dump --json" "dump --hex" "stat" "stat --json" "verify" "verify --json"; do
		run 0 $arguments "$log"
		check "$arguments in locale $locale is tame" is_tame "$tmp/out"
		check "$arguments in locale $locale has tame messages" is_tame "$tmp/err"
	done
	run 0 dump -x 'posix_trace_[sf]*' "$log"
	check "locale $locale: every event is one line" has_lines out "$events"
	check "locale $locale: escapes are readable" has out ' clear\\x1b\[2J\\x1b\[31m '
	check "locale $locale: line ends are readable" has out ' line\\nbreak\\ttab\\rreturn '
	check "locale $locale: quotes in data are escaped" has out ' "say \\"hello\\\\\\""$'
	check "locale $locale: a padded string is text" has out ' posix_trace_unnamed_userevent "padded"$'
	check "locale $locale: a small number is not" has out ' posix_trace_unnamed_userevent 41000000$'
	check "locale $locale: no data is nothing" has out ' posix_trace_unnamed_userevent$'
	check "locale $locale: the empty name is two quotes" has out ' "" "nameless"$'
done
run 0 dump --json -e '' "$log"
check "-e '' chooses the empty name, which is the empty string in JSON" has_lines out 1
check "-e '' chooses the empty name, which is the empty string in JSON" has out ',"event":"",'
run 0 stat "$log"
check "the empty name is two quotes in the table" has out '^ *1 .*  ""$'
LC_ALL=C.UTF-8
run 0 dump "$log"
check "UTF-8 is text where the locale says so" has out ' "déjà vu"$'
LC_ALL=C
run 0 dump "$log"
check "UTF-8 is bytes where the locale does not" has out ' 64c3a96ac3a0207675$'
LC_ALL=C.UTF-8

evil_name=$tmp/$(printf 'a\033[2J\nb')
cp "$log" "$evil_name"
run 0 dump "$evil_name" "$evil_name"
check "a file's name is tame" is_tame "$tmp/out"
run 0 stat "$evil_name"
check "a file's name is tame" is_tame "$tmp/out"
run 0 verify "$evil_name"
check "a file's name is tame" is_tame "$tmp/out"
run 0 verify --json "$evil_name"
check "a file's name is tame" is_tame "$tmp/out"
head -c 7000 "$log" >"$evil_name"
run 3 verify "$evil_name"
check "a file's name is tame in messages" is_tame "$tmp/err"
run 3 dump "$evil_name"
check "a file's name is tame in messages" is_tame "$tmp/err"
finish
