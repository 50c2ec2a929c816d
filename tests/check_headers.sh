#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# HDR-01 to HDR-06, HDR-08 to HDR-13: the public headers compile without a warning in every standard
# of C and C++ that the installed compilers support, in every mode of glibc.
: "${top_srcdir:=$(dirname "$0")/..}" "${CC:=cc}" "${CXX:=c++}"
. "$top_srcdir/tests/support/count.sh"
LC_ALL=C
export LC_ALL

headers=$top_srcdir/tests/headers
parts=$(cd "$top_srcdir/include" && echo *_np.h)
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
modes='-Uno_mode -D_POSIX_C_SOURCE=200112L -D_POSIX_C_SOURCE=200809L -D_XOPEN_SOURCE=600
	-D_XOPEN_SOURCE=700 -D_GNU_SOURCE'

# knows COMPILER LANGUAGE STANDARD: whether the compiler supports the standard
knows() {
	echo 'extern int x;' | $1 -std="$3" -x "$2" -fsyntax-only - 2>/dev/null
}

# compiles COMPILER LANGUAGE FLAGS... FILE
compiles() {
	compiler=$1
	language=$2
	shift 2
	$compiler -x "$language" -I"$top_srcdir/include" -Wall -Wextra -pedantic -Werror \
		-fsyntax-only "$@"
}

# sweep COMPILER LANGUAGE STANDARDS: every file in every standard and mode
sweep() {
	compiler=$1
	language=$2
	tried=0
	for std in $3; do
		knows "$compiler" "$language" "$std" || continue
		tried=$((tried + 1))
		# Each header that trace_np.h includes, alone; twice, for its include guard.
		for header in $parts; do
			printf '#include <%s>\n' "$header" "$header" >"$scratch/alone"
			check "$header alone with $compiler -std=$std" \
				compiles "$compiler" "$language" -std="$std" "$scratch/alone"
		done
		for mode in $modes; do
			for file in trace_alone trace_np_alone trace_user_np_alone; do
				check "$file.c with $compiler -std=$std $mode" \
					compiles "$compiler" "$language" -std="$std" "$mode" \
					"$headers/$file.c"
			done
			for order in 0 1 2; do
				check "contents.c with $compiler -std=$std $mode -DORDER=$order" \
					compiles "$compiler" "$language" -std="$std" "$mode" \
					-DORDER=$order "$headers/contents.c"
			done
		done
	done
	check "$compiler knows standards of $language" test "$tried" -gt 0
}

c_standards='c89 c99 c11 c17 c2x gnu89 gnu11 gnu17 gnu2x'
cxx_standards='c++98 c++11 c++14 c++17 c++20 c++23 gnu++17'
sweep "$CC" c "$c_standards"
sweep "$CXX" c++ "$cxx_standards"
# The other compiler, too, if it is installed.
for other in gcc clang; do
	case " $CC " in
	*" $other "*) continue ;;
	esac
	command -v "$other" >/dev/null || continue
	sweep "$other" c "$c_standards"
done
for other in g++ clang++; do
	case " $CXX " in
	*" $other "*) continue ;;
	esac
	command -v "$other" >/dev/null || continue
	sweep "$other" c++ "$cxx_standards"
done

for header in $parts; do
	test "$header" = trace_np.h || check "trace_np.h includes $header" \
		grep -q "^#include \"$header\"" "$top_srcdir/include/trace_np.h"
	check "$header is installed" grep -q "include/$header" "$top_srcdir/Makefile.am"
done

# HDR-13: the header defines no macros but those of the standard and its include guard.
macros() {
	$CC -I"$top_srcdir/include" -std=c11 -D_POSIX_C_SOURCE=200809L -E -dM - |
		sed 's/^#define \([A-Za-z0-9_]*\).*/\1/' | sort -u
}
for header in sys/types.h pthread.h time.h bits/posix_opt.h; do
	echo "#include <$header>"
done | macros >"$scratch/before"
echo '#include <trace.h>' | macros >"$scratch/after"
none "no macro outside the standard's namespace" \
	"$(comm -13 "$scratch/before" "$scratch/after" |
		grep -Ev '^(posix_trace_event|_?POSIX_TRACE(_[A-Z]+)*|TRACE_(EVENT_NAME|NAME|SYS|USER_EVENT)_MAX|_POSIX_TRACE_[A-Z_]+_MAX)$')"
check "the macros of trace.h are seen at all" \
	grep -qx POSIX_TRACE_FLUSH_STOP "$scratch/after"

# HDR-13: the header has no other identifiers. This part reads the text of trace.h word by word. The
# prototypes have no parameter names, because a program's macros could change them.
echo '#include <trace.h>' |
	$CC -I"$top_srcdir/include" -std=c11 -D_POSIX_C_SOURCE=200809L -E - |
	awk '/^# [0-9]+ / { ours = $3 ~ /\/trace\.h"$/; next } ours' |
	grep -oE '[A-Za-z_][A-Za-z0-9_]*' | sort -u >"$scratch/words"
none "no identifier outside the standard's namespace" \
	"$(grep -Ev '^(__[A-Za-z0-9_]+|posix_[a-z_]+|trace_(id|event_id|event_set|attr)_t|(size|pid|pthread)_t|timespec|char|const|int|long|struct|typedef|unsigned|void)$' "$scratch/words")"
check "the identifiers of trace.h are seen at all" \
	grep -qx posix_trace_trygetnext_event "$scratch/words"

finish
