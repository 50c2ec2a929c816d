#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Existing files: no command overwrites one without --force, none writes through a link.
. "${0%/*}/lib.sh"
needs_format tracex

compose=${top_builddir:-..}/tests/tools/compose
printf '%s\n' 'type a_begin u32 id' 'type a_end u32 id' 'a_begin 1 1 1000 1' 'a_end 1 1 2000 1' |
	"$compose" "$tmp/log" || exit 99
cp "$tmp/log" "$tmp/kept"
echo precious >"$tmp/precious"

is_precious() { grep -q -x precious "$1"; }
leaves_nothing() { test -z "$(ls -A "$tmp/box" | grep -v -x -e out -e out.trxc -e victim)"; }

# try COMMAND...: it writes $tmp/box/out, which is a file, a link to one, a dangling link, a folder.
try() {
	rm -rf "$tmp/box"
	mkdir "$tmp/box"
	out=$tmp/box/out
	cp "$tmp/precious" "$out"
	run 1 "$@"
	check "$1 says what is wrong" has err "^posixtrace: $out: the file exists; --force replaces it$"
	check "$1 leaves a file alone" is_precious "$out"
	run 0 "$@" --force
	check "$1 --force overwrites it" test -s "$out" -a "$(is_precious "$out"; echo $?)" -ne 0
	rm "$out"
	cp "$tmp/precious" "$tmp/box/victim"
	for victim in victim gone; do
		ln -s $victim "$out"
		run 1 "$@"
		check "$1 leaves a link alone" test -L "$out"
		run 0 "$@" --force
		check "$1 --force puts a file in its place" test -f "$out" -a ! -L "$out"
		rm "$out"
	done
	check "$1 leaves alone what a link leads to" is_precious "$tmp/box/victim"
	check "$1 does not make the missing target of a link" test ! -e "$tmp/box/gone"
	mkdir "$out"
	run 1 "$@" --force
	check "$1 leaves a folder alone" rmdir "$out"
	rm -f "$out.trxc"
	check "$1 leaves nothing behind" leaves_nothing
}
try report "$tmp/log" -o "$tmp/box/out"
try report "$tmp/log" "$tmp/kept" -o "$tmp/box/out"
try html "$tmp/log" -o "$tmp/box/out"
try plot "$tmp/log" -o "$tmp/box/out"
for format in $("$posixtrace" convert --list | awk '$2 == "writes" || $3 == "writes" { print $1 }'); do
	case $format in
	listing) ;;
	ctf | parquet | otlp) # these make a folder, which never replaces anything
		rm -rf "$tmp/box"
		mkdir "$tmp/box" "$tmp/box/out"
		cp "$tmp/precious" "$tmp/box/victim"
		run 1 convert "$tmp/log" --to "$format" -o "$tmp/box/out" --force
		check "$format leaves a folder alone" rmdir "$tmp/box/out"
		run 1 convert "$tmp/log" --to "$format" -o "$tmp/box/victim" --force
		check "$format leaves a file alone" is_precious "$tmp/box/victim"
		ln -s gone "$tmp/box/out"
		run 1 convert "$tmp/log" --to "$format" -o "$tmp/box/out" --force
		check "$format leaves a link alone" test -L "$tmp/box/out" -a ! -e "$tmp/box/gone"
		rm "$tmp/box/out"
		check "$format leaves nothing behind" leaves_nothing
		;;
	tracex)
		run 0 convert "$tmp/log" --to tracex -o "$tmp/first.trx"
		check "tracex has names beside it" grep -q a_begin "$tmp/first.trx.trxc"
		try convert "$tmp/log" --to tracex -o "$tmp/box/out"
		;;
	*) try convert "$tmp/log" --to "$format" -o "$tmp/box/out" ;;
	esac
done
"$posixtrace" send "$tmp/log" >"$tmp/sent"
try send "$tmp/log" -o "$tmp/box/out"
try receive "$tmp/sent" -o "$tmp/box/out"

# The file beside the output.
rm -rf "$tmp/box"
mkdir "$tmp/box"
cp "$tmp/precious" "$tmp/box/victim"
for victim in victim gone; do
	ln -s $victim "$tmp/box/o.trxc"
	run 1 convert "$tmp/log" --to tracex -o "$tmp/box/o"
	check "the file beside the output is refused, too" has err "/o.trxc: the file exists; --force replaces it$"
	check "then there is no output" test ! -e "$tmp/box/o"
	check "the target of the link is not changed" is_precious "$tmp/box/victim"
	check "a missing target of the link is not made" test ! -e "$tmp/box/gone"
	run 0 convert "$tmp/log" --to tracex -o "$tmp/box/o" --force
	check "--force replaces the link" test -f "$tmp/box/o.trxc" -a ! -L "$tmp/box/o.trxc"
	check "--force does not change the target of the link" is_precious "$tmp/box/victim"
	rm "$tmp/box/o" "$tmp/box/o.trxc"
done
mkfifo "$tmp/box/pipe"
cat "$tmp/box/pipe" >"$tmp/box/piped" &
run 0 convert "$tmp/log" --to tracex -o "$tmp/box/pipe"
wait $!
check "a pipe gets the buffer" test -s "$tmp/box/piped"
check "no file is made beside the pipe" test ! -e "$tmp/box/pipe.trxc"

# Folders, descriptors, devices.
mkdir "$tmp/box/ctf"
run 1 convert "$tmp/log" --to ctf -o "$tmp/box/ctf" --force
check "a folder is never overwritten" has err 'the folder exists, and is never replaced; give another name$'
run 0 report "$tmp/log" -o /dev/null
if test -e /dev/stdout; then
	for force in '' --force; do
		"$posixtrace" html "$tmp/log" $force -o /dev/stdout >"$tmp/page" 2>"$tmp/err"
		check "/dev/stdout is written to as it is" grep -q '<html' "$tmp/page"
	done
	check "/dev/stdout remains" test -e /dev/stdout
	run 1 snapshot -p $$ -o /dev/stdout --force
fi
finish
