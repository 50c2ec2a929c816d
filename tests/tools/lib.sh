# SPDX-License-Identifier: LGPL-2.1-or-later
# tools/lib.sh - functions for the tests of posixtrace; sourced, with top_builddir set by make
# check.
#
# check and finish are those of support/count.sh.
. "${top_srcdir:-${0%/*}/../..}/tests/support/count.sh"

LC_ALL=C.UTF-8 TZ=UTC0
export LC_ALL TZ

# Without the folders that this user may not search. Because of them, a program that does not exist
# would be one that may not be executed.
PATH=$(IFS=:; for each in $PATH; do test ! -x "$each" || printf %s: "$each"; done)
PATH=${PATH%:}

# Closes descriptors of the caller, such as those of make -j, for the tested programs.
exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-

# Times are whole numbers that mawk would print as 3e+09.
awk() { command awk -v OFMT=%.15g -v CONVFMT=%.15g "$@"; }

tools=${top_builddir:-..}/tools/posixtrace
make_log=${top_builddir:-..}/tests/tools/make_log
# libtool's wrapper is a shell script; the program behind it starts much faster.
if test -x "$tools/.libs/posixtrace"; then
	LD_LIBRARY_PATH=${top_builddir:-..}/lib/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
	export LD_LIBRARY_PATH
	posixtrace=$tools/.libs/posixtrace
else
	posixtrace=$tools/posixtrace
fi

# A sanitizer's exit status must differ from those of the tool.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}exitcode=99
LSAN_OPTIONS=${LSAN_OPTIONS:+$LSAN_OPTIONS:}exitcode=99
UBSAN_OPTIONS=${UBSAN_OPTIONS:+$UBSAN_OPTIONS:}exitcode=99
TSAN_OPTIONS=${TSAN_OPTIONS:+$TSAN_OPTIONS:}exitcode=99
# libtracefs never frees the path of the tracing folder.
leaks=$(cd "${top_srcdir:-${0%/*}/../..}/tests/tools" && pwd)/leaks.supp
LSAN_OPTIONS=$LSAN_OPTIONS:print_suppressions=0:suppressions=$leaks
export ASAN_OPTIONS LSAN_OPTIONS UBSAN_OPTIONS TSAN_OPTIONS

tmp=$(mktemp -d "${TMPDIR:-/tmp}/posixtrace-test.XXXXXX") || exit 99
# is_script: for traps. A background process of bash that is killed before it executes its program runs the
# trap of the script.
is_script() { test "$(exec sh -c 'echo $PPID')" = $$; }
trap 'is_script && rm -rf "$tmp"' 0

skip() {
	echo "SKIP: $*"
	exit 77
}

# worked FILE COMMAND...: the output is in $tmp/FILE; its last lines are printed if the command fails.
worked() {
	file=$tmp/$1
	shift
	"$@" >"$file" 2>&1 && return
	tail -n 3 "$file"
	return 1
}

# Skips the suite if the tool was built without a format of convert.
needs_format() {
	has_format "$1" || skip "built without the format $1"
}

has_format() {
	"$posixtrace" convert --list | grep -q "^$1 "
}

shim=$(cd "${top_builddir:-..}/lib/.libs" 2>/dev/null && pwd)/libposixtrace-preload.so
# has_shim: this build has a preload library, $shim. A sanitizer would have to be preloaded before it.
has_shim() {
	test -e "$shim" && ! nm -D "${shim%-preload.so}.so" 2>/dev/null | grep -q '__[at]san_init'
}
# work_in_tmp: goes to $tmp, for commands that leave files. The tool, its libraries and the preload
# library have absolute paths then, and no variable of the caller changes what is traced.
work_in_tmp() {
	case $posixtrace in /*) ;; *) posixtrace=$PWD/$posixtrace ;; esac
	case ${LD_LIBRARY_PATH-} in '' | /*) ;; *) LD_LIBRARY_PATH=$PWD/$LD_LIBRARY_PATH ;; esac
	cd "$tmp" || exit 99
	unset POSIXTRACE_TRACE LD_PRELOAD POSIXTRACE_KERNEL
	POSIXTRACE_PRELOAD=$shim
	export POSIXTRACE_PRELOAD
}

needs_shim() {
	has_shim || skip "this build has no preload library, or a sanitizer must be preloaded first"
}

# has_command NAME: this build has the command.
has_command() { "$posixtrace" "$1" --help >/dev/null 2>&1; }

# Whether this build of report has templates.
has_templates() {
	! "$posixtrace" report -t "$tmp/no.trcfmt" --check 2>&1 | grep -q 'built without templates'
}

# run STATUS ARGUMENT...: posixtrace exits with STATUS; its output is in $tmp/out and $tmp/err.
run() {
	wanted=$1
	shift
	"$posixtrace" "$@" >"$tmp/out" 2>"$tmp/err"
	got=$?
	check "posixtrace $* exits with $wanted, not $got" exited
}

exited() {
	test "$got" -eq "$wanted" && return 0
	head -n 5 "$tmp/out" "$tmp/err"
	return 1
}

# has FILE PATTERN, lacks FILE PATTERN: a check that fails shows the beginning of the file.
has() { grep -q -e "$2" "$tmp/$1" || failed_at "$1"; }
lacks() { ! grep -q -e "$2" "$tmp/$1" || failed_at "$1"; }
failed_at() {
	test -z "$is_checked" || head -n 10 "$tmp/$1"
	return 1
}
is_empty() { ! test -s "$tmp/$1" || { head -n 5 "$tmp/$1"; return 1; }; }
lines() { wc -l <"$tmp/$1"; }

# has_lines FILE NUMBER
has_lines() { test "$(lines "$1")" -eq "$2"; }
