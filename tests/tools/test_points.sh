#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Trace points in one line, tests/points: every dialect of C and C++ compiles them without a warning
# and writes the same log; wrong lines do not compile; messages are those of printf(); programs run
# without the library; USDT probes.
. "${0%/*}/lib.sh"
LC_ALL=C
export LC_ALL

: "${CC:=cc}" "${CXX:=c++}"
points=${top_srcdir:-${0%/*}/../..}/tests/points
include=${top_srcdir:-${0%/*}/../..}/include
libs=$(cd "${top_builddir:-..}" && pwd)/lib/.libs
test -f "$libs/libposixtrace.so" || skip "no shared library"
! nm -D "$libs/libposixtrace.so" | grep -qE '__[at]san_' || skip "the library is sanitized"
# A program runs with the library of this build.
LD_LIBRARY_PATH=$libs
export LD_LIBRARY_PATH
warnings='-Wall -Wextra -Wpedantic -Werror'
strict='-Wconversion -Wsign-conversion -Wshadow -Wcast-qual -Wundef'

# knows COMPILER LANGUAGE STANDARD
knows() {
	echo 'extern int x;' | $1 -std="$3" -x "$2" -fsyntax-only - 2>/dev/null
}

# build COMPILER LANGUAGE FLAGS PROGRAM: shellcheck would quote the flags
build() {
	$1 -x "$2" $warnings $3 -I"$include" -o "$tmp/$4" "$points/${4%%-*}.c" \
		-L"$libs" -lposixtrace
}

# The events without system events, times, addresses and the values of pointers.
shown() {
	"$posixtrace" dump -x 'posix_trace_*' --fields event,data "$1"
}

# begin(PATH): the stream of a program whose log is PATH
cat >"$tmp/begin.h" <<-'END'
	#include <fcntl.h>
	#include <stdlib.h>
	#include <trace.h>
	static trace_id_t begin(const char *path)
	{
		trace_id_t trid;
		int log = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);

		if (posix_trace_create_withlog(0, NULL, log, &trid) || posix_trace_start(trid))
			exit(2);
		return trid;
	}
END

# --- events

standards='c11 gnu11 c17 gnu2x'
cxx_standards='c++11 c++14 gnu++17 c++20 c++23'
tried=0
# others COMPILER NAME...: the compiler, and those that it does not name
others() {
	first=$1
	shift
	printf '%s,' "$first"
	for compiler; do
		case " $first " in
		*" $compiler "*) ;;
		*) command -v "$compiler" >/dev/null && printf '%s,' "$compiler" ;;
		esac
	done
}
compilers=$(others "$CC" gcc clang)
try_events() {
	flags=$3
	if ! build "$1" "$2" "$flags" events; then
		check "events.c compiles with $1 $flags" false
		return
	fi
	tried=$((tried + 1))
	check "events.c runs with $1 $flags" "$tmp/events" "$tmp/events.ptl"
	shown "$tmp/events.ptl" >"$tmp/shown"
	if test "$2" = c; then
		check "the log of $1 $flags" diff "$points/events.expected" "$tmp/shown"
	else
		grep -vE '^(templated|thrown|strong)' "$tmp/shown" >"$tmp/both"
		grep -E '^(templated|thrown|strong)' "$tmp/shown" >"$tmp/cxx"
		check "the log of $1 $flags" diff "$points/events.expected" "$tmp/both"
		check "spans end by exceptions with $1 $flags" diff - "$tmp/cxx" <<-END
			templated	value=0.25
			thrown.begin	-
			thrown.end	-
			strong	one=1 null=0x0 size=3
		END
	fi
}
IFS_default=$IFS
IFS=,
for compiler in $compilers; do
	IFS=$IFS_default
	try_events "$compiler" c "-std=c11 -O0"
	for standard in $standards; do
		knows "$compiler" c "$standard" || continue
		try_events "$compiler" c "-std=$standard -O2 $strict"
	done
	IFS=,
done
compilers=$(others "$CXX" g++ clang++)
for compiler in $compilers; do
	IFS=$IFS_default
	for standard in $cxx_standards; do
		knows "$compiler" c++ "$standard" || continue
		try_events "$compiler" c++ "-std=$standard -O2"
	done
	IFS=,
done
IFS=$IFS_default
# The headers are in a folder that the compiler does not know as one of the system.
cat >"$tmp/strict.cpp" <<-'END'
	#include <posixtrace.hpp>
	#include <trace_user_np.h>
	enum class kind : unsigned char { data, end };
	struct thing { int number; std::string text; };
	POSIXTRACE_FIELDS(thing, number, text)
	void line(int fd, const char *name, long id, kind what);
	void line(int fd, const char *name, long id, kind what)
	{
		static const posixtrace::event<thing> made("made");
		const int list[] = { 1, 2, 3 };
		POSIX_TRACE_SCOPE_NP(request, (s64, id, id));
		POSIX_TRACE_EVENT_NP(net.accept, (s32, fd, fd), (str, peer, name), (level, 4),
			(bytes, raw, name, 2), (ptr, at, name), (u8, id, id), (f32, real, 0.5),
			(array, s32, 3, list, list), (u8, what, what, "0=data,1=end"), (bool, is, true),
			(begin, accept), (key, fd), (counter, fd, id));
		POSIX_TRACE_LOG_NP("took %d ms for %s", fd, name);
		posix_trace_fields_np(made.id(), POSIX_TRACE_U32_NP(id), POSIX_TRACE_STR_NP(name),
			POSIX_TRACE_F64_NP(1.5f), POSIX_TRACE_PTR_NP(name), POSIX_TRACE_BOOL_NP(fd),
			POSIX_TRACE_BYTES_NP(name, 2));
		posix_trace_point_np(made.id(), name, 2);
		made({ fd, name });
	}
END
for compiler in g++ clang++; do
	more=-Wuseless-cast
	command -v $compiler >/dev/null || continue
	test $compiler = g++ || more=
	for weak in '' -DPOSIX_TRACE_WEAK_NP; do
		check "a line of C++ has no warning with $compiler $weak" $compiler -std=c++20 $warnings \
			$strict $more -Wold-style-cast -Wzero-as-null-pointer-constant $weak -I"$include" \
			-I"$include/../lib/bindings/cpp" -fsyntax-only "$tmp/strict.cpp"
	done
done
check "a line of C has no declaration behind a statement" $CC -std=c11 $warnings $strict \
	-Wdeclaration-after-statement -I"$include" -fsyntax-only -x c - <<-'END'
	#include <trace_np.h>
	void line(int fd, const char *name);
	void line(int fd, const char *name)
	{
		POSIX_TRACE_SCOPE_NP(request, (s32, fd, fd), (counter, fd));
		POSIX_TRACE_EVENT_NP(net.accept, (s32, fd, fd), (str, peer, name), (level, 4),
			(begin, accept), (key, fd, peer), (counter, fd));
		POSIX_TRACE_LOG_NP("took %d ms for %s", fd, name);
		posix_trace_fields_np(64, POSIX_TRACE_S32_NP(fd));
	}
END
for compiler in gcc clang; do
	command -v $compiler >/dev/null || continue
	for form in '' -DPOSIX_TRACE_SDT_NP -DPOSIX_TRACE_WEAK_NP; do
		check "a float has no warning with $compiler $form" $compiler -std=c11 $warnings $strict \
			-Wdouble-promotion -Wfloat-conversion -Wvla $form -I"$include" -fsyntax-only -x c - <<-'END'
				#include <trace_np.h>
				void line(float x, double d);
				void line(float x, double d)
				{
					POSIX_TRACE_SCOPE_NP(drawing, (f32, x, x), (f64, y, x), (counter, x));
					POSIX_TRACE_EVENT_NP(drawn, (f32, x, x), (f64, y, x), (f64, d, d),
						(array, f32, 1, a, &x), (counter, x, d));
					posix_trace_fields_np(64, POSIX_TRACE_F32_NP(x), POSIX_TRACE_F64_NP(x));
				}
			END
	done
done

# Lines in a header that several files and a static library include, in a constructor and in a signal
# handler; also optimized across files. In C++ the line of the inline function exists once.
cat >"$tmp/shared.h" <<-'END'
	#include <trace_np.h>
	#ifdef __cplusplus
	#define INLINE inline
	extern "C" {
	#else
	#define INLINE static inline
	#endif
	INLINE int shared(int x)
	{
		POSIX_TRACE_EVENT_NP(shared, (s32, x, x));
		return x;
	}
	int in_library(int x);
	#ifdef __cplusplus
	}
	#endif
END
cat >"$tmp/library.c" <<-'END'
	#include "shared.h"
	int in_library(int x)
	{
		POSIX_TRACE_SCOPE_NP(library);
		return shared(x);
	}
END
cat >"$tmp/parts.c" <<-'END'
	#include <signal.h>
	#include "begin.h"
	#include "shared.h"
	static void handle(int signo)
	{
		POSIX_TRACE_EVENT_NP(handler, (signal, signo, signo));
	}
	__attribute__((constructor)) static void construct(void)
	{
		begin("parts.ptl");
		POSIX_TRACE_EVENT_NP(constructor);
	}
	__attribute__((destructor)) static void destruct(void)
	{
		POSIX_TRACE_EVENT_NP(destructor);
	}
	int main(void)
	{
		signal(SIGUSR1, handle);
		raise(SIGUSR1);
		return shared(1) + in_library(2) - 3;
	}
END
# parts COMPILER LANGUAGE FLAGS
parts() {
	for part in library parts; do
		$1 -x $2 $warnings $3 -I"$include" -I"$tmp" -c -o "$tmp/$part.o" "$tmp/$part.c" || return
	done
	rm -f "$tmp/library.a" "$tmp/parts.ptl"
	case $1 in clang*) ar=llvm-ar ;; *) ar=gcc-ar ;; esac
	command -v $ar >/dev/null || ar=ar
	$ar rcs "$tmp/library.a" "$tmp/library.o" &&
		$1 $3 -o "$tmp/parts" "$tmp/parts.o" "$tmp/library.a" -L"$libs" -lposixtrace &&
		(cd "$tmp" && ./parts)
}
for how in 'gcc c' 'g++ c++' 'clang c' 'clang++ c++'; do
	command -v ${how% *} >/dev/null || continue
	for flags in '-O0 -fno-common' '-O2 -flto'; do
		echo 'int main(void) { return 0; }' >"$tmp/empty.c"
		${how% *} -x ${how#* } $flags -o "$tmp/empty" "$tmp/empty.c" 2>/dev/null || continue
		check "lines in several files run, $how $flags" parts $how "$flags"
		shown "$tmp/parts.ptl" >"$tmp/shown"
		check "each is recorded, $how $flags" diff - "$tmp/shown" <<-END
			constructor	-
			handler	signo=SIGUSR1
			shared	x=1
			library.begin	-
			shared	x=2
			library.end	-
			destructor	-
		END
	done
done

# The end of a scope is recorded by a function of the header, which is no place in the program.
cat >"$tmp/places.c" <<-'END'
	#include <trace_np.h>
	#include "begin.h"
	int work(int i);
	int work(int i)
	{
		POSIX_TRACE_SCOPE_NP(work, (s32, i, i));
		POSIX_TRACE_LOG_NP("i is %d", i);
		if (i == 1)
			return 5;
		for (int k = 0; k < 2; k++) {
			POSIX_TRACE_SCOPE_NP(loop, (s32, k, k));
			if (k == i)
				continue;
		}
		return i;
	}
	int main(int argc, char **argv)
	{
		trace_id_t trid = begin(argv[argc - 1]);

		return work(1) + work(2) != 7 || posix_trace_shutdown(trid);
	}
END
if "$posixtrace" doctor | grep -q '^works  *libdw'; then
	for how in "$CC -O0 -x c" "$CC -O2 -x c" "$CXX -O0 -x c++" "$CXX -O2 -x c++"; do
		check "a program with scopes is built, $how" $how -I"$include" -I"$tmp" -o "$tmp/places" \
			"$tmp/places.c" -L"$libs" -lposixtrace
		check "it runs" "$tmp/places" "$tmp/places.ptl"
		"$posixtrace" dump -x 'posix_trace_*' --fields symbol "$tmp/places.ptl" |
			sed 's/[(+].*//' | sort | uniq -c >"$tmp/out"
		check "each event is in its function" test "$(tr -s ' ' <"$tmp/out")" = ' 10 work'
	done
fi

# Many programs have a header trace.h of their own.
mkdir "$tmp/own"
printf '#ifndef _TRACE_H\n#define _TRACE_H\nvoid trace(const char *);\n#endif\n' >"$tmp/own/trace.h"
for order in 'trace.h trace_point_np.h' 'trace_np.h trace.h'; do
	for header in $order; do
		echo "#include <$header>"
	done >"$tmp/own.c"
	echo 'void line(void); void line(void) { trace("x"); POSIX_TRACE_EVENT_NP(line); }' >>"$tmp/own.c"
	check "a program may have a trace.h of its own: $order" $CC -std=c11 $warnings \
		-I"$tmp/own" -I"$include" -fsyntax-only "$tmp/own.c"
done
check "at least a compiler of each language was tried" test "$tried" -ge 6
run 0 latency "$tmp/events.ptl"
check "a scope is a span" has out outer
run 0 stat "$tmp/events.ptl"
check "the fields of a word counter are counters" has out \
	' 2  *3  *3.000  *3  *3  queue length$'
check "the second one has its fields" has out ' queue load$'

# --- nullptr of C23

nulls='extern int x; void *p = nullptr;'
for compiler in "$CC" gcc gcc-13 gcc-14 gcc-15 gcc-16 clang clang-16 clang-17 clang-18 clang-19; do
	echo "$nulls" | $compiler -std=c2x -x c -fsyntax-only - 2>/dev/null || continue
	check "nullptr is a null pointer with $compiler" $compiler -std=c2x $warnings $strict \
		-I"$include" -I"$tmp" -x c -o "$tmp/nulls" - -L"$libs" -lposixtrace <<-'END'
		#include <trace_point_np.h>
		#include "begin.h"
		int main(int argc, char **argv)
		{
			trace_id_t trid = begin(argv[argc - 1]);

			POSIX_TRACE_EVENT_NP(nulls, (str, s, nullptr), (ptr, p, nullptr),
					     (bytes, b, nullptr, 0));
			return posix_trace_shutdown(trid);
		}
	END
	check "it runs" "$tmp/nulls" "$tmp/nulls.ptl"
	check "its values" test "$(shown "$tmp/nulls.ptl")" = 'nulls	s="" p=0x0 b=""'
done

# --- names that are macros

check "words that are macros are names" $CC -std=gnu11 $warnings -I"$include" -I"$tmp" -x c -o "$tmp/names" - \
	-L"$libs" -lposixtrace <<-'END'
	#include <errno.h>
	#include <trace_point_np.h>
	#include "begin.h"
	#define small 1
	#define part replaced
	int main(int argc, char **argv)
	{
		trace_id_t trid = begin(argv[1]);

		POSIX_TRACE_EVENT_NP(errno, (s32, linux, argc), (u32, small, 4u));
		POSIX_TRACE_EVENT_NP(small.part, (errno, errno, 0));
		POSIX_TRACE_EVENT_NP(keys, (u8, a, 1), (u8, errno, 2), (u8, linux, 3), (u8, small, 4),
				     (begin, small), (key, a, errno, linux, small),
				     (counter, a, errno, linux, small), (level, small));
		return posix_trace_shutdown(trid);
	}
END
check "a program with them runs" "$tmp/names" "$tmp/names.ptl"
shown "$tmp/names.ptl" >"$tmp/shown"
check "only a macro behind a dot is replaced" diff - "$tmp/shown" <<-END
	errno	linux=2 small=4
	small.replaced	errno=0
	keys	a=1 errno=2 linux=3 small=4
END
# The compiler cannot find these mistakes, so the event has the reason as its message.
check "words that only the library refuses compile" $CC $warnings -I"$include" -I"$tmp" -x c -o "$tmp/faults" - \
	-L"$libs" -lposixtrace <<-'END'
	#include <trace_point_np.h>
	#include "begin.h"
	int main(int argc, char **argv)
	{
		trace_id_t trid = begin(argv[1]);

		POSIX_TRACE_EVENT_NP(blank, (s32, x, argc, "0=not found"));
		POSIX_TRACE_EVENT_NP(digit, (s32, 3d, argc));
		POSIX_TRACE_EVENT_NP(right, (s32, x, argc), (level, 3));
		static struct posix_trace_site_np quote = {
			.name = "quote", .schema = "@format x", .size = sizeof(quote)
		};
		posix_trace_event(posix_trace_site_open_np(&quote), NULL, 0);
		return posix_trace_shutdown(trid);
	}
END
check "a program with them runs" "$tmp/faults" "$tmp/faults.ptl"
shown "$tmp/faults.ptl" | sed '/^quote/!s/invalid words: .*/invalid words: .../' >"$tmp/shown"
check "their messages are reasons" diff - "$tmp/shown" <<-END
	blank	"the line has invalid words: ...
	digit	"the line has invalid words: ...
	right	x=2
	quote	"the line has invalid words: a format has no '\"' before it"
END

# --- refused

# A standard that is too old for trace points in one line: each line has one error with the reason.
cat >"$tmp/old.c" <<'END'
#include <trace_np.h>
void old(int x);
void old(int x)
{
	POSIX_TRACE_EVENT_NP(net.accept, (s32, fd, x));
	POSIX_TRACE_SCOPE_NP(request, (s32, fd, x));
	POSIX_TRACE_LOG_NP("%d", x);
	POSIX_TRACE_LOG_LEVEL_NP(3, "%d", x);
}
END
for compiler in "$CC -std=c99" "$CXX -std=c++98 -x c++"; do
	if $compiler $warnings -Wno-unused-parameter -I"$include" -fsyntax-only "$tmp/old.c" 2>"$tmp/said"; then
		got=0
	else
		got=1
	fi
	check "$compiler refuses lines that need a later standard" test $got = 1
	check "$compiler: each line has the reason, and no other error" test \
		"$(grep -c 'error:' "$tmp/said") $(grep -c 'error: .*needs -std=c11' "$tmp/said")" = '4 4'
done

# A program with a fallback for such a standard.
cat >"$tmp/fallback.c" <<'END'
#include <trace_np.h>
#ifdef POSIX_TRACE_LINES_NP
#define MY_TRACE(...) POSIX_TRACE_EVENT_NP(__VA_ARGS__)
#else
#define MY_TRACE(...) ((void)0)
#endif
int main(void)
{
	MY_TRACE(fallback, (s32, x, 1));
	return 0;
}
END
for compiler in "$CC -std=c99" "$CC -std=gnu99" "$CC -std=c11" "$CXX -std=c++11 -x c++"; do
	check "$compiler compiles a program with a fallback" \
		$compiler $warnings -I"$include" -c -o "$tmp/fallback.o" "$tmp/fallback.c"
	case $compiler in
	*99) check "it has no line there" test "$(nm "$tmp/fallback.o" | grep -c posix_trace)" = 0 ;;
	*) check "it has the line there" test "$(nm "$tmp/fallback.o" | grep -c posix_trace)" != 0 ;;
	esac
done

for compiler in "$CC" "$CXX"; do
	language=c
	standard=c11
	test "$compiler" = "$CC" || language=c++
	test "$compiler" = "$CC" || standard=c++11
	wrong=0
	while test $wrong -le 41; do
		$compiler -x $language -std=$standard -Wall -Wextra -Wpedantic -Werror \
			-I"$include" -DWRONG=$wrong -fsyntax-only "$points/wrong.c" \
			>"$tmp/said" 2>&1
		got=$?
		if test $wrong = 0; then
			check "$compiler accepts line 0 of wrong.c" test $got = 0
		else
			check "$compiler refuses line $wrong of wrong.c" test $got != 0
		fi
		case $wrong in
		1) check "$compiler: field, type and reason are named" grep -q \
			'field x: the type s32 needs an integer' "$tmp/said" ;;
		2) check "$compiler: a string is needed" grep -q \
			'field x: the type str needs a string' "$tmp/said" ;;
		8 | 23) check "$compiler: the level is named" grep -q \
			'a level is a digit, 1 to 5' "$tmp/said" ;;
		24) check "$compiler: the number of elements is named" grep -q \
			'field x: the number of elements is a decimal number' "$tmp/said" ;;
		25) check "$compiler: two levels" grep -q 'has two levels' "$tmp/said" ;;
		26) check "$compiler: two spans" grep -q 'begins or ends two spans' "$tmp/said" ;;
		27 | 28) check "$compiler: a key" grep -q 'two keys, or a key but no' "$tmp/said" ;;
		29) check "$compiler: a scope" grep -q 'a scope has no begin' "$tmp/said" ;;
		30) check "$compiler: too many words" grep -q 'more_than_32' "$tmp/said" ;;
		31) check "$compiler: quotes" grep -q 'no_quotes_' "$tmp/said" ;;
		32) check "$compiler: no name" grep -q 'an event has a name' "$tmp/said" ;;
		esac
		# The word is wrong, so the compiler prints several errors. The first must name it.
		grep -m 1 'error:' "$tmp/said" >"$tmp/first"
		case $wrong in
		33) check "$compiler: a type of C is no type of a field" grep -q \
			'(int, x, number): a word begins with a type such as' "$tmp/first" ;;
		34) check "$compiler: a pointer is no type of a field" grep -q \
			'(char \*, x, text): a word begins with a type such as' "$tmp/first" ;;
		35) check "$compiler: a field without a value" grep -q \
			'(s32, number): an item is missing' "$tmp/said" ;;
		36 | 37) check "$compiler: words have parentheses (line $wrong)" grep -q \
			'parentheses_around_each_word' "$tmp/first" ;;
		38) check "$compiler: a format that is no literal" grep -q \
			'the format of a message is a string literal' "$tmp/first" ;;
		39) check "$compiler: an integer of 16 bytes" grep -q \
			'field x: the type s64 needs an integer' "$tmp/first" ;;
		40 | 41) check "$compiler: a jump into a scope (line $wrong)" grep -q \
			'jump' "$tmp/first" ;;
		esac
		wrong=$((wrong + 1))
	done
done

# --- messages

check "messages.c compiles" $CC -std=gnu11 -O2 -Wall -Wextra -Werror -I"$include" \
	-o "$tmp/messages" "$points/messages.c" -L"$libs" -lposixtrace
"$tmp/messages" "$tmp/messages.ptl" >"$tmp/printed"
check "it runs" test $? = 0
check "it printed" test "$(wc -l <"$tmp/printed")" -gt 20
if command -v python3 >/dev/null; then
	"$posixtrace" dump -e 'log.*' --json "$tmp/messages.ptl" |
		python3 -c 'import json, sys
for line in sys.stdin:
	sys.stdout.buffer.write(json.loads(line)["message"].encode("utf-8", "surrogateescape") + b"\n")' \
		>"$tmp/read"
	# A byte that is no UTF-8 cannot be in JSON; the text of the test has none.
	check "messages are those of printf()" diff "$tmp/printed" "$tmp/read"
else
	echo "no python3: messages are not compared"
fi
run 0 dump -e 'log.*' "$tmp/messages.ptl"
check "dump shows the text" has out '"took 3 ms for the name"'
check "a text without arguments has no data" has out '"plain"'
check "escapes protect the terminal" has out '\\x01 and \\x7f'
run 0 dump -e 'log.messages.c:*' --where 'a1 == 5' --fields event,a1,a2 "$tmp/messages.ptl"
check "arguments are fields" has out '5	"five"'
run 0 stat "$tmp/messages.ptl"
check "a line is an event type" has out 'log.messages.c:'
if "$posixtrace" query "$tmp/messages.ptl" 'select 1' >/dev/null 2>&1; then
	run 0 query "$tmp/messages.ptl" "select message from events where message like 'took%'"
	check "query has messages" has out 'took 3 ms for the name'
fi

# --- without the library

for flags in '-fPIE -pie' '-fno-pie -no-pie'; do
	for language in c c++; do
		compiler=$CC
		test $language = c || compiler=$CXX
		$compiler -x $language $warnings -O2 $flags -I"$include" -o "$tmp/weak" \
			"$points/weak.c" || {
			check "weak.c links without the library, $language $flags" false
			continue
		}
		check "weak.c does not need the library, $language $flags" \
			sh -c "! readelf -d '$tmp/weak' | grep posixtrace"
		check "it runs where the library is absent, $language $flags" test \
			"$(LD_LIBRARY_PATH= "$tmp/weak")" = absent
		check "it finds a preloaded library, $language $flags" test \
			"$(LD_PRELOAD=$libs/libposixtrace.so "$tmp/weak" "$tmp/weak.ptl")" = present
		shown "$tmp/weak.ptl" >"$tmp/shown"
		check "its lines record, $language $flags" diff - "$tmp/shown" <<-END
			work.begin	i=1
			step	i=1 text="step"
			$(grep -o '^log.*1"$' "$tmp/shown")
			work.end	-
			work.begin	i=2
			step	i=2 text="step"
			$(grep -o '^log.*2"$' "$tmp/shown")
			work.end	-
		END
		check "messages are recorded, $language $flags" grep -q 'i is 2' "$tmp/shown"
	done
done
# The example of the page, without the header and the library, and with both.
awk '/^\.\\" program: optional.c/ { on = 1; next } on && /^\.Ed/ { exit } on && !/^\.Bd/' \
	"${top_srcdir:-${0%/*}/../..}/lib/man/trace_point_np.3" >"$tmp/optional.c"
check "a program is built without the header" $CC -std=c11 -Wall -Wextra -Wpedantic -Werror \
	-o "$tmp/optional" "$tmp/optional.c"
check "the program without the header runs" env LD_LIBRARY_PATH= "$tmp/optional"
check "it is built with the header" $CC -std=c11 $warnings $strict -I"$include" \
	-o "$tmp/optional" "$tmp/optional.c"
check "the program with the header runs without the library" env LD_LIBRARY_PATH= "$tmp/optional"
if has_shim; then
	POSIXTRACE_PRELOAD=$shim run 0 record -e 'work.*' -e 'log.*' -o "$tmp/optional.ptl" "$tmp/optional"
	check "record finds its lines" test "$(shown "$tmp/optional.ptl" | grep -cE '^(work|log)')" -eq 3
	POSIXTRACE_PRELOAD=$shim run 0 record --trace none -o "$tmp/none.ptl" "$tmp/optional"
	check "also with --trace none" test "$(shown "$tmp/none.ptl" | grep -cE '^(work|log)')" -eq 3
	check "--trace none records no calls" test "$(shown "$tmp/none.ptl" | grep -cE '^(io|process)\.')" -eq 0
	POSIXTRACE_PRELOAD=$shim run 0 record --trace none --force -o "$tmp/none.ptl" \
		sh -c 'echo "preload is $LD_PRELOAD"'
	check "--trace none preloads nothing into others" has out '^preload is $'
	check "the example is linked with the library" $CC -std=c11 -I"$include" -o "$tmp/linked" \
		"$tmp/optional.c" -Wl,--no-as-needed -L"$libs" -lposixtrace
	POSIXTRACE_PRELOAD=$shim run 0 record --trace none --force -o "$tmp/none.ptl" "$tmp/linked"
	check "it records" test "$(shown "$tmp/none.ptl" | grep -cE '^(work|log)')" -eq 3
	"$posixtrace" symbols "$tmp/none.ptl" >"$tmp/out"
	check "no library is preloaded" lacks out preload
	if $CC -std=c11 -I"$include" -static -o "$tmp/static" "$tmp/optional.c" 2>/dev/null; then
		for families in default none; do
			POSIXTRACE_PRELOAD=$shim run 0 record --trace $families --force -o "$tmp/none.ptl" \
				"$tmp/static"
			check "a static program records no lines, and record says so: $families" \
				has err 'static: its lines with POSIX_TRACE_WEAK_NP record nothing, .* statically linked'
		done
		POSIXTRACE_PRELOAD=$shim run 0 record -q --force -o "$tmp/none.ptl" "$tmp/static"
		check "not with -q" lacks err POSIX_TRACE_WEAK_NP
	fi
fi
check "weak.c is linked with the library" $CC -O2 -I"$include" -o "$tmp/weak" "$points/weak.c" \
	-Wl,--no-as-needed -L"$libs" -lposixtrace
check "weak.c finds the library" test "$("$tmp/weak" "$tmp/weak.ptl")" = present

# --- objects that are loaded and unloaded

# Two objects with lines of the same names: the fields of both are the same, but for those of
# "plugin.own".
cat >"$tmp/plugin.c" <<-'END'
	#include <trace_point_np.h>
	void plugin(int i);
	void plugin(int i)
	{
		POSIX_TRACE_SCOPE_NP(plugin.whole, (s32, i, i));
		POSIX_TRACE_EVENT_NP(plugin.call, (s32, i, i), (str, text, WHO));
		POSIX_TRACE_EVENT_NP(plugin.own, (OWN, WHO[0] == 'o' ? i : i + 1));
		POSIX_TRACE_LOG_NP("%s has %d", WHO, i);
	}
END
sed 's/(OWN, /(s32, one, /' "$tmp/plugin.c" >"$tmp/one.c"
sed 's/(OWN, /(u64, two, (unsigned long)/' "$tmp/plugin.c" >"$tmp/two.c"
cat >"$tmp/loader.c" <<-'END'
	#include <dlfcn.h>
	#include <string.h>
	#include "begin.h"
	static void *call(void *handle, int i)
	{
		void *found = dlsym(handle, "plugin");
		void (*plugin)(int);

		memcpy(&plugin, &found, sizeof(found));
		plugin(i);
		return handle;
	}
	int main(int argc, char **argv)
	{
		void *two = dlopen(argv[2], RTLD_NOW);
		trace_id_t trid = begin(argv[3]);

		(void)argc;
		for (int i = 0; i < 3; i++)
			dlclose(call(dlopen(argv[1], RTLD_NOW), i));
		call(two, 7);
		dlclose(call(dlopen(argv[1], RTLD_NOW), 3));
		dlclose(call(two, 8));
		return posix_trace_shutdown(trid);
	}
END
for object in one two; do
	check "an object with lines is built" $CC -shared -fPIC -O2 -DWHO="\"$object\"" -I"$include" \
		-o "$tmp/$object.so" "$tmp/$object.c" -L"$libs" -lposixtrace
done
check "their loader is built" $CC -I"$include" -o "$tmp/loader" "$tmp/loader.c" -L"$libs" -lposixtrace
check "one is loaded four times, and the other one stays" \
	"$tmp/loader" "$tmp/one.so" "$tmp/two.so" "$tmp/plugin.ptl"
shown "$tmp/plugin.ptl" | sed 's/^log[^\t]*/log/' >"$tmp/shown"
# calls WHO TYPE=FIELD I VALUE: the events of one call
calls() {
	printf '%s\n' "plugin.whole.begin	i=$3" "plugin.call	i=$3 text=\"$1\"" \
		"$2=$4" "log	\"$1 has $3\"" 'plugin.whole.end	-'
}
{
	for i in 0 1 2; do
		calls one 'plugin.own	one' $i $i
	done
	calls two 'plugin.own.2	two' 7 8
	calls one 'plugin.own	one' 3 3
	calls two 'plugin.own.2	two' 8 9
} >"$tmp/expected"
check "each time it records" diff "$tmp/expected" "$tmp/shown"

# g++ makes visible variables of inline functions and templates unique in the process. An object with
# such a variable cannot be unloaded.
cat >"$tmp/merged.cpp" <<-'END'
	#include <trace_point_np.h>
	inline int in_line(int i)
	{
		POSIX_TRACE_SCOPE_NP(scope, (s32, i, i));
		POSIX_TRACE_EVENT_NP(in_line, (s32, i, i));
		POSIX_TRACE_LOG_NP("i is %d", i);
		return i;
	}
	template <class T> int in_template(T i)
	{
		POSIX_TRACE_SCOPE_NP(scope, (s32, i, i));
		POSIX_TRACE_EVENT_NP(in_template, (s32, i, i));
		POSIX_TRACE_LOG_NP("i is %d", i);
		return i;
	}
	extern "C" int plugin(int i);
	int plugin(int i)
	{
		return in_line(i) + in_template(i);
	}
END
cat >"$tmp/unloads.c" <<-'END'
	#include <dlfcn.h>
	#include <string.h>
	#include "begin.h"
	int main(int argc, char **argv)
	{
		trace_id_t trid = begin(argv[2]);

		(void)argc;
		for (int i = 0; i < 2; i++) {
			void *object = dlopen(argv[1], RTLD_NOW);
			void *found = dlsym(object, "plugin");
			int (*plugin)(int);

			memcpy(&plugin, &found, sizeof(found));
			plugin(i);
			dlclose(object);
			if (dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD))
				return 3;
		}
		return posix_trace_shutdown(trid);
	}
END
check "a program that unloads objects is built" $CC -I"$include" -o "$tmp/unloads" "$tmp/unloads.c" \
	-L"$libs" -lposixtrace
IFS=,
for compiler in $(others "$CXX" g++ clang++); do
	IFS=$IFS_default
	for weak in '' -DPOSIX_TRACE_WEAK_NP; do
		check "an object with inline functions and templates is built, $compiler $weak" \
			$compiler -std=c++11 $warnings $weak -shared -fPIC -I"$include" \
			-o "$tmp/merged.so" "$tmp/merged.cpp" -L"$libs" -lposixtrace
		check "dlclose() unloads it, $compiler $weak" \
			"$tmp/unloads" "$tmp/merged.so" "$tmp/merged.ptl"
		check "its lines record, $compiler $weak" test \
			"$(shown "$tmp/merged.ptl" | grep -c '\<i[= ]')" -eq 12
	done
	IFS=,
done
IFS=$IFS_default

# --- USDT probes

for compiler in "$CC" "$CXX" clang clang++; do
	command -v ${compiler##* } >/dev/null || continue
	language=c
	case $compiler in "$CXX" | clang++) language=c++ ;; esac
	$compiler -x $language -O2 -Wall -Wextra -Wpedantic -Werror -DPOSIX_TRACE_SDT_NP \
		-std=$(test $language = c && echo c11 || echo c++11) \
		-I"$include" -o "$tmp/probes" -x $language - \
		-L"$libs" -lposixtrace <<-'END'
		#include <trace_point_np.h>
		int main(int argc, char **argv)
		{
			POSIX_TRACE_SCOPE_NP(whole, (s32, argc, argc));
			POSIX_TRACE_EVENT_NP(probe_four, (s32, fd, argc), (str, name, argv[0]),
					     (bytes, raw, argv[0], 2), (f64, real, 1.5));
			POSIX_TRACE_EVENT_NP(net.accept, (level, 3));
			return 0;
		}
	END
	check "a program with probes compiles as $language with $compiler" test $? = 0
	check "it runs" "$tmp/probes"
	readelf -n "$tmp/probes" >"$tmp/out"
	check "the provider is named" has out 'Provider: posixtrace'
	check "a scope is a probe, $language" has out 'Name: whole$'
	check "an event is a probe, $language" has out 'Name: probe_four$'
	check "a name with a dot is one, $language" has out 'Name: net.accept$'
	check "fields are its arguments, $language" test \
		"$(grep -A2 'Name: probe_four$' "$tmp/out" | grep Arguments | wc -w)" -eq 6
	# It needs root, or not even that, according to its version.
	if command -v bpftrace >/dev/null &&
		bpftrace -l "usdt:$tmp/probes:*" 2>/dev/null | sort >"$tmp/out" && test -s "$tmp/out"; then
		check "bpftrace lists the three, $language" test "$(sed 's/.*:posixtrace://' "$tmp/out" |
			tr '\n' ' ')" = 'net.accept probe_four whole '
	else
		echo "no bpftrace that lists probes here"
	fi
done

# Each type, and as many values as a probe has arguments. gdb and bpftrace read none of the arguments
# of a probe if one of them has a fraction, and gdb does not know some registers of 8 and 16 bits.
for how in "$CC -std=c11 -O0 -x c" "$CC -std=gnu11 -O3 -x c" "$CXX -std=c++11 -O0 -x c++" \
	"$CXX -O2 -x c++" 'clang -O0 -x c' 'clang -O2 -x c' 'clang++ -std=c++17 -O3 -x c++'; do
	command -v ${how%% *} >/dev/null || continue
	check "each type in a probe compiles, $how" $how $warnings -DPOSIX_TRACE_SDT_NP -I"$include" \
		-o "$tmp/values" "$points/probes.c" -L"$libs" -lposixtrace
	readelf -n "$tmp/values" | sed -n '/Arguments:/s/@\(\[[^]]*\]\|[^ ]*\)//gp' | tr -s ' ' | LC_ALL=C sort -u \
		>"$tmp/sizes"
	check "the arguments have these sizes, $how" diff - "$tmp/sizes" <<-'END'
		 Arguments: -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4
		 Arguments: -4 -4 -4 -8 -4 -4 4 8 -4
		 Arguments: 4 8 4 8 8
		 Arguments: 8 8 8 8 -4 8
	END
	if has_shim; then
		"$posixtrace" record --trace none --probe 'posixtrace:numbers(f32,f64,f32,f64,f64)' -q \
			-o "$tmp/numbers.ptl" -- "$tmp/values" 2>"$tmp/err"
		check "record --probe has numbers with a fraction, $how" test \
			"$("$posixtrace" dump -e 'posixtrace:*' --fields data "$tmp/numbers.ptl")" = \
			'arg1=1.25 arg2=-2.5 arg3=2 arg4=1.25 arg5=2.5'
	fi
	if gdb -q -batch -ex 'break main' -ex run -ex kill "$tmp/values" 2>&1 |
		grep -q '^Breakpoint 1, '; then
		gdb -q -batch -x "$points/probes.gdb" "$tmp/values" 2>&1 | sed -n 's/^>//p' >"$tmp/out"
		check "gdb prints the values, $how" diff - "$tmp/out" <<-'END'
			9: -1 -2 2 -4 250 65000 4000000000 9223372036854775808 232
			5: 3fa00000 c004000000000000 40000000 3ff4000000000000 4004000000000000
			6: text text 3 8 1 0
			0
			12: 2 12 24
		END
	else
		echo "no gdb that runs programs here"
	fi
	# It needs root and a kernel with BPF.
	if bpftrace -e 'BEGIN { exit(); }' >/dev/null 2>&1; then
		bpftrace -c "$tmp/values" -e "
			usdt:$tmp/values:posixtrace:integers {
				printf(\">%d %d %d %d %d %d\\n\", arg0, arg1, arg2, arg3, arg4, arg5); }
			usdt:$tmp/values:posixtrace:numbers { printf(\">%x %lx %lx\\n\", arg0, arg1, arg4); }
			usdt:$tmp/values:posixtrace:pointers { printf(\">%s %s\\n\", str(arg0), str(arg1)); }" \
			2>/dev/null | sed -n 's/^>//p' >"$tmp/out"
		check "bpftrace prints the values, $how" diff - "$tmp/out" <<-'END'
			-1 -2 2 -4 250 65000
			3fa00000 c004000000000000 4004000000000000
			text text
		END
	else
		echo "no bpftrace that runs here"
	fi
done

# A program has probes with semaphores of its own. Either header may be the first.
if echo '#include <sys/sdt.h>' | $CC -x c -E - >/dev/null 2>&1; then
	cat >"$tmp/semaphores.c" <<-'END'
		#ifdef FIRST
		#include <trace_point_np.h>
		#endif
		#define _SDT_HAS_SEMAPHORES 1
		#include <sys/sdt.h>
		#undef _SDT_HAS_SEMAPHORES
		#include <trace_point_np.h>
		unsigned short own_mine_semaphore __attribute__((section(".probes")));
		int main(int argc, char **argv)
		{
			(void)argv;
			if (own_mine_semaphore)
				DTRACE_PROBE1(own, mine, argc);
			POSIX_TRACE_EVENT_NP(net.accept, (s32, fd, argc));
			return 0;
		}
	END
	for how in "$CC -x c" "$CXX -x c++" 'clang -x c' "$CC -DFIRST -x c" "$CXX -DFIRST -x c++"; do
		command -v ${how%% *} >/dev/null || continue
		check "a program has semaphores of its own, $how" $how -O2 -DPOSIX_TRACE_SDT_NP \
			-I"$include" -o "$tmp/semaphores" "$tmp/semaphores.c" -L"$libs" -lposixtrace
		readelf -n "$tmp/semaphores" |
			sed -n 's/.*Name: //p; s/.*Semaphore: 0x0*$/none/p; t; s/.*Semaphore:.*/one/p' |
			tr '\n' ' ' >"$tmp/out"
		check "only its own probes have one, $how" test "$(cat "$tmp/out")" = \
			'mine one net.accept none '
	done
else
	echo "no <sys/sdt.h>: it is not tested beside the probes of trace points"
fi

# perf refuses names with a dot.
check "a program with names that perf knows is built" $CC -O2 -DPOSIX_TRACE_SDT_NP -I"$include" \
	-o "$tmp/probes" -x c - -L"$libs" -lposixtrace <<-'END'
	#include <trace_point_np.h>
	int main(int argc, char **argv)
	{
		POSIX_TRACE_EVENT_NP(accept, (s32, fd, argc), (str, name, argv[0]));
		POSIX_TRACE_EVENT_NP(step, (s32, fd, argc));
		return 0;
	}
END
if perf --buildid-dir "$tmp/perf" buildid-cache --add "$tmp/probes" 2>/dev/null &&
	test -d "$tmp/perf"; then
	perf --buildid-dir "$tmp/perf" list sdt >"$tmp/out" 2>&1 </dev/null
	check "perf lists the first one" has out 'sdt_posixtrace:accept '
	check "the second one has its fields" has out 'sdt_posixtrace:step '
else
	echo "no perf that reads probes here"
fi

finish
