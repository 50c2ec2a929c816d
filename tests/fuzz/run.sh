#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# run.sh SECONDS REPLAY FUZZ [TARGET...] - runs the targets one after the other, SECONDS in all, in
# the current folder. They begin with the texts in corpus/ and the inputs kept from earlier runs.
# REPLAY and FUZZ are the folders of the targets without and with an engine. Findings are stored in
# found/TARGET-*, and the exit status is then 1.
#
# FUZZ_ENGINE is the engine: libfuzzer, or afl (which needs a build by afl-clang-fast).
# With FUZZ_SEED, a number, libFuzzer uses the same inputs each time, from corpus/ alone. Instead of
# SECONDS, a number of inputs then ends the run; it depends on the target.
set -u
seconds=$1 replay=$2 fuzz=$3 seed=${FUZZ_SEED-}
shift 3
corpus=$top_srcdir/tests/fuzz/corpus
POSIXTRACE_GUARDIAN=no
export POSIXTRACE_GUARDIAN
ASAN_OPTIONS=${ASAN_OPTIONS-abort_on_error=1:detect_stack_use_after_return=0:symbolize=1}
test "${FUZZ_ENGINE-libfuzzer}" = afl && ASAN_OPTIONS=abort_on_error=1:symbolize=0:detect_leaks=0
export ASAN_OPTIONS
UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1:abort_on_error=1
export UBSAN_OPTIONS

if [ -n "$seed" ] && [ "${FUZZ_ENGINE-libfuzzer}" != libfuzzer ]; then
	echo "run.sh: only libFuzzer repeats its inputs" >&2
	exit 2
fi
test $# -gt 0 || set -- $(cd "$corpus" && echo *)
each=$((seconds / $#))
test "$each" -gt 0 || each=1
mkdir -p found
failed=0

# The longest input that makes sense.
longest() {
	case $1 in
	log | resume) echo 300000 ;;
	foreign) echo 40000 ;;
	import_*) echo 20000 ;;
	*) echo 4096 ;;
	esac
}

# The number of inputs with FUZZ_SEED: more than four seconds of an idle processor give.
inputs() {
	case $1 in
	calls) echo 300 ;;
	segment) echo 600 ;;
	image) echo 400 ;;
	import_evt | import_tracex | resume) echo 2000 ;;
	log | foreign) echo 4000 ;;
	import_*) echo 8000 ;;
	template) echo 30000 ;;
	where) echo 150000 ;;
	*) echo 600000 ;;
	esac
}

# The engine also compares addresses, and reads inputs in the order of the folder: both vary.
same_addresses() {
	setarch -R true 2>/dev/null && echo setarch -R
}
in_order() {
	LC_ALL=C ls "seeds/$1" | sed "s|^|seeds/$1/|" | paste -s -d , | tr -d '\n'
}

# An import prints the faults of every input, which is too much output.
silence() {
	case $1 in
	import_*) echo -close_fd_mask=2 ;;
	esac
}

libfuzzer() {
	target=$1
	launcher=
	if [ -n "$seed" ]; then
		in_order "$target" >"seeds/$target.list"
		set -- -seed="$seed" -runs="$(inputs "$target")" -keep_seed=1 \
			-seed_inputs="@seeds/$target.list"
		launcher=$(same_addresses)
		export FUZZ_SEED
	else
		unset FUZZ_SEED
		set -- -max_total_time="$each" "kept/$target" "seeds/$target"
	fi
	$launcher "$fuzz/$target" $(silence "$target") -timeout=25 -rss_limit_mb=3000 \
		-artifact_prefix="found/$target-" -print_final_stats=1 -verbosity=1 \
		-max_len="$(longest "$target")" "$@" >"found/$target.log" 2>&1
	status=$?
	awk -v target="$target" '
	/^stat::number_of_executed_units/ { runs = $2 }
	/ cov: / { for (i = 1; i < NF; i++) if ($i == "cov:") cov = $(i + 1) }
	END { printf "fuzz %-8s inputs %d edges %d\n", target, runs, cov }' "found/$target.log"
	return $status
}

afl() {
	target=$1
	AFL_NO_UI=1 AFL_SKIP_CPUFREQ=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 AFL_NO_AFFINITY=1 \
		afl-fuzz -V "$each" -t 25000 -m none -i "seeds/$target" -o "afl/$target" -- \
		"$fuzz/$target" >"found/$target.log" 2>&1
	status=$?
	awk -F ': *' -v target="$target" '
	/^execs_done/ { runs = $2 } /^edges_found/ { cov = $2 } /^saved_(crashes|hangs)/ { bad += $2 }
	END { printf "fuzz %-8s inputs %d edges %d\n", target, runs, cov; exit bad > 0 }' \
		"afl/$target/default/fuzzer_stats" && return $status
	cp "afl/$target"/default/crashes/id* "afl/$target"/default/hangs/id* found/ 2>/dev/null
	return 1
}

for target; do
	mkdir -p "kept/$target" "seeds/$target" afl
	rm -f "seeds/$target"/*
	"$replay/$target" -o "seeds/$target" "$corpus/$target"/* || exit 2
	if ! "${FUZZ_ENGINE-libfuzzer}" "$target"; then
		failed=1
		grep -E -A 30 'FOUND|ERROR: |runtime error|panic|ALARM' "found/$target.log" | head -60
		echo "FOUND by $target: see found/$target.log and found/$target-*"
	fi
done
exit $failed
