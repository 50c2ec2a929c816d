#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Every ordering has a letter and a partner. The table of lib/ring/ring.h and the comments at the
# accesses, "(X) with (Y) in room/file", agree. Some access uses each letter, with the kind and the
# memory order of the table. The partner in the comment is that of the table, and the named file has
# the partner. A fence for the compiler alone does not count.
: "${top_srcdir:=$(dirname "$0")/..}"
. "$top_srcdir/tests/support/count.sh"

cd "$top_srcdir/lib" || exit 1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# letter partner order verb; the order may be in the row's second line
awk '
	function row(l, p, text) {
		order = "-"
		if (match(text, /(acq_rel|acquire|release|seq_cst)/))
			order = substr(text, RSTART, RLENGTH)
		sub(/^ +/, "", text)
		sub(/[^a-z].*/, "", text)
		print l, p, order, text
	}
	function flush() {
		if (left != "") {
			row(left, right, lefts)
			row(right, left, rights)
		}
		left = ""
	}
	match($0, /^ \*   \([A-Z]\)/) && /<- pairs ->/ {
		flush()
		left = substr($0, 7, 1)
		at = index($0, "<- pairs ->")
		rest = substr($0, at)
		match(rest, /\([A-Z]\)/)
		column = at + RSTART - 1
		right = substr(rest, RSTART + 1, 1)
		lefts = substr($0, 10, at - 10)
		# The column on the far right has the reason; two or more blanks precede it.
		rights = substr($0, column + 4)
		sub(/  +.*/, "", rights)
		next
	}
	left != "" && /^ \*       / {
		lefts = lefts " " substr($0, 1, at - 1)
		more = substr($0, column)
		if (more ~ /^ ? ? ? ?[^ ]/) {
			sub(/^ +/, "", more)
			sub(/  +.*/, "", more)
			rights = rights " " more
		}
		next
	}
	{ flush() }
' ring/ring.h >"$tmp/table"

# file line letter partner file-named, one for each file that a comment names
awk '
	match($0, /\([A-Z]\) with \([A-Z]\)/) {
		letter = substr($0, RSTART + 1, 1)
		partner = substr($0, RSTART + 10, 1)
		rest = substr($0, RSTART + RLENGTH)
		room = FILENAME
		sub(/[^\/]*$/, "", room)
		named = 0
		while (match(rest, /[a-z_\/]+\.[ch]/)) {
			file = substr(rest, RSTART, RLENGTH)
			print FILENAME, FNR, letter, partner, file ~ /\// ? file : room file
			rest = substr(rest, RSTART + RLENGTH)
			named++
		}
		if (!named)
			print FILENAME, FNR, letter, partner, "-"
	}
' */*.[ch] >"$tmp/comments"

# The statement that contains or follows a comment: it begins after the line that ended the previous
# one.
statement() {
	awk -v line="$2" '
		FNR <= line && /[;{}][ \t]*(\/\*.*\*\/)?[ \t]*$/ && FNR < line { from = FNR }
		{ text[FNR] = $0 }
		END {
			for (i = from + 1; i <= FNR; i++) {
				print text[i]
				if (i >= line && text[i] ~ /[;{]/)
					exit
			}
		}
	' "$1"
}

# kind FUNCTIONS ORDER: whether the first call of one of these functions, "a|b", has this order. If
# the arguments contain calls, the last order counts. The order "-" means any order.
kind() {
	awk -v functions="$1" -v order="$2" '
		{ text = text " " $0 }
		END {
			if (!match(text, "(^|[^a-z_])(" functions ")\\("))
				exit 1
			text = substr(text, RSTART)
			if (order == "-")
				exit 0
			while (match(text, /memory_order_[a-z_]+/)) {
				found = substr(text, RSTART + 13, RLENGTH - 13)
				text = substr(text, RSTART + RLENGTH)
				if (functions != "ptx_raise")
					break
			}
			exit found != order
		}
	' "$tmp/statement"
}

# The functions of each verb of the table. A store with release order counts as a fence before it.
functions_of() {
	case $1 in
	store) echo 'atomic_store_explicit|atomic_compare_exchange_(strong|weak)_explicit' ;;
	load) echo atomic_load_explicit ;;
	exchange | cas) echo 'atomic_(compare_)?exchange_((strong|weak)_)?explicit' ;;
	fence) echo 'atomic_thread_fence|atomic_store_explicit' ;;
	raise) echo ptx_raise ;;
	esac
}

# The accesses for which the table has no order, because the reader's barrier replaces a fence: file,
# letter, function and order. The writer has a fence for the compiler next to such an access.
cat >"$tmp/barriers" <<'EOF'
ring/ring_write.h K atomic_store_explicit relaxed
drain/pass.c L barrier_for -
ring/ring_read.c L atomic_load_explicit acquire
point/event.c M atomic_load_explicit relaxed
point/record.c M atomic_load_explicit relaxed
posix/control.c M atomic_thread_fence seq_cst
posix/getnext.c N atomic_store_explicit seq_cst
EOF

letters=$(wc -l <"$tmp/table")
check "the table of ring.h has its letters" test "$letters" -ge 14
check "the table of ring.h has pairs" test $((letters % 2)) -eq 0

while read -r letter partner order verb; do
	check "the comment of an access has ($letter)" grep -q " $letter $partner " "$tmp/comments"
	check "($letter) has one partner" \
		test "$(grep -c "^$letter " "$tmp/table")" -eq 1
done <"$tmp/table"

while read -r file line letter partner named; do
	row=$(grep "^$letter " "$tmp/table")
	check "$file:$line: ($letter) is in the table" test -n "$row"
	check "$file:$line: ($letter) pairs with ($partner)" \
		test "$(echo "$row" | cut -d' ' -f2)" = "$partner"
	check "$file:$line: ($letter) names a file" test "$named" != -
	check "$file:$line: ($letter) names $named, which has ($partner) with ($letter)" \
		grep -qE "\($partner\) with \($letter\)" "$named"
	order=$(echo "$row" | cut -d' ' -f3)
	verb=$(echo "$row" | cut -d' ' -f4)
	if [ "$order" != - ]; then
		statement "$file" "$line" >"$tmp/statement"
		check "$file:$line: ($letter) is at a $verb with memory_order_$order" \
			kind "$(functions_of "$verb")" "$order"
		continue
	fi
	# The comment may be before a function of few lines.
	tail -n "+$line" "$file" | head -n 5 >"$tmp/statement"
	function=$(awk -v file="$file" -v letter="$letter" '$1 == file && $2 == letter { print $3 }' \
		"$tmp/barriers")
	order=$(awk -v file="$file" -v letter="$letter" '$1 == file && $2 == letter { print $4 }' \
		"$tmp/barriers")
	check "$file:$line: ($letter) is one of those that a barrier orders" test -n "$function"
	check "$file:$line: ($letter) is at $function, $order" kind "${function:-none}" "${order:--}"
done <"$tmp/comments"
while read -r file letter function order; do
	check "$file has ($letter)" grep -q "^$file [0-9]* $letter " "$tmp/comments"
done <"$tmp/barriers"

# The compiler must not move the accesses of a writer that the barrier orders: the writer reads the
# clock after it stores the window, and tests the waiters after it stores the head.
grep -A 3 '(K) with (L)' ring/ring_write.h >"$tmp/statement"
check "(K): the compiler keeps the window before what follows" kind atomic_signal_fence seq_cst
for file in point/event.c point/record.c; do
	grep -nE '(if \(has_waiter|if \(atomic_load_explicit\(&region->waiters)' "$file" | cut -d: -f1 |
		while read -r line; do
			# only the head of a loop and its pragma for unrolling may be between
			head -n "$((line - 1))" "$file" | grep -v '^	ptx_unroll_4$' |
				tail -n 2 >"$tmp/statement"
			kind atomic_signal_fence seq_cst || echo "$file:$line"
		done
done >"$tmp/moved"
none "(M): the compiler keeps the head before the look at who sleeps" "$(cat "$tmp/moved")"

# The number of fences without a letter in each file, so that the removal of a fence for the compiler
# is noticed.
cat >"$tmp/fences" <<'EOF'
arena/attachment.c 1
arena/backing.c 2
base/barrier.c 4
flush/checkpoint.c 1
meet/family.c 2
meet/find.c 1
meet/process.c 1
modules/mapped.c 1
observe/image.c 1
observe/snapshot.c 1
point/adopt.c 1
posix/level.c 2
posix/skip.c 1
preload/io_uring.c 1
EOF
grep -c 'atomic_thread_fence(memory_order_[a-z_]*);' */*.c | sed -n 's/:\([1-9].*\)/ \1/p' |
	grep -vE '^(ring/ring_read|ring/ring_write|ring/overwrite|posix/control)\.c ' >"$tmp/found"
check "the fences without a letter are those that are known" diff "$tmp/fences" "$tmp/found"
none "fences of relaxed order" "$(grep -n 'fence(memory_order_relaxed)' */*.[ch])"

# The litmus tests have the orders of the table, so that their results hold for this code.
sed -n 's,.*memory_order_\([a-z_]*\)[^a-z_]*/\* (\([A-Z]\)) \*/.*,\2 \1,p' \
	../tests/litmus/*.litmus | sort -u >"$tmp/litmus"
while read -r letter order; do
	check "($letter) of tests/litmus is memory_order_$order in the table" \
		grep -qE "^$letter [A-Z] ($order|-) " "$tmp/table"
done <"$tmp/litmus"
for name in $(grep -ohE '[a-z_]+\(\)' ../tests/litmus/*.litmus | tr -d '()' | sort -u); do
	check "$name() of tests/litmus is in the library" grep -qE "(^|[^a-z_])$name\(" */*.[ch]
done
check "tests/litmus has the letters of the table" test "$(cut -c1 "$tmp/litmus" | sort -u | wc -l)" -eq "$letters"

# A comment may mention a letter without a partner; the table must have this letter. The preload
# library has no such orderings, but has lists with a macro parameter (X).
for letter in $(ls */*.[ch] | grep -v '^preload/' | xargs grep -ohE '\([A-Z]\)' |
		tr -d '()' | sort -u); do
	check "($letter) is a letter of the table" grep -q "^$letter " "$tmp/table"
done

finish
