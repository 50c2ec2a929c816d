#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The manual pages are clean and complete, and their examples are programs.
#
#   pages      every function of the public headers has a page with its prototype, and the compiler
#              accepts this prototype together with that of the header
#   links      every page is installed; pages and files to which a page refers exist
#   examples   the text from .\" program: NAME [ARGUMENT...] to .Ed compiles without a
#              warning and, if the library has been built, runs with exit status 0,
#              and prints something if it calls printf() or puts()
#   format     posixtrace-log(5) has the fields of lib/log/FORMAT
#   README     the first program is examples/first.c; README has at most 150 lines of 100 columns
#   documents  releases and packages have the files of doc/
#   headings   no word of a heading is a macro's name, which mdoc would call
#   lint       mandoc prints no warning; no file has marks of a conflict
: "${top_srcdir:=..}" "${top_builddir:=$top_srcdir}" "${CC:=cc}"
. "$top_srcdir/tests/support/count.sh"
LC_ALL=C
export LC_ALL

src=$(cd "$top_srcdir" && pwd)
lib=$(cd "$top_builddir" && pwd)/lib/.libs
man=$src/lib/man
tool_man=$src/tools/posixtrace/man
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

# path NAME SECTION: the file of a page, links not followed.
path() {
	if [ -f "$tool_man/$1.$2" ]; then
		echo "$tool_man/$1.$2"
	else
		echo "$man/$1.$2"
	fi
}

# page NAME SECTION: the file that describes NAME, links followed; nothing if there is no page.
page() {
	file=$(path "$1" "$2")
	[ -f "$file" ] || return 0
	link=$(sed -n '1s|^\.so man[0-9]/||p' "$file")
	[ -z "$link" ] || file=$man/$link
	[ ! -f "$file" ] || echo "$file"
}

pages="$(grep -L '^\.so ' "$man"/*.[0-9]) $(echo "$tool_man"/*.[17])"

# --- pages

printf '#include <trace_np.h>\n' | $CC -E -P -I"$src/include" - |
	grep -oE '\bposix_trace_[a-z_]+ ?\(' | tr -d ' (' | sort -u >"$scratch/functions"
check "the headers' functions are found" test "$(wc -l <"$scratch/functions")" -ge 50

# prototype NAME PAGE: the prototype of NAME in the synopsis of the page
prototype() {
	awk -v name="$1" '
		$1 == ".Ft" { type = substr($0, 5) }
		$1 == ".Fn" && $2 == name && /"/ {
			sub(/^[^"]*"/, ""); sub(/"$/, ""); gsub(/" "/, ", ")
			print type " " name "(" $0 ");"
			exit
		}' "$2"
}

printf '#include <trace_np.h>\n#undef posix_trace_event\n' >"$scratch/prototypes.c"
while read -r name; do
	file=$(page "$name" 3)
	check "$name has a page" test -n "$file"
	[ -n "$file" ] || continue
	check "$name is among the page's names" grep -qE "^\.Nm $name( ,)?\$" "$file"
	check "$name has a prototype" test -n "$(prototype "$name" "$file")"
	prototype "$name" "$file" >>"$scratch/prototypes.c"
done <"$scratch/functions"
check "the prototypes are the headers'" \
	$CC -std=c11 -Wall -Wextra -Werror -fsyntax-only -I"$src/include" "$scratch/prototypes.c"

# --- links

for file in "$man"/*.[0-9]; do
	name=${file##*/}
	check "$name leads to a page" test -n "$(page "${name%.*}" "${name##*.}")"
	check "$name is installed" grep -q "^	$name\( \\\\\)\{0,1\}\$" "$man/Makefile.inc"
done
for reference in $(grep -hE '^\.Xr (posix_trace|posixtrace|trace_np)' $pages |
		   awk '{ print $2 "/" $3 }' | sort -u); do
	check "the page to which $reference refers exists" \
		test -n "$(page "${reference%/*}" "${reference#*/}")"
done

# --- examples

examples=$scratch/examples
mkdir "$examples"
for file in $pages; do
	awk -v dir="$examples" '
		/^\.\\" program: / { file = dir "/" $3; args = $0; sub(/^[^:]*: [^ ]+ */, "", args); next }
		file && /^\.Bd / { body = 1; next }
		file && /^\.Ed/ { close(file); print args > (file ".args"); close(file ".args")
				  file = ""; body = 0 }
		body { gsub(/\\e/, "\\"); gsub(/\\&/, ""); print > file }' "$file"
done
set -- "$examples"/*.c
check "the pages have example programs" test $# -ge 15
check "every program in the pages is marked as one" \
	test "$(cat $pages | grep -c '^int main(')" -eq $#

# Programs that use a sanitized library would have to be sanitized, too. So only the plain build runs
# the examples.
runs=no
if [ -f "$lib/libposixtrace.so" ] && ! nm -D "$lib/libposixtrace.so" | grep -qE '__[at]san_'; then
	runs=yes
fi
for source; do
	program=${source%.c}
	check "example ${source##*/} compiles" $CC -std=c11 -D_POSIX_C_SOURCE=200809L -pthread \
		-Wall -Wextra -Werror -I"$src/include" -c -o "$program.o" "$source"
	[ $runs = no ] || check "example ${source##*/} links" \
		$CC -pthread -o "$program" "$program.o" -L"$lib" -lposixtrace
done

# run PROGRAM [ARGUMENT...]
run() {
	LD_LIBRARY_PATH=$lib timeout 60 "$@"
}

run_into() {
	file=$1
	shift
	run "$@" >"$file" || {
		cat "$file"
		return 1
	}
}

# Whether the program writes to standard output.
prints() {
	grep -qE '(^|[^f])(printf|puts)\(' "$1"
}

if [ $runs = yes ]; then
	cd "$examples" || exit 1
	# One process is traced during all examples, because some examples list traced processes.
	cat >"$scratch/traced.c" <<-END
		#include <trace.h>
		#include <unistd.h>

		int main(void)
		{
			trace_id_t stream;
			char byte;

			if (posix_trace_create(0, NULL, &stream) || posix_trace_start(stream))
				return 1;
			return write(1, "", 1) != 1 || read(0, &byte, 1) != 0;
		}
	END
	check "a program to be traced is built" $CC -pthread -D_POSIX_C_SOURCE=200809L -I"$src/include" \
		-o "$scratch/traced" "$scratch/traced.c" -L"$lib" -lposixtrace
	mkfifo "$scratch/hold" "$scratch/ready"
	run "$scratch/traced" <"$scratch/hold" >"$scratch/ready" &
	exec 9>"$scratch/hold"
	check "it is traced" test "$(head -c 1 "$scratch/ready" | wc -c)" -eq 1
	# Examples without arguments are first: one of them writes the log that other examples read.
	for pass in without with; do
		for source; do
			arguments=$(cat "$source.args")
			[ -z "$arguments" ] && has=without || has=with
			[ $has = $pass ] || continue
			check "example ${source##*/} ends with 0" run_into "${source%.c}.out" \
				"${source%.c}" $arguments
			! prints "$source" || check "example ${source##*/} prints what it reads" \
				test -s "${source%.c}.out"
		done
	done
fi

# --- posixtrace-log(5)

awk '/^  +[0-9]+ +[0-9]+  [a-z]/ { print $1, $2, $3 }' "$src/lib/log/FORMAT" |
	sort >"$scratch/format"
sed -n 's/^\.It \([0-9]*\) Ta \([0-9]*\) Ta \([a-z_0-9]*\) .*/\1 \2 \3/p' "$man/posixtrace-log.5" |
	sort >"$scratch/log5"
check "the tables of FORMAT are found" test "$(wc -l <"$scratch/format")" -ge 100
check "posixtrace-log(5) has the tables of FORMAT" diff "$scratch/format" "$scratch/log5"

# --- README

sed 1d "$src/examples/first.c" | sed 's/^/    /; s/ *$//' >"$scratch/first"
awk '/^    #include <stdio.h>/ { on = 1 } on { print } on && /^    }$/ { exit }' \
	"$src/README" >"$scratch/readme"
check "README's first program is examples/first.c" cmp "$scratch/first" "$scratch/readme"
lines=$(wc -l <"$src/README")
check "README has $lines lines, at most 150; a further line needs a shorter text elsewhere in it" \
	test "$lines" -le 150
none "no line of README is wider than 100 columns" "$(expand -t 8 "$src/README" | grep -n '.\{101,\}')"

# --- documents

for file in "$src"/doc/*; do
	name=doc/${file##*/}
	check "a release has $name; add it to EXTRA_DIST of Makefile.am" \
		grep -q "[ 	]$name\( \|$\)" "$src/Makefile.am"
	check "a package has $name; add it to tools/debian/libposixtrace-doc.docs" \
		grep -qx "$name" "$src/tools/debian/libposixtrace-doc.docs"
done

# --- environment

names=$(grep -hoE 'getenv\("POSIXTRACE_[A-Z_]+"\)|"POSIXTRACE_[A-Z_]+=?"' -r "$src/lib" "$src/tools" \
	--include='*.[ch]' | grep -oE 'POSIXTRACE_[A-Z_]+' | sort -u)
check "the code reads variables of the environment" test "$(echo "$names" | wc -l)" -ge 8
for name in $names; do
	# shellcheck disable=SC2086 # names without blanks
	check "a page describes $name" grep -qE "^\.It Ev $name( |\$)" $pages
done

# --- headings

# The macros that mdoc calls in the middle of a line.
macros='A[cdnopqrt]|B[coqsx]|Brc|Bro|Brq|Bsx|C[dm]|D[coqvx]|E[cmorv]|F[aclnortx]|I[cn]|L[ki]|M[st]|N[moqsx]
|No|O[copqtx]|P[acfoq]|Q[coql]|S[coqxy]|T[an]|U[x]|V[at]|X[cor]|Nd|Ns|Es|En|Ap|Me|As|Aq'
macros=$(echo "$macros" | tr -d '\n')
none "no word of a heading is a macro" "$(grep -nE "^\.S[sh] (.* )?($macros)( |\$)" $pages)"

# --- lint

none "NEWS, README and the pages have no marks of a conflict" \
	"$(unmerged "$src/NEWS" "$src/README" $pages)"
if command -v mandoc >/dev/null; then
	for file in $pages; do
		none "${file##*/} is clean" "$(mandoc -T lint -W warning "$file")"
	done
else
	echo "no mandoc: the pages are not linted"
fi

finish
