#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# make check-model: the models of the engine, searched exhaustively by spin at the sizes of the file
# cases. A model holds when nothing is found in all of its states; a fault put into it must be found.
# An unreached statement proves nothing, so each statement of a model must be reached, at some of
# the sizes at which the model holds. Prints a table: model, what, sizes, states, verdict.
# MODELS="ring wake" runs some only.
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/count.sh"

here=$top_srcdir/tests/model
MEGABYTES=${MEGABYTES:-6000}
for tool in spin "${CC:=cc}"; do
	if ! command -v "${tool%% *}" >/dev/null; then
		echo "check_model.sh: needs $tool"
		exit 77
	fi
done
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

# search MODEL SIZES...: prints the states, "unfinished" and what was found, if anything. No statements are
# merged (-o3), and each is counted (-DPEG), for count_reached().
search() {
	cp "$here/$1.pml" "$tmp/" || return 1
	shift_model=$1
	shift
	(cd "$tmp" && rm -f pan* ./*.trail && spin -a -o3 "$@" "$shift_model.pml" >spin.out 2>&1 &&
		$CC -O2 -w -DSAFETY -DPEG -DCOLLAPSE -DVECTORSZ=1024 -DMEMLIM="$MEGABYTES" -o pan pan.c &&
		./pan -m20000 >pan.out 2>&1)
	sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' "$tmp/pan.out" | head -n 1
	grep -E -m 1 'pan: reached|max search depth too small|out of memory|Search not completed' \
		"$tmp/pan.out" | sed 's/^/unfinished: /'
	grep -E -m 1 '^pan:1: (assertion violated|invalid end state)' "$tmp/pan.out" |
		sed 's/^pan:1: /found: /'
}

# count_reached MODEL: adds the result of the last search to MODEL.steps: "LINE reached" or "LINE
# missed", and the statement, without sizes, so that rows can be compared. If a statement is in
# several places, as that of an inline is, one of them is enough. spin does not count a jump or a
# bare else as statements, and this script does not count an end.
count_reached() {
	(cd "$tmp" && ./pan -d) 2>&1 | awk -v file="$1.pml" '
		FNR == NR {
			if ($2 == "trans")
				executed[$3] = 1
			next
		}
		/ -\(tr / && match($0, file ":[0-9]+ => ") {
			split($0, part, /-\(tr +|\)->/)
			line = substr($0, RSTART + length(file) + 1, RLENGTH - length(file) - 5)
			text = substr($0, RSTART + RLENGTH)
			gsub(/[0-9]+/, "N", text)
			if (part[2] > 2 && text != "-end-")
				print line, part[2] in executed ? "reached" : "missed", text
		}
	' "$tmp/pan.out" - >>"$tmp/$1.steps"
}

# unreached MODEL: the statements that no row has reached; spin gives an option the line of its if or do
unreached() {
	awk -v file="$1.pml" '
		{
			line = $1
			is_reached = $2 == "reached"
			sub(/^[0-9]+ [a-z]+ /, "")
			step[line, $0] = step[line, $0] || is_reached
		}
		END {
			for (each in step) {
				split(each, part, SUBSEP)
				if (!step[each])
					print file ":" part[1] ": " part[2]
			}
		}
	' "$tmp/$1.steps" | sort -t : -k 2n
}

# covered MODEL SIZES FAULT: a row says that the model holds at these sizes, or at larger ones. At
# other sizes, the fault found may be one of the model itself.
covered() {
	grep -q "^# beyond $1 $3:" "$here/cases" && return 0
	awk -v model="$1" -v sizes="$2" '
		BEGIN {
			wanted = split(sizes, size, / +/)
			for (i = 1; i <= wanted; i++)
				loops += size[i] == "-DLOOP"
		}
		$1 == model && $2 == "holds" {
			for (i in has)
				delete has[i]
			for (i = 3; i <= NF; i++) {
				split($i, part, "=")
				has[part[1]] = part[2]
			}
			fits = ("-DLOOP" in has) == (loops > 0)
			for (i = 1; i <= wanted; i++) {
				split(size[i], part, "=")
				fits = fits && part[2] + 0 <= has[part[1]] + 0
			}
			found = found || fits
		}
		END { exit !found }
	' "$tmp/cases"
}

holds() {
	case $1 in
	*found:* | *unfinished:* | '') return 1 ;;
	esac
}

is_found() {
	case $1 in
	*found:*) ;;
	*) return 1 ;;
	esac
}

printf '%-9s %-22s %-48s %10s  %s\n' model what sizes states verdict
grep -v -e '^#' -e '^$' "$here/cases" >"$tmp/cases"
while read -r model what sizes; do
	case " ${MODELS:-$model} " in
	*" $model "*) ;;
	*) continue ;;
	esac
	if [ "$what" = holds ]; then
		# shellcheck disable=SC2086
		result=$(search "$model" $sizes)
		verdict=holds
		holds "$result" || verdict='DOES NOT HOLD'
		count_reached "$model"
		check "$model $sizes holds: $result" holds "$result"
	else
		# shellcheck disable=SC2086
		result=$(search "$model" $sizes "-DFAULT_$what")
		verdict=found
		is_found "$result" || verdict='NOT FOUND'
		check "$model finds $what" is_found "$result"
		check "$model without $what holds at these sizes" covered "$model" "$sizes" "$what"
	fi
	printf '%-9s %-22s %-48s %10s  %s\n' "$model" "$what" "$(echo "$sizes" | sed 's/-D//g')" \
		"$(echo "$result" | head -n 1)" "$verdict"
done <"$tmp/cases"
for steps in "$tmp"/*.steps; do
	test -e "$steps" || continue
	model=$(basename "$steps" .steps)
	check "$model has statements" test -s "$steps"
	none "each statement of $model is reached" "$(unreached "$model")"
done
finish
