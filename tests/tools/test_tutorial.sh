#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# doc/TUTORIAL: every command that it shows exits with 0, and prints each line that it shows, apart
# from numbers and what "..." stands for. The order of the lines is not compared.
. "${0%/*}/lib.sh"

: "${CC:=cc}"
top=$(cd "${top_srcdir:-${0%/*}/../..}" && pwd)
build=$(cd "${top_builddir:-..}" && pwd)
test -f "$build/lib/.libs/libposixtrace.so" || skip "no shared library"
! nm -D "$build/lib/.libs/libposixtrace.so" | grep -qE '__[at]san_' || skip "the library is sanitized"
"$posixtrace" doctor | grep -q '^works  *libdw' || skip "built without libdw: why shows no lines"

# The programs that a reader has installed.
mkdir "$tmp/bin"
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
mkdir "$tmp/work"
cp "$top/examples/orders.c" "$tmp/work"
cd "$tmp/work" || exit 99

# Numbers become N; blanks are one.
masked() { sed -E 's/[0-9][0-9.:T-]*/N/g; s/N(ns|us|ms|s)\b/NT/g; s/ +/ /g; s/^ //; s/ $//'; }

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

command= commands=0
# A command may have a here-document, so its lines are collected up to the line END.
sed -n 's/^    //p' "$top/doc/TUTORIAL" >"$tmp/session"
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
	...) ;;
	*) check "prints: $line" has_line "$line" ;;
	esac
done <"$tmp/session"
check "the tutorial has commands" test "$commands" -gt 15
kill "$(cat pid)" 2>/dev/null
finish
