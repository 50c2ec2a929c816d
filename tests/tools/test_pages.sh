#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The manual pages of posixtrace agree with the tool.
#
#   pages      each command of posixtrace --help has a page that is installed, and posixtrace(1)
#              refers to it; --help names the page
#   options    a page has the options of --help, and no others
#   synopsis   a page has the forms of the command line that --help begins with, in their order
#   examples   a block behind .\" session is a session, and so is one of README that begins with
#              posixtrace: each command after "$ " runs with status 0, and prints the lines below
#              it. Words that contain a digit are equal if both do, for times, numbers and addresses
#              differ from run to run. Empty lines do not count. A page can omit lines, but README
#              has all of them.
. "${0%/*}/lib.sh"
. "${0%/*}/targets.sh"

top=$(cd "${top_srcdir:-${0%/*}/../..}" && pwd)
man=$top/tools/posixtrace/man
build=$(cd "${top_builddir:-..}" && pwd)

# options_of_page PAGE: the options that the page's lists of options begin an entry with.
options_of_page() {
	awk '
		/^\.It Fl / {
			is_option = 0
			for (i = 2; i <= NF; i++) {
				if ($i == "Fl")
					is_option = 1
				else if ($i ~ /^[A-Z][a-z]$/)
					is_option = 0
				else if (is_option && $i != ",")
					print "-" $i
			}
		}' "$1" | sort -u
}

# The options that begin a line of the text of --help in $tmp/out.
options_of_help() {
	sed -n 's/^ \{2,6\}\(-[^ ,]*\(, --[^ ]*\)\{0,1\}\).*/\1/p' "$tmp/out" | tr -s ', ' '\n' |
		sed 's/[=[].*//' | sort -u
}

# synopsis_of_page PAGE: the forms of its synopsis as --help writes them.
synopsis_of_page() {
	awk '
		/^\.Sh SYNOPSIS/ { is_synopsis = 1; next }
		/^\.Sh/ { is_synopsis = 0 }
		!is_synopsis { next }
		/^\.Nm/ { if (form) print form; form = ""; next }
		/^\.Cm/ && !form { form = "posixtrace " $2; next }
		{
			is_option = is_upper = closes = 0
			text = ""
			for (i = 1; i <= NF; i++) {
				word = $i
				if (word == ".Op" || word == "Op") { text = text " ["; closes = "]" }
				else if (word ~ /^\.?Fl$/) { is_option = 1; is_upper = 0 }
				else if (word ~ /^\.?Ar$/) { is_upper = 1; is_option = 0 }
				else if (word ~ /^\.?Cm$/) { is_upper = is_option = 0 }
				else if (word == "|") text = text " |"
				else if (word == "...") text = text "..."
				else text = text " " (is_option ? "-" : "") (is_upper ? toupper(word) : word)
			}
			if (closes) text = text "]"
			gsub(/\[ /, "[", text)
			if (text ~ /\.\.\.\]$/ && text !~ /=/) { sub(/\.\.\.\]$/, "]...", text) }
			form = form text
		}
		END { if (form) print form }
		' "$1"
}

run 0 --help
check "the overview names the pages" has out 'posixtrace-record(1)'
sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' "$tmp/out" >"$tmp/commands"
check "the overview names the commands" test "$(lines commands)" -ge 20
for command in $(cat "$tmp/commands"); do
	page=$man/posixtrace-$command.1
	check "$command has a page, posixtrace-$command.1" test -f "$page"
	check "the page of $command is installed: man/Makefile.inc names it" \
		grep -q "man/posixtrace-$command\.1\( \\\\\)\{0,1\}$" "$man/Makefile.inc"
	check "posixtrace(1) has the entry .It Xr posixtrace-$command 1" \
		grep -q "^\.It Xr posixtrace-$command 1\$" "$man/posixtrace.1"
	run 0 $command --help
	check "$command --help names its page" has out "^Manual page: posixtrace-$command(1)\$"
	synopsis_of_page "$page" >"$tmp/should"
	sed -n 's/^\(Usage:\|      \) \(posixtrace .*\)/\2/p' "$tmp/out" >"$tmp/is"
	check "the page of $command has the synopsis of --help" diff "$tmp/should" "$tmp/is"
	options_of_help >"$tmp/is"
	options_of_page "$page" >"$tmp/should"
	check "$command has options" grep -q -x -e --help "$tmp/is"
	check "the page of $command has the options of --help" diff "$tmp/should" "$tmp/is"
done

# --- examples

# A library with a sanitizer cannot be preloaded into programs without one.
test -f "$shim" || skip_examples="there is no library to preload"
! nm -D "$build/lib/.libs/libposixtrace.so" 2>/dev/null | grep -q '__[at]san_' || skip_examples="the library has a sanitizer"
command -v cc >/dev/null || skip_examples="there is no compiler for an example"
if test -n "$skip_examples"; then
	echo "the examples do not run: $skip_examples"
	finish
	exit
fi
POSIXTRACE_PRELOAD=$shim
PATH=$(cd "${posixtrace%/*}" && pwd):$PATH
LD_LIBRARY_PATH=$build/lib/.libs
export POSIXTRACE_PRELOAD PATH LD_LIBRARY_PATH

# sessions PAGE: a file NUMBER.sh for each command of its sessions, and NUMBER.lines for its lines.
sessions() {
	awk -v dir="$tmp/sessions" -v is_readme="$(test "${1##*/}" != README || echo 1)" '
		is_readme && !/^$/ { is_session = sub(/^    /, "") && (is_session || /^\$ posixtrace/) }
		/^\.\\" session/ { is_next = 1; next }
		/^\.Bd / && is_next { is_next = 0; is_session = 1; next }
		/^\.Ed/ { is_session = 0 }
		!is_session { next }
		{ gsub(/\\e/, "\\"); gsub(/\\&/, "") }
		/^\$ / { name = sprintf("%s/%03d", dir, ++number); printf "" > (name ".lines") }
		/^[$>] / { print substr($0, 3) > (name ".sh"); next }
		{ print > (name ".lines") }' "$1"
}

# Words with digits differ, and with them the ends of the nouns that they count.
masked() {
	awk 'NF {
		for (i = 1; i <= NF; i++)
			if ($i ~ /[0-9]/)
				$i = "#"
			else if (match($i, /^(block|event|fault|thread)s/))
				$i = substr($i, 1, RLENGTH - 1) substr($i, RLENGTH + 1)
		$1 = $1
		print
	}' "$1"
}

# prints LINES OUTPUT [all]: the output has the lines, in their order, and with "all" no others.
prints() {
	test -s "$1" || return 0
	masked "$1" >"$tmp/wanted"
	masked "$2" >"$tmp/printed"
	awk -v all="${3:-}" 'NR == FNR { wanted[++count] = $0; next }
		next_line < count && $0 == wanted[next_line + 1] { next_line++; next }
		all { print "not in the page: " $0; exit failed = 1 }
		END {
			if (failed || next_line == count)
				exit failed
			print "not printed: " wanted[next_line + 1]
			exit 1
		}' "$tmp/wanted" "$tmp/printed" && return
	head -n 20 "$2"
	return 1
}

scratch=$tmp/scratch
mkdir "$scratch"
cd "$scratch" || exit 99
command -v seq >/dev/null && seq 2000 >names || ls /usr/bin >names
echo 'int main(void) { return 0; }' >file.c
cp "$(command -v sh)" server
cp "$top/README" README

# A process that makes calls on files, and one that traces it, as the pages assume.
start_server() {
	start env LD_PRELOAD="$shim" ./server -c 'while read line <names; do sleep 0.02; done'
	target=$pid
	check "the server runs" until_true grep -q libposixtrace-preload "/proc/$target/maps"
}

is_attached() { posixtrace list | grep -q "^ *$target .* loop\.ptl .* running"; }

ran=0
for page in "$top/README" "$man"/posixtrace*.[17]; do
	name=${page##*/}
	case $name in
	posixtrace-query.1) grep -q -x query "$tmp/commands" || continue ;;
	esac
	all=
	test "$name" != README || all=all
	rm -rf "$tmp/sessions"
	mkdir "$tmp/sessions"
	sessions "$page"
	for made in *; do
		case $made in
		names | file.c | server | README) ;;
		*) rm -rf "$made" ;;
		esac
	done
	posixtrace record -q -- sort -o sorted names 2>"$tmp/err"
	target=4711
	if cat "$tmp/sessions"/*.sh 2>/dev/null | grep -q 4711; then
		start_server
	fi
	if grep -q '^\.\\" session attached' "$page"; then
		test "$target" != 4711 || start_server
		start posixtrace attach -p "$target" -o loop.ptl --policy loop -e 'io.*' 2>/dev/null
		check "$name: the process is traced" until_true is_attached
	fi
	for session in "$tmp/sessions"/*.sh; do
		test -f "$session" || continue
		ran=$((ran + 1))
		sed -i "s/\<4711\>/$target/g" "$session"
		timeout 60 sh "$session" >"$tmp/out" 2>&1
		got=$?
		wanted=0
		check "$name: $(head -n 1 "$session")" exited
		check "$name: it prints the lines" prints "${session%.sh}.lines" "$tmp/out" $all
	done
	end_all
	started=
done
check "the pages have examples" test "$ran" -ge 30
finish
