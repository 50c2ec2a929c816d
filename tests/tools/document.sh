# SPDX-License-Identifier: LGPL-2.1-or-later
# tools/document.sh - for the tests of documents that show commands, such as doc/TUTORIAL; sourced
# behind lib.sh. A document has its commands in blocks with an indent of four blanks. The first line
# of such a block begins with $ or #:
#
#	$ COMMAND     must exit with 0. A here-document of it ends with the line END
#	# TEXT        has no meaning for the test, such as a command of another tool
#	...           replaces any output
#	other lines   are printed by the command above, apart from numbers. The order of the lines is
#	              not compared
#
# follow FILE runs the commands in $tmp/work, with the programs that a reader has installed.

: "${CC:=cc}"
top=$(cd "${top_srcdir:-${0%/*}/../..}" && pwd)
build=$(cd "${top_builddir:-..}" && pwd)
test -f "$build/lib/.libs/libposixtrace.so" || skip "no shared library"
! nm -D "$build/lib/.libs/libposixtrace.so" | grep -qE '__[at]san_' || skip "the library is sanitized"

mkdir "$tmp/bin" "$tmp/work"
ln -s "$(cd "${posixtrace%/*}" && pwd)/${posixtrace##*/}" "$tmp/bin/posixtrace"
cat >"$tmp/bin/pkg-config" <<END
#!/bin/sh
echo "-I$top/include -L$build/lib/.libs -lposixtrace"
END
# The compiler itself may be called cc.
printf '#!/bin/sh\nPATH="%s" exec %s "$@"\n' "$PATH" "$CC" >"$tmp/bin/cc"
chmod +x "$tmp/bin/pkg-config" "$tmp/bin/cc"
PATH=$tmp/bin:$PATH
LD_LIBRARY_PATH=$build/lib/.libs
POSIXTRACE_PRELOAD=$shim
export PATH LD_LIBRARY_PATH POSIXTRACE_PRELOAD

# Numbers become N; blanks are one.
masked() { sed -E 's/[0-9][0-9.:T-]*/N/g; s/N(ns|us|ms|s)\b/NT/g; s/[ 	]+/ /g; s/^ //; s/ $//'; }

# has_line LINE: an output line of the last command begins with it, up to "..."
has_line() {
	echo "${1%...}" | masked >"$tmp/wanted"
	masked <"$tmp/out" | grep -F -e "$(cat "$tmp/wanted")" >/dev/null && return
	head -n 20 "$tmp/out"
	return 1
}

# works COMMAND: in this shell, since a later command may use its background process
works() {
	eval "$1" >"$tmp/out" 2>&1 </dev/null && return
	head -n 20 "$tmp/out"
	return 1
}

# follow FILE: counts its commands in $commands
follow() {
	commands=0
	cd "$tmp/work" || exit 99
	awk '/^$/ { next }
		!sub(/^    /, "") { is_block = 0; next }
		!is_block { is_block = 1; is_session = /^[$#] / }
		is_session' "$1" >"$tmp/session"
	while IFS= read -r line; do
		case $line in
		'$ '*)
			command=${line#??}
			case $command in
			*"<<'END'")
				while IFS= read -r line && command="$command
$line" && test "$line" != END; do :; done
				;;
			esac
			commands=$((commands + 1))
			check "$(echo "$command" | head -n 1)" works "$command"
			;;
		... | '# '*) ;;
		*) check "prints: $line" has_line "$line" ;;
		esac
	done <"$tmp/session"
}
