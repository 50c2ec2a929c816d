#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Program addresses as functions and lines: of programs at fixed addresses and not, of plugins that were
# unloaded, of children, of stripped files with their debug information elsewhere, of files that are gone,
# replaced or no ELF at all. The output equals that of addr2line for the same address, or is
# MODULE+0xOFFSET.
: "${CC:=cc}"
. "${0%/*}/lib.sh"

if nm "$posixtrace" 2>/dev/null | grep -q '__[at]san_init'; then
	skip "programs are linked here without the sanitizer"
fi
src=$(cd "${top_srcdir:-..}" && pwd)
lib=$(cd "${top_builddir:-..}/lib/.libs" && pwd)
POSIXTRACE_PRELOAD=$shim
export POSIXTRACE_PRELOAD
has_elf() { "$posixtrace" symbols "$tmp/pie.ptl" | grep -q -- ' -> '; }

build() {
	output=$1
	shift
	$CC -g -O1 -Wl,--build-id=sha1 -I"$src/include" "$@" -o "$output" -L"$lib" -Wl,-rpath,"$lib" -lposixtrace
}
build "$tmp/pie" -fPIE -pie "$src/tests/tools/traced.c" -ldl &&
	build "$tmp/fixed" -fno-pie -no-pie "$src/tests/tools/traced.c" -ldl &&
	build "$tmp/first.so" -shared -fPIC -DPLUGIN=1 "$src/tests/posix/plugin.c" &&
	build "$tmp/second.so" -shared -fPIC -DPLUGIN=22 -DMORE "$src/tests/posix/plugin.c" ||
	skip "no compiler for programs and libraries"

# fields LOG OPTION...: number of the event, function, source.
fields() {
	log=$1
	shift
	run 0 dump -e here --fields address,symbol,source,data "$@" "$log"
}

# The output of addr2line for each address, for every module of the log.
agrees() {
	program=$1 base=$2
	while read -r address symbol source rest; do
		offset=$(printf '0x%x' $((address - base - 1))) # in the call, which returns to address
		addr2line -f -e "$program" "$offset" >"$tmp/said" 2>/dev/null || return 1
		test "$(head -n 1 "$tmp/said")" = "$symbol" || { echo "$address: $symbol"; cat "$tmp/said"; return 1; }
		test "$(tail -n 1 "$tmp/said" | sed 's/ (discriminator.*//')" = "$source" ||
			{ echo "$address: $source"; cat "$tmp/said"; return 1; }
	done <"$tmp/out"
}

base_of() {
	"$posixtrace" symbols --json "$1" | grep "/$2\"" | sed -n 's/.*"base":"\([^"]*\)".*/\1/p' | head -n 1
}

for program in pie fixed; do
	check "$program: traces" "$tmp/$program" "$tmp/$program.ptl" "$tmp/first.so" "$tmp/second.so"
	run 0 verify "$tmp/$program.ptl"
done
run 0 symbols "$tmp/pie.ptl"
check "the program is listed" has out " $tmp/pie"
check "the plugin is listed as unloaded" has out "$tmp/first.so \[until unloaded\]"
check "the child is listed" has out 'child of'
if ! has_elf; then
	fields "$tmp/pie.ptl"
	check "without elfutils offsets are shown" has out 'pie+0x'
	finish
	exit
fi

for program in pie fixed; do
	fields "$tmp/$program.ptl"
	check "$program: there are six events" has_lines out 6
	for name in in_the_program inlined hidden plugin_trace; do
		check "$program: $name is found" has out "	$name	.*/[a-z]*\.c:[0-9]"
	done
	check "$program: the child's event has its function" \
		test "$(grep -c '	in_the_program	' "$tmp/out")" -eq 2
	check "$program: no event is without" lacks out '	-	'
	if command -v addr2line >/dev/null; then
		# The innermost inlined function, the first one of -i.
		grep '	/.*traced\.c' "$tmp/out" | grep -v "	inlined	" >"$tmp/own"
		mv "$tmp/own" "$tmp/out"
		check "$program: addr2line says the same" agrees "$tmp/$program" "$(base_of "$tmp/$program.ptl" $program)"
	fi
done
run 0 dump -e here --symbols "$tmp/pie.ptl"
check "a line of text has function and line" has out ' in hidden (.*traced\.c:[0-9]*)$'
run 0 dump -e here --symbols --json "$tmp/pie.ptl"
check "a line of JSON has them" has out '"symbol":"hidden","source":".*traced\.c:[0-9]*"'
run 0 report --fields symbol,event "$tmp/pie.ptl"
check "a report has them" has out '^inlined *here'

# Programs that end before their mappings can be scanned, under posixtrace record.
cat >"$tmp/reads.c" <<'END'
#include <fcntl.h>
#include <unistd.h>
void reads(void);
void reads(void)
{
	close(open("/dev/null", O_RDONLY));
}
END
cat >"$tmp/short.c" <<'END'
#include <dlfcn.h>
#include <unistd.h>
static void run(const char *path, int end)
{
	void *handle = dlopen(path, RTLD_NOW);
	void (*reads)(void);

	*(void **)&reads = handle ? dlsym(handle, "reads") : 0;
	if (!handle || !reads)
		_exit(1);
	reads();
	if (!end)
		dlclose(handle);
}
int main(int argc, char **argv)
{
	close(dup(0));
	for (int i = 1; i < argc; i++)
		run(argv[i], i + 1 == argc);
	return 0;
}
END
short() {
	$CC -g -O1 -Wl,--build-id=sha1 "$@"
}
short -fPIE -pie "$tmp/short.c" -o "$tmp/short" -ldl && short -fPIC -shared "$tmp/reads.c" -o "$tmp/one.so" &&
	sed 's/null/zero/' "$tmp/reads.c" >"$tmp/reads2.c" && short -fPIC -shared "$tmp/reads2.c" -o "$tmp/two.so" ||
	exit 99

# One file under several names: the log has for each process the path of the file that the process
# executes, although other processes have reported other paths with the same build-id.
mkdir "$tmp/a" "$tmp/b" "$tmp/script" && echo 'int main(void) { return 0; }' >"$tmp/empty.c" &&
	short "$tmp/empty.c" -o "$tmp/a/same" && cp "$tmp/a/same" "$tmp/b/same" &&
	ln "$tmp/a/same" "$tmp/a/hard" && ln -s same "$tmp/a/soft" && ln -s a "$tmp/linked" &&
	printf '#!%s\n' "$tmp/a/same" >"$tmp/script/same" && chmod +x "$tmp/script/same" || exit 99
cat >"$tmp/all" <<'END'
a/same; ./a/same; linked/same; b/same; a/hard; a/soft; b/same
cd a; ./same; cd ..; script/same; PATH=a:$PATH; same; :
END
run 0 record -q --force -o "$tmp/names.ptl" -- sh -c 'LD_LIBRARY_PATH=$2; cd "$1" && . ./all' sh \
	"$tmp" "$lib"
run 0 symbols "$tmp/names.ptl"
sed -nE 's,.* (/[^ ]*/(same|hard)) .*,\1,p' "$tmp/out" | sed "s|^$tmp/||" >"$tmp/paths"
for path in a/same a/same a/same b/same a/hard a/same b/same a/same a/same a/same; do
	echo "$path"
done >"$tmp/expected"
check "each program has its own path" cmp "$tmp/expected" "$tmp/paths"

# Every event that has an address has a function, or a module and an offset.
all_known() {
	run 0 dump --system --fields address,symbol,event "$1"
	check "$2: no address is unknown" test "$(grep -v '^0x0*	' "$tmp/out" | grep -c '	-	')" -eq 0
	check "$2: there are such events" has out "${3-	posix_trace_start}"
}
for families in io,dl io; do
	run 0 record -q -o "$tmp/short.ptl" --trace $families -- "$tmp/short" "$tmp/one.so" "$tmp/two.so" "$tmp/one.so"
	all_known "$tmp/short.ptl" "$families, libraries that come and go" '	main	io.close'
	check "$families: each library's events are in it" test "$(grep -c '	reads	io.open' "$tmp/out")" -eq 3
	run 0 dump -e io.open --fields source "$tmp/short.ptl"
	check "$families: each event is in the right library" \
		test "$(sed 's/:.*//; s/.*\///' "$tmp/out" | paste -sd ' ')" = 'reads.c reads2.c reads.c'
done
run 0 record -q -o "$tmp/short.ptl" -- true
all_known "$tmp/short.ptl" true
run 0 record -q -o "$tmp/short.ptl" -- ls "$tmp"
all_known "$tmp/short.ptl" ls '	io\.'
run 0 symbols "$tmp/short.ptl"
check "ls is listed" has out '/ls -> '
run 0 record -q -o "$tmp/short.ptl" -- sh -c "$tmp/short; ($tmp/short); ls $tmp | cat >/dev/null; true"
all_known "$tmp/short.ptl" "a shell and its children" '	main	io.close'
run 137 record -q -o "$tmp/short.ptl" -- sh -c 'cat /dev/null; kill -9 $$'
all_known "$tmp/short.ptl" "a program that is killed" '	io\.'
if short -static-pie "$tmp/short.c" -o "$tmp/alone" -ldl 2>/dev/null; then
	run 0 record -q -o "$tmp/short.ptl" -- "$tmp/alone"
	all_known "$tmp/short.ptl" "a program without libraries" '	record_command_line	posixtrace_record'
fi

# In SQL, and only for that query.
if "$posixtrace" query --help >/dev/null 2>&1; then
	run 0 query --csv "$tmp/pie.ptl" "select name, function, source, line, module from events where name = 'here'"
	sed 1d "$tmp/out" | sed "s,$src/,," >"$tmp/rows"
	fields "$tmp/pie.ptl"
	cut -f 2,3 "$tmp/out" | sed "s,$src/,,; s/	/,/; s/:/,/; s/^/here,/" >"$tmp/wanted"
	sed 's/,[^,]*$//' "$tmp/rows" >"$tmp/shown"
	check "function, source and line are those of dump" cmp "$tmp/shown" "$tmp/wanted"
	check "the module is the file" test "$(grep -c ",$tmp/pie\$" "$tmp/rows")" -ge 3
	run 0 query --csv "$tmp/pie.ptl" "$tmp/fixed.ptl" \
		"select log, count(*) from events where function = 'in_the_program' group by log"
	check "several logs have the same answer" test "$(sed 1d "$tmp/out" | paste -sd ' ')" = "$tmp/fixed.ptl,2 $tmp/pie.ptl,2"
	mv "$tmp/pie" "$tmp/away"
	run 0 query "$tmp/pie.ptl" 'select * from events'
	check "where they are not asked for no file is looked for" is_empty err
	run 0 query "$tmp/pie.ptl" 'select function from events'
	check "a missing file is reported once" test "$(grep -c 'pie: no file' "$tmp/err")" -eq 1
	mv "$tmp/away" "$tmp/pie"
fi

# C++
: "${CXX:=c++}"
cat >"$tmp/cart.cc" <<'END'
#include <fcntl.h>
#include <unistd.h>
namespace shop {
struct cart {
	template <class T> __attribute__((noinline)) int add(const T &, int n)
	{
		return close(dup(0)) + n;
	}
};
static __attribute__((noinline)) int own(const cart *)
{
	return close(dup(0)) + 1;
}
}
extern "C" __attribute__((noinline)) int plain(void)
{
	return close(dup(0)) + 1;
}
int main()
{
	shop::cart cart;

	return (cart.add(1L, 1) + shop::own(&cart) + plain()) * 0;
}
END
if $CXX -g -O1 -Wl,--build-id=sha1 "$tmp/cart.cc" -o "$tmp/cart" 2>/dev/null; then
	run 0 record -q -o "$tmp/cart.ptl" --trace io -- "$tmp/cart"
	run 0 dump -e io.close --no-demangle --fields symbol "$tmp/cart.ptl"
	check "--no-demangle: as the linker has it" has out '^_ZN4shop4cart3addIlEEiRKT_i$'
	check "--no-demangle: a name that the program does not link is printed, too" has out '^_ZN4shopL3ownEPKNS_4cartE$'
	check "--no-demangle: a function of C" has out '^plain$'
	if grep -q '^[^#].*-DHAVE_CXA_DEMANGLE' "$tools/Makefile"; then
		for how in '' --demangle --demangle=simple '--no-demangle --demangle'; do
			run 0 dump -e io.close $how --fields symbol "$tmp/cart.ptl"
			check "'$how': the qualified name" has out '^shop::cart::add$'
			check "'$how': a function of a namespace" has out '^shop::own$'
			check "'$how': a function of C" has out '^plain$'
		done
		run 0 dump -e io.close --demangle=full --fields symbol "$tmp/cart.ptl"
		check "full: as people write it" has out '^int shop::cart::add<long>(long const&, int)$'
		check "full: a function of a namespace" has out '^shop::own(shop::cart const\*)$'
		check "full: a function of C" has out '^plain$'
		run 2 dump --demangle=long "$tmp/cart.ptl"
		check "another form is refused" has err '^posixtrace: --demangle=long: the forms are simple and full$'
		run 0 report -e io.close --fields symbol "$tmp/cart.ptl"
		check "in a report too" has out '^shop::own *$'
		run 0 report --demangle=full -e io.close --fields symbol "$tmp/cart.ptl"
		check "a report has the full name" has out '^shop::own(shop::cart const\*) *$'
	fi
fi

# Debug information in a file of its own.
cp "$tmp/pie" "$tmp/whole"
if objcopy --only-keep-debug "$tmp/pie" "$tmp/pie.debug" 2>/dev/null && strip "$tmp/pie"; then
	fields "$tmp/pie.ptl"
	check "local functions of a stripped program are not known" lacks out '	hidden	'
	check "local functions of a stripped program are offsets" has out '	pie+0x[0-9a-f]*	'
	mkdir "$tmp/debug"
	mv "$tmp/pie.debug" "$tmp/debug/any name"
	fields "$tmp/pie.ptl" --debug-dir "$tmp/debug"
	check "with the folder of its debug information they are" has out '	hidden	.*traced\.c:[0-9]'
	id=$("$posixtrace" symbols "$tmp/pie.ptl" | grep "$tmp/pie ->" | awk '{ print $3 }' | head -n 1)
	rest=${id#??}
	mkdir -p "$tmp/debug/.build-id/${id%"$rest"}"
	mv "$tmp/debug/any name" "$tmp/debug/.build-id/${id%"$rest"}/$rest.debug"
	fields "$tmp/pie.ptl" --debug-dir "$tmp/debug"
	check "by the name of its build-id too" has out '	hidden	.*traced\.c:[0-9]'
	rm "$tmp/pie"
	fields "$tmp/pie.ptl" --debug-dir "$tmp/debug"
	check "the debug information is enough when the program is gone" has out '	hidden	.*traced\.c:[0-9]'
fi

# Deleted, replaced, truncated, garbage.
rm -f "$tmp/pie"
fields "$tmp/pie.ptl"
check "a removed program has offsets" has out '	pie+0x[0-9a-f]*	-	'
check "the message has the reason for the offsets" has err 'pie: no file with its build-id was found'
cp "$tmp/fixed" "$tmp/pie"
fields "$tmp/pie.ptl"
check "another program at its path is not used" lacks out '	hidden	'
check "offsets are printed for another program at its path" has out '	pie+0x[0-9a-f]*	-	'
check "the message says that the file is another one" has err 'pie: there is another file at its path now'
mkdir "$tmp/copies"
cp "$tmp/whole" "$tmp/copies/renamed"
fields "$tmp/pie.ptl" --debug-dir "$tmp/copies"
check "a copy is found by its build-id" has out '	hidden	.*traced\.c:[0-9]'
for bytes in 0 4 64 500 5000; do
	head -c $bytes "$tmp/whole" >"$tmp/pie"
	fields "$tmp/pie.ptl"
	check "cut to $bytes bytes it is not believed" has out '	pie+0x[0-9a-f]*	-	\|	in_the_program	'
done
head -c 20000 /dev/urandom >"$tmp/pie"
fields "$tmp/pie.ptl"
check "garbage is not believed" has out '	pie+0x[0-9a-f]*	-	'
(head -c 4096 "$tmp/whole"; head -c 30000 /dev/urandom) >"$tmp/pie"
fields "$tmp/pie.ptl"
check "garbage behind good headers does no harm" has_lines out 6
run 2 dump --debug-dir "$tmp/nowhere" "$tmp/pie.ptl"
check "a folder that is not there is said" has err 'nowhere: No such file'
run 2 symbols
finish
