#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# bash with pipelines, subshells, substitutions and background jobs.
PACKAGES='bash bash'
. "${0%/*}/lib.sh"

cat >"$tmp/script" <<'END'
set -o pipefail
for i in $(seq 20); do
	seq 1000 | sort -r | tac | (read -r first; echo "$i: $first"; wc -l) | tr a-z A-Z
done
diff <(seq 100) <(seq 101) || echo "they differ: $?"
total=0
while read -r n; do
	((total += n))
done < <(seq 100)
echo "$total $(echo "$(printf %s nested)")"
(exit 3) & wait $!; echo "background: $?"
trap 'echo trapped' USR1; kill -USR1 $$
true | false | true; echo "${PIPESTATUS[*]}"
cat <<<"here" | { exec cat; }
exit 7
END
status=7
work() { "$@" bash "$tmp/script"; }
compare
check "its children are in the log" test "$(count_of process.fork)" -ge 100
check "the programs that they executed are in the log" test "$(count_of process.exec)" -ge 60
finish
