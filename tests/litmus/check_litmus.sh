#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# make check-litmus: the orderings of lib/ring/ring.h (letters) and of other rooms (words), each in as few
# accesses as possible, in all executions that C11 allows on any processor; and each is needed. It
# runs herd7 (of herdtools7) with the model of C11 that permits the most reordering of loads and
# stores.
#
# HERD7		the program, with -I where it does not know its models
# TESTS="a b"	these tests alone
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/count.sh"

here=$top_srcdir/tests/litmus
: "${HERD7:=herd7}"
if ! command -v "${HERD7%% *}" >/dev/null; then
	echo "check_litmus.sh: needs herd7 (opam install herdtools7)"
	exit 77
fi
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

# relaxed LETTER: without the orders of its lines; a relaxed fence is removed
relaxed() {
	sed "/($1)/s,memory_order_[a-z_]*\([^a-z_]*/\*\),memory_order_relaxed\1,"
}

# The barrier makes each thread of the process execute a full fence at some point of its
# instructions, between the call of the barrier and its return. The test lists the possible points.
# Each is tried, and herd7 examines the executions with the fence at that point.
placed() {
	awk -v place="$1" '
		/\(\* here\? \*\)/ {
			if (++places == place) {
				print "  int go = atomic_load_explicit(begun, memory_order_acquire);"
				print "  atomic_thread_fence(memory_order_seq_cst);"
				print "  atomic_store_explicit(ended, 1, memory_order_release);"
			}
			next
		}
		/\(\* barrier \*\)/ {
			if (!place)
				next
			print "  atomic_thread_fence(memory_order_seq_cst);"
			print "  atomic_store_explicit(begun, 1, memory_order_release);"
			print "  int done = atomic_load_explicit(ended, memory_order_acquire);"
			print "  atomic_thread_fence(memory_order_seq_cst);"
			next
		}
		place && /^P[01] \(/ { sub(/\(/, "(atomic_int* begun, atomic_int* ended, ") }
		place && /^exists/ { print "filter (0:go=1 /\\ 1:done=1)" }
		{ print }
	'
}

# ask FILE: Never, Sometimes or Always, or what herd7 says else
ask() {
	$HERD7 -model c11_partialSC.cat "$1" >"$tmp/out" 2>&1
	awk '$1 == "Observation" { print $3; found = 1 } END { exit !found }' "$tmp/out" ||
		head -n 1 "$tmp/out"
}

# answers TEST [LETTER]: one word for each place of the barrier, or one where there is none
answers() {
	if [ $# -eq 2 ]; then
		relaxed "$2" <"$here/$1.litmus" >"$tmp/$1"
		cmp -s "$tmp/$1" "$here/$1.litmus" && echo "has-no-($2)" && return
	else
		cp "$here/$1.litmus" "$tmp/$1"
	fi
	places=$(grep -c '(\* here? \*)' "$tmp/$1")
	for place in $(seq "$((places > 0))" "$places"); do
		placed "$place" <"$tmp/$1" >"$tmp/$1.litmus"
		ask "$tmp/$1.litmus"
	done
}

without_barrier() {
	placed 0 <"$here/$1.litmus" >"$tmp/$1.litmus"
	ask "$tmp/$1.litmus"
}

only() {
	test -n "$2" && test "$(echo "$2" | sort -u)" = "$1"
}

printf '%-14s %-12s %-30s %s\n' test what answers verdict
grep -v -e '^#' -e '^$' "$here/cases" >"$tmp/cases"
while read -r test what letter; do
	case " ${TESTS:-$test} " in
	*" $test "*) ;;
	*) continue ;;
	esac
	must=Never verdict=holds
	case $what in
	holds) got=$(answers "$test") ;;
	can) got=$(answers "$test") must=Sometimes verdict=can ;;
	no-barrier) got=$(without_barrier "$test") must=Sometimes verdict=needed ;;
	spare) letter=${letter#(} letter=${letter%)} got=$(answers "$test" "$letter") verdict=spare ;;
	*)
		letter="$what${letter:+ $letter}" letter=${letter#(} letter=${letter%)} what="($letter)"
		got=$(answers "$test" "$letter") must=Sometimes verdict=needed
		;;
	esac
	only "$must" "$got" || verdict="NOT $verdict"
	check "$test: $what $letter is $must: $got" only "$must" "$got"
	case $what in spare) what="spare ($letter)" ;; esac
	printf '%-14s %-12s %-30s %s\n' "$test" "$what" "$(echo "$got" | tr '\n' ' ')" "$verdict"
done <"$tmp/cases"
finish
