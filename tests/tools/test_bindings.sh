#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The bindings of lib/bindings: the first program of each language runs, and the same events of all
# languages are equal in dump, field by field. A language that is not installed is skipped.
. "${0%/*}/lib.sh"

: "${CC:=cc}" "${CXX:=c++}"
top=$(cd "${top_srcdir:-${0%/*}/../..}" && pwd)
build=$(cd "${top_builddir:-..}" && pwd)
bindings=$top/lib/bindings
points=$top/tests/bindings
libs=$build/lib/.libs
test -f "$libs/libposixtrace.so" || skip "no shared library"
! nm -D "$libs/libposixtrace.so" | grep -qE '__[at]san_' || skip "the library is sanitized"
LD_LIBRARY_PATH=$libs
export LD_LIBRARY_PATH

# The output of dump for the events of a program, without its spans' addresses and times.
shown() {
	"$posixtrace" dump -x 'posix_trace_*' --fields event,data "$1"
}

# The lines of stat for counters.
counters() { "$posixtrace" stat "$1" | grep ' net.accept fd$'; }

# equal LANGUAGE: the log that its program wrote
equal() {
	shown "$tmp/$1.ptl" >"$tmp/$1.shown"
	check "the log of $1 is that of C" diff "$tmp/c.shown" "$tmp/$1.shown"
	check "the log of $1 has the counters of C" test "$(counters "$tmp/c.ptl")" = "$(counters "$tmp/$1.ptl")"
	"$posixtrace" stat "$tmp/$1.ptl" >"$tmp/out"
	check "the stream of $1 has room for 4 MiB of events" has out '^limits  *stream [4-9]......'
	run 0 verify "$tmp/$1.ptl"
}

# overlaps LANGUAGE: the log of its program overlap, whose first two spans overlap
overlaps() {
	shown "$tmp/overlap.ptl" >"$tmp/out"
	check "async spans of $1 have a key" diff - "$tmp/out" <<-END
		overlap.begin	id=1
		overlap.begin	id=2
		overlap.end	id=1
		overlap.end	id=2
		overlap.begin	id=3
		overlap.end	id=3
	END
	run 0 latency "$tmp/overlap.ptl"
	check "latency finds each of them" has out '^ *3 .* overlap$'
	rm "$tmp/overlap.ptl"
}

# --- C, with which the others are compared

check "the program of C is built" $CC -std=gnu11 -I"$top/include" -o "$tmp/c" "$points/same.c" \
	-L"$libs" -lposixtrace
check "it runs" "$tmp/c" "$tmp/c.ptl"
shown "$tmp/c.ptl" >"$tmp/c.shown"
check "its log has all events" test "$(wc -l <"$tmp/c.shown")" -eq 14
check "its log has a counter" test -n "$(counters "$tmp/c.ptl")"
check "its log has all values" grep -q 'd=-9223372036854775808.*text="gr' "$tmp/c.shown"

# --- C++

# program_cxx NAME SOURCE
program_cxx() {
	check "$1 is built" $CXX -std=c++17 -O1 -Wall -Wextra -Wpedantic -Werror \
		-I"$top/include" -I"$bindings/cpp" -o "$tmp/$1" "$2" -L"$libs" -lposixtrace
}
program_cxx cpp "$points/same.cpp"
check "it runs" "$tmp/cpp" "$tmp/cpp.ptl"
equal cpp
program_cxx cpp_first "$bindings/cpp/first.cpp"
"$tmp/cpp_first" "$tmp/first.ptl" >"$tmp/out"
check "the first program of C++ reads what it wrote" has out '^2 from localhost in 1$'
check "also its messages" has out '^request 2$'
program_cxx cpp_arrays "$points/arrays.cpp"
"$tmp/cpp_arrays" "$tmp/arrays.ptl" >"$tmp/out"
check "C++ records texts of different types" has out '^labelroompart$'
"$posixtrace" dump -e arrays --fields data "$tmp/arrays.ptl" >"$tmp/shown"
check "C++ records arrays, and texts that fill an array" test "$(cat "$tmp/shown")" = \
	'pair=[-1 2] point=[0.5 -2] sides=[1 0 1] full="full" alone="x"'
check "C++ records long texts without memory" has out '^40 40 1 40$'
check "C++ shortens texts to the room of an event" has out '^900 117 2 0$'
check "bytes behind the NUL of a text use no room in C++" has out '^1 1 3 40$'
check "C++ does not cut a path at a NUL" has out '^the path is refused: 1$'
check "C++ does not cut a name, a schema or a span at a NUL" test \
	"$(grep -c '^refused: cut has a NUL: Invalid argument$' "$tmp/out")" = 3
check "C++ says that a file is no log" has out '^refused: .*/cpp_arrays: this is not a trace log: '
check "C++ says why a text is not a schema" has out '^refused: cut: this is not a type: .*int x: Invalid'
check "C++ records events of a child" has out '^labelofchild$'
check "C++ reads the elements of an array" has out '^7 8 65535 7 0 no such field: other$'
check "also if some are missing" has out '^7 8 7 1 no such field: other$'

cat >"$tmp/ranges.cpp" <<-'END'
	#include <posixtrace.hpp>
	#include <algorithm>
	#include <ranges>
	static_assert(std::ranges::input_range<posixtrace::log>);
	int main(int, char **argv)
	{
		posixtrace::log log(argv[1]);
		auto accepted = log | std::views::filter([](const auto &e) { return e.name() == "request.received"; })
				    | std::views::transform([](const auto &e) { return e.template get<int>("id"); });
		int sum = 0;

		for (int id : accepted)
			sum += id;
		return std::ranges::count_if(log, [](const auto &e) { return e.name() == "request.received"; }) != 3 ||
		       std::ranges::distance(accepted) != 3 || sum != 3;
	}
END
# clang 14 does not compile the views of libstdc++ 12.
has_views() {
	$CXX -std=c++20 -x c++ -fsyntax-only - 2>/dev/null <<-'END'
		#include <ranges>
		#include <vector>
		auto positive(std::vector<int> &v);
		auto positive(std::vector<int> &v)
		{
			return v | std::views::filter([](int n) { return n > 0; });
		}
	END
}
if has_views; then
	check "a log is a range of C++20" $CXX -std=c++20 -Wall -Wextra -Wpedantic -Werror -I"$top/include" \
		-I"$bindings/cpp" -o "$tmp/ranges" "$tmp/ranges.cpp" -L"$libs" -lposixtrace
	check "its views and algorithms work" "$tmp/ranges" "$tmp/first.ptl"
fi
check "the header says that it needs exceptions" sh -c "! $CXX -std=c++17 -fno-exceptions -fsyntax-only \
	-I'$top/include' -I'$bindings/cpp' -x c++ '$bindings/cpp/posixtrace.hpp' 2>'$tmp/err'"
check "it names the header that needs none" has err 'trace_point_np.h. also works with -fno-exceptions'
check "a line of C++ needs neither exceptions nor types at run time" $CXX -std=c++17 -fno-exceptions \
	-fno-rtti -Wall -Wextra -Wpedantic -Werror -I"$top/include" -fsyntax-only -x c++ - <<-'END'
	#include <trace_point_np.h>
	void line(int fd);
	void line(int fd)
	{
		POSIX_TRACE_SCOPE_NP(scope, (s32, fd, fd));
		POSIX_TRACE_EVENT_NP(event, (s32, fd, fd), (str, text, "text"));
		POSIX_TRACE_LOG_NP("%d", fd);
	}
END

# --- The folders that make install prints

# folders NAME=VALUE...: the lines for this prefix
folders() { env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL "$@" make -s -C "$build" say-folders prefix="$tmp/p" >"$tmp/out"; }
for module in _posixtrace.so:PYTHONPATH:python3 posixtrace_node.so:NODE_PATH:nodejs; do
	test -f "$libs/${module%%:*}" || continue
	variable=${module#*:} folder=${module##*:}
	variable=${variable%:*}
	check "make install prints the folders" folders -u PYTHONPATH -u NODE_PATH
	check "$variable has the folder of the prefix" has out "$variable=$tmp/p/lib.*/$folder"
	value=$(sed -n "s/.*$variable=//p" "$tmp/out")
	check "make install knows what the user has set" folders "$variable=$value"
	check "it is not printed then: $variable" lacks out "$variable="
done

cat >"$tmp/posixtrace.pc" <<END
libdir=$libs
Name: posixtrace
Description: of this build
Version: 1
Libs: -L$libs -lposixtrace
Cflags: -I$top/include
END

# --- Python

if test -f "$libs/_posixtrace.so"; then
	python=$(sed -n 's/^PYTHON = //p' "$build/lib/Makefile")
	PYTHONPATH=$libs:$bindings/python
	PYTHONDONTWRITEBYTECODE=1
	export PYTHONPATH PYTHONDONTWRITEBYTECODE
	check "the program of Python runs" "$python" "$points/same.py" "$tmp/python.ptl"
	equal python
	"$python" "$bindings/python/first.py" "$tmp/first.ptl" >"$tmp/out"
	check "the first program of Python reads what it wrote" has out \
		"^net.accept {'fd': 5, 'peer': 'localhost'}\$"
	check "the work queue has at most 30 lines" test \
		"$(wc -l <"$bindings/python/workqueue.py")" -le 30
	timeout 60 "$python" "$bindings/python/workqueue.py" "$tmp/queue.ptl" >"$tmp/out"
	check "the work queue runs" test $? = 0
	check "its watcher prints" has out '^slept '
	check "its analyzer counts" has out '^Counter('
	check "the rest of the module" "$python" "$points/module.py" "$tmp/module.ptl"
	check "spans of coroutines overlap" "$python" "$points/overlap.py" "$tmp/overlap.ptl"
	overlaps Python
	if "$python" -c 'import setuptools' 2>/dev/null && command -v pkg-config >/dev/null; then
		mkdir "$tmp/bindings"
		cp -R "$bindings/python" "$tmp/bindings"
		chmod -R u+w "$tmp/bindings"
		setup() {
			(cd "$tmp" && PKG_CONFIG_PATH=$tmp PYTHONPATH= \
				"$python" bindings/python/setup.py -q build_ext --inplace)
		}
		check "setup.py builds the module" setup
		env -u LD_LIBRARY_PATH PYTHONPATH="$tmp/bindings/python" "$python" \
			"$bindings/python/first.py" "$tmp/first.ptl" >"$tmp/out"
		check "this module finds its library" has out \
			"^net.accept {'fd': 5, 'peer': 'localhost'}\$"
	fi
else
	echo "no module of Python: not tested"
fi

# --- the work queue of C

if test -x "$build/examples/workqueue"; then
	check "the work queue of C has at most 60 lines" test \
		"$(wc -l <"$top/examples/workqueue.c")" -le 60
	timeout 60 "$build/examples/workqueue" "$tmp/queue.ptl" >"$tmp/out"
	check "it runs" test $? = 0
	check "its watcher prints" has out ' slept job=39 size="big"'
	check "also the begin, by its meaning" has out ' posix_trace_start filter=none$'
	check "its analyzer counts" has out '^jobs: [0-9]'
fi

# --- Rust

if command -v cargo >/dev/null && cargo --version >/dev/null 2>&1; then
	cp -R "$bindings/rust" "$tmp/crate"
	chmod -R u+w "$tmp/crate"
	cp "$points/same.rs" "$points/lines.rs" "$points/overlap.rs" "$tmp/crate/examples"
	cat >"$tmp/crate/examples/refused.rs" <<-'END'
		fn main() {
		    for path in std::env::args().skip(1) {
		        let error = posixtrace::Log::open(&path).unwrap_err();
		        println!("{error} {:?}", error.kind());
		    }
		}
	END
	rust() {
		(cd "$tmp/crate" && CARGO_HOME=$tmp/cargo CARGO_TARGET_DIR=$tmp/target \
			POSIXTRACE_LIB_DIR=$libs RUSTFLAGS='-D warnings' \
			cargo build --offline --quiet --examples)
	}
	check "the crate is built" rust
	# A newer toolchain may hide the one of the distribution.
	for compiler in rustc /usr/bin/rustc; do
		command -v "$compiler" >/dev/null || continue
		check "the crate compiles with $compiler" "$compiler" --edition 2021 -D warnings \
			--crate-name posixtrace --crate-type lib --emit metadata -o "$tmp/crate.rmeta" \
			"$tmp/crate/src/lib.rs"
	done
	# threads TRAIT TYPE: whether the type has the trait Send or Sync
	threads() {
		printf 'fn is<T: %s>() {}\nfn main() { is::<posixtrace::%s>() }\n' "$1" "$2" >"$tmp/is.rs"
		rustc --edition 2021 --extern posixtrace="$tmp/libposixtrace.rmeta" --emit metadata \
			-o "$tmp/is.rmeta" "$tmp/is.rs" 2>"$tmp/err"
	}
	rustc --edition 2021 --crate-name posixtrace --crate-type lib --emit metadata \
		-o "$tmp/libposixtrace.rmeta" "$tmp/crate/src/lib.rs"
	for is in 'Send Stream' 'Sync Stream' 'Send Log' 'Send AsyncSpanEnd'; do
		check "Rust: $is" threads ${is% *} ${is#* }
	done
	threads Send SpanEnd
	check "a span of Rust stays in its thread" has err 'cannot be sent between threads'
	check "the program of Rust runs" "$tmp/target/debug/examples/same" "$tmp/rust.ptl"
	equal rust
	check "lines of Rust run" "$tmp/target/debug/examples/lines" "$tmp/lines.ptl"
	shown "$tmp/lines.ptl" | sed 's/"aaaaa*"/"a..."/' >"$tmp/out"
	check "each has the fields of its types" diff - "$tmp/out" <<-END
		generic	value=1
		generic.2	value="text"
		generic	value=2
		same	a=1
		same.2	b="x"
		same	a=2
		temporary	text="2 parts" n=2
		words	type=1 fn=2
		whole.begin	loop=3
		two	"the line has invalid words: a level is not 1 to 5"
		long	a="a..." b="" raw="" behind=7
		bytes	raw="a..." text="" behind=8
		nul	a="a" b="b" took=18446744073.709551615s
		whole.end	-
	END
	printf PXTR >"$tmp/short"
	(cd "$tmp" && target/debug/examples/refused no/file short crate/src/lib.rs) >"$tmp/out"
	check "Rust says which file is no log, and why" diff - "$tmp/out" <<-END
		no/file: No such file or directory (os error 2) NotFound
		short: this file is too short to be a trace log InvalidInput
		crate/src/lib.rs: this is not a trace log InvalidInput
	END
	check "spans of futures overlap" "$tmp/target/debug/examples/overlap" "$tmp/overlap.ptl"
	overlaps Rust
	"$tmp/target/debug/examples/first" "$tmp/first.ptl" >"$tmp/out"
	check "the first program of Rust reads what it wrote" has out \
		'^net.accept \[("fd", Signed(5)), ("peer", Text("localhost"))\]$'
else
	echo "no cargo: Rust is not tested"
fi

# --- the crate tracing. Distributions have the sources of crates in this folder.

crates=/usr/share/cargo/registry
tracing() {
	mkdir "$tmp/crate/tracing/.cargo"
	printf '[source.crates-io]\nreplace-with = "here"\n[source.here]\ndirectory = "%s"\n' "$crates" \
		>"$tmp/crate/tracing/.cargo/config.toml"
	cp "$points/tracing.rs" "$tmp/crate/tracing/examples/all.rs"
	printf 'tracing-subscriber = { version = "0.3.16", default-features = false, %s }\n' \
		'features = ["registry", "std"]' >>"$tmp/crate/tracing/Cargo.toml"
	(cd "$tmp/crate/tracing" && CARGO_HOME=$tmp/cargo CARGO_TARGET_DIR=$tmp/target \
		POSIXTRACE_LIB_DIR=$libs RUSTFLAGS='-D warnings' \
		cargo build --offline --quiet --features layer --examples)
}
# Prints the events of the main thread without time, ids and address.
plain_lines() {
	"$posixtrace" dump "$1" | sed 's/^[^ ]* [^ ]* *[-0-9]* *[-0-9]* 0x[0-9a-f]* //'
}
if [ -d "$tmp/crate" ] && ls -d "$crates"/tracing-0.1.* "$crates"/tracing-subscriber-0.3.* \
	>/dev/null 2>&1; then
	check "the crate for tracing is built" tracing
	"$tmp/target/debug/examples/first_tracing" "$tmp/first.ptl" >"$tmp/out"
	check "its first program reads what it wrote" has out \
		'^request.begin \[("id", Unsigned(2)), ("path", Text("/index.html"))\]$'
	for as in subscriber layer; do
		check "the $as runs" "$tmp/target/debug/examples/all" $as "$tmp/$as.ptl"
		plain_lines "$tmp/$as.ptl" >"$tmp/out"
		check "$as: each type of field" has out \
			'^types:[0-9]* signed=-5 unsigned=7 real=2.5 is=true text="blank ;" '
		check "$as: the fields behind them" has out \
			' debug="\[1, 2\]" http_method="GET" type="x" http_method_2=3$'
		check "$as: the target names the type" has out '^a.b:[0-9]* message="1 of 2"$'
		check "$as: a value that is missing later" has out \
			'^optional:[0-9]* message="first without or with a value" number=0$'
		check "$as: a value that was recorded late" has out '^late value.begin known=1 late="now"$'
		check "$as: a value that was changed" has out '^late value.begin known=2 late="now"$'
		check "$as: a span that a panic unwinds" has out '^unwound.end$'
		check "$as: a target has a type" has out '^same\.line:[0-9]* message="0"$'
		check "$as: one that looks alike has a type of its own" has out \
			'^same.line~[0-9a-f]\{8\}:[0-9]* message="1"$'
		check "$as: a span with other characters has its fields" has out '^gr.*n="{x}"\.begin value=1$'
		check "$as: one with a NUL, too" has out \
			'^with_zero~[0-9a-f]\{8\}\.begin value=1$'
		for end in begin end; do
			check "$as: two long names of spans are cut and different: $end" test \
				"$(grep -E "^(long_){9}l~[0-9a-f]{8}\.$end" "$tmp/out" | sort -u | wc -l)" = 2
		done
		check "$as: a long target keeps its line" has out \
			'^\(long\.\)\{9\}[a-z.]*~[0-9a-f]\{8\}:[0-9]* first=0 a_name.*=1 a_name.*_2=2$'
		check "$as: no line has invalid words" lacks out 'invalid words'
		similar='^\(same\|look\|long\)'
		grep "$similar" "$tmp/out" | sort >"$tmp/forwards"
		"$tmp/target/debug/examples/all" $as "$tmp/$as.backwards.ptl" backwards
		plain_lines "$tmp/$as.backwards.ptl" | grep "$similar" | sort >"$tmp/backwards"
		check "$as: names do not depend on the order of the lines" cmp "$tmp/forwards" "$tmp/backwards"
		check "$as: each event of four threads" test "$(grep -c '^thread:' "$tmp/out")" = 160
		check "$as: each entry and each exit" test "$(grep -c '^late value' "$tmp/out")" = 324
		check "$as: nothing while it is stopped" test "$(grep -c '^types:' "$tmp/out")" = 1
		"$posixtrace" dump --json "$tmp/$as.ptl" >"$tmp/out"
		for level in 1:types 2:a.b 3:levels 4:levels 5:levels; do
			check "$as: level $level" has out "\"event\":\"${level#*:}:[0-9]*\".*\"level\":${level%:*}[,}]"
		done
		"$posixtrace" stat "$tmp/$as.ptl" >"$tmp/out" 2>&1
		check "$as: the account closes" has out '^account .* lost 0$'
		"$posixtrace" latency "$tmp/$as.ptl" >"$tmp/out" 2>&1
		check "$as: spans are paired" has out '^ *162 .*late.value'
		check "$as: spans that look alike are different" test \
			"$(grep -cE '^ *1 .*look_alike(~[0-9a-f]{8})?$' "$tmp/out")" = 3
	done
else
	echo "no crate tracing: its subscriber is not tested"
fi

# --- Go

if command -v go >/dev/null && command -v pkg-config >/dev/null; then
	cp -R "$bindings/go" "$tmp/go"
	chmod -R u+w "$tmp/go"
	for program in same values overlap; do
		mkdir "$tmp/go/$program"
		cp "$points/$program.go" "$tmp/go/$program/$program.go"
	done
	go_build() {
		(cd "$tmp/go" && PKG_CONFIG_PATH=$tmp GOCACHE=$tmp/gocache GOFLAGS=-mod=mod \
			GOPROXY=off GOTOOLCHAIN=local go build -o "$tmp/go_$1" "./$1")
	}
	check "the package is built" go_build first
	check "the program of Go is built" go_build same
	check "it runs" "$tmp/go_same" "$tmp/go.ptl"
	equal go
	check "a program with values of its own types is built" go_build values
	"$tmp/go_values" "$tmp/values.ptl" >"$tmp/said"
	check "it refuses wrong values" diff - "$tmp/said" <<-END
		<nil>
		posixtrace: the field path cannot be a int
		posixtrace: the event has 6 fields, not 2
		<nil>
		posixtrace: the field two has 2 bytes, not 1
		<nil>
		posixtrace: the field two has 2 bytes, not 1
		posixtrace: the field pair cannot be a <nil>
		posixtrace: the field b cannot be a string
		<nil>
		posixtrace: an Event must be made by NewEvent or MustEvent
		posixtrace: an Event must be made by NewEvent or MustEvent
		posixtrace: a Span must be made by MustSpan or MustAsyncSpan
		posixtrace: the field pair has 4 bytes, not 1
		posixtrace: the field two has 2 bytes, not 1
		posixtrace: the field pair cannot be a int
		posixtrace: the field port cannot be a <nil>
		posixtrace: the event has 6 fields, not 1
		posixtrace: the event type typed has another schema
		posixtrace: the schema of large cannot be recorded: the fields need more bytes than there is room for: u8[1021] a;bytes b
		<nil>
		posixtrace: the schema of wrong cannot be recorded: this is not a type: s32 a;int b
		posixtrace: the name "cut\x00off" or its schema has a NUL
		posixtrace: the name "cut" or its schema has a NUL
		posixtrace shutdown: invalid argument
		posixtrace $tmp/go_values: this is not a trace log: invalid argument true
		2 true true
		posixtrace next: invalid argument
		<nil> posixtrace rewind: invalid argument
	END
	shown "$tmp/values.ptl" >"$tmp/out"
	check "it records the others" diff - "$tmp/out" <<-END
		typed	port=80 path="/x" raw=0102 took=3ms error=ENOENT is=true
		array	pair=[1 2] text="text" two=0708 behind="behind"
		real	a=1 b=2
	END
	check "a program with async spans is built" go_build overlap
	check "it runs" "$tmp/go_overlap" "$tmp/overlap.ptl"
	overlaps Go
	"$tmp/go_first" "$tmp/first.ptl" >"$tmp/out"
	check "the first program of Go reads what it wrote" has out \
		'^net.accept \[{fd 5} {peer localhost}\]$'
else
	echo "no go: not tested"
fi

# --- Node.js

if test -f "$libs/posixtrace_node.so"; then
	mkdir "$tmp/node_modules"
	ln -s "$bindings/node" "$tmp/node_modules/posixtrace"
	cp "$points/same.js" "$bindings/node/first.js" "$tmp"
	POSIXTRACE_NODE=$libs/posixtrace_node.so
	export POSIXTRACE_NODE
	check "the program of Node.js runs" node "$tmp/same.js" "$tmp/node.ptl"
	equal node
	cp "$points/lines.js" "$points/overlap.js" "$tmp"
	check "spans of promises overlap" node "$tmp/overlap.js" "$tmp/overlap.ptl"
	overlaps Node.js
	node --expose-gc "$tmp/lines.js" "$tmp/lines.ptl" >"$tmp/out"
	check "a path of another type is refused" test \
		"$(grep -c '^TypeError: the path of a log is a string without a NUL$' "$tmp/out")" = 8
	check "a name that is no string or has a NUL is refused" test \
		"$(grep -c '^TypeError: the name or the schema is not a string without a NUL' "$tmp/out")" = 4
	grep '^early' "$tmp/out" >"$tmp/early"
	check "the first event is checked in a process that is not traced" diff - "$tmp/early" <<-END
		early: TypeError: the field i cannot have this value
		early: TypeError: the event has 2 fields, not 1
		early: no error
		early: no error
	END
	check "a wrong value names its field" has out '^TypeError: the field i cannot have this value undefined$'
	check "a character of two bytes is refused, and two characters" test \
		"$(grep -c '^TypeError: the field c cannot have this value' "$tmp/out")" = 2
	check "a number is no string" has out '^TypeError: the field s cannot have this value'
	check "an error of the system has its name" has out 'No such file or directory ENOENT$'
	check "a file that is no log is named" has out '^Error: .*lines.js: this is not a trace log EINVAL$'
	check "another schema is refused" has out '^TypeError: the event type turn has another schema '
	check "fields without room are refused" has out \
		'^TypeError: the schema of event type large cannot be recorded: the fields need more bytes '
	check "fields that fill an event are not" lacks out 'event type full'
	check "a stream without a reference records until the end" test \
		"$(shown "$tmp/lines.ptl" | grep ^turn | tr '\n\t' '  ')" = 'turn i=3 turn i=2 turn i=1 '
	check "fields behind a long string of Node.js are complete" test \
		"$(shown "$tmp/lines.ptl" | grep -c '^long	a="aaaaa*" b="" behind=7$')" = 1
	check "a long string for str[N] uses N bytes" test \
		"$(shown "$tmp/lines.ptl" | grep -c '^fixed	a="a\{8\}" b="b\{900\}" c="cccc" d="d"$')" = 1
	check "str[N] behind a long string is complete" test \
		"$(shown "$tmp/lines.ptl" | grep -c '^behind	a="aaaaa*" b="bbbb"$')" = 1
	check "null is an empty string" test "$(shown "$tmp/lines.ptl" | grep ^letter | tr '\n\t' '  ')" = \
		"letter c='x' s=\"\" letter c='A' s=\"\" "
	cp "$points/module.mjs" "$tmp"
	check "import, worker threads and async loops work" node "$tmp/module.mjs" "$tmp/module.ptl"
	check "index.d.ts has each name of the module" node -e '
		const types = require("fs").readFileSync(process.argv[1], "utf8");
		const names = [...types.matchAll(/^export (?:function|class) (\w+)/gm)].map((m) => m[1]);
		require("assert").deepStrictEqual([...new Set(names)].sort(),
			Object.keys(require(process.argv[2])).sort());
	' "$bindings/node/index.d.ts" "$bindings/node"
	node "$tmp/first.js" "$tmp/first.ptl" >"$tmp/out"
	check "the first program of Node.js reads what it wrote" has out \
		"^net.accept { fd: 5, peer: 'localhost' }\$"
else
	echo "no module of Node.js: not tested"
fi

finish
