#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# What the completion for bash offers is what posixtrace takes.
. "${0%/*}/lib.sh"

bash -c : 2>/dev/null || skip "no bash to complete in"
script=${top_srcdir:-..}/tools/posixtrace/completion/posixtrace.bash

# offers WORD...: the answers for the last word, one a line.
offers() {
	bash -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _posixtrace
		printf "%s\n" "${COMPREPLY[@]}"' bash "$script" "$@" | sort >"$tmp/offers"
}

offers posixtrace ''
"$posixtrace" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' | sort >"$tmp/commands"
check "there are commands" test -s "$tmp/commands"
check "every command is offered" test -z "$(comm -13 "$tmp/offers" "$tmp/commands")"
for command in $(cat "$tmp/commands"); do
	"$posixtrace" $command --help | grep -o -e '--[a-z-]*  *[a-zA-Z]' | sed 's/ .*//' |
		sort -u >"$tmp/options"
	offers posixtrace $command --
	check "$command: the options that are offered are those that it has" \
		cmp -s "$tmp/offers" "$tmp/options"
done
: >"$tmp/a file.log"
offers posixtrace dump "$tmp/a"
check "files are offered" grep -q -x "$tmp/a file.log" "$tmp/offers"
offers posixtrace dump --limit ''
check "nothing is offered for a number" test -z "$(cat "$tmp/offers")"
finish
