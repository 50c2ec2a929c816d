/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * events.c - trace points in one line with fields of every type: events LOG. C and C++.
 * test_points.sh compares what dump prints.
 *
 * Macros of the C library and of GNU dialects (errno, bool, unix, linux) must not change a line.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#ifndef __cplusplus
#include <stdbool.h>
#endif
#include <string.h>
#include <sys/types.h>
#include <trace_np.h>

/* A line must not be expanded before its words are selected. */
#define s32 wrong_type
#define net wrong_name

enum colour { RED, GREEN = 5 };
struct bits {
	unsigned a : 3;
	int b : 5;
	bool c : 1;
	unsigned long long wide : 40;
	long long far : 33;
};

static int evaluated;

static int once(int value)
{
	evaluated++;
	return value;
}

static void types(const struct bits *bits, enum colour colour, const char *name)
{
	static const unsigned regs[4] = { 1, 2, 3, 4 };
	static const double reals[2] = { 0.5, -1 };
	const void *null = 0;
	char text[8] = "hello";
	volatile int changing = -7;

	POSIX_TRACE_EVENT_NP(net.accept, (s32, fd, once(3)), (str, peer, name),
			     (errno, error, EAGAIN));
	POSIX_TRACE_EVENT_NP(nothing);
	POSIX_TRACE_EVENT_NP(unsigned.integers, (u8, a, 255), (u16, b, 65535), (u32, c, UINT_MAX),
			     (u64, d, ULLONG_MAX), (x8, e, 255), (x16, f, 65535),
			     (x32, g, UINT_MAX), (x64, h, ULLONG_MAX));
	POSIX_TRACE_EVENT_NP(signed.integers, (s8, a, -128), (s16, b, -32768), (s32, c, INT_MIN),
			     (s64, d, LLONG_MIN), (s32, e, changing), (s64, f, (ssize_t)-1));
	POSIX_TRACE_EVENT_NP(kinds, (bool, yes, true), (bool, no, 0), (char, c, 'x'),
			     (ns, took, 1234ul), (time, at, 0), (errno, error, ENOENT),
			     (f32, unix, 0.5f), (f64, linux, 1), (f64, d, -2.5));
	POSIX_TRACE_EVENT_NP(others, (o8, a, 8), (o16, b, 8), (o32, mode, 0644), (o64, d, 8),
			     (fd, fd, -1), (signal, sig, 9), (wait, status, 0));
	POSIX_TRACE_EVENT_NP(bit.fields, (u8, a, bits->a), (s8, b, bits->b), (bool, c, bits->c),
			     (u64, wide, bits->wide), (s64, far, bits->far),
			     (u8, colour, colour, "0=red,5=green"), (u8, mode, 3, "|1=r,2=w"));
	POSIX_TRACE_EVENT_NP(memory, (bytes, raw, text, 3), (bytes, none, null, 9),
			     (array, u32, 4, regs, regs), (array, f64, 2, reals, reals),
			     (array, str, 8, text, text), (array, bytes, 2, two, text),
			     (str, literal, "li\"teral"), (str, array, text), (ptr, p, null));
	POSIX_TRACE_EVENT_NP(nulls, (str, s, NULL), (ptr, p, NULL), (bytes, b, NULL, 0));
	POSIX_TRACE_EVENT_NP(sixteen, (u8, a, 1), (u8, b, 2), (u8, c, 3), (u8, d, 4), (u8, e, 5),
			     (u8, f, 6), (u8, g, 7), (u8, h, 8), (u8, i, 9), (u8, j, 10),
			     (u8, k, 11), (u8, l, 12), (u8, m, 13), (u8, n, 14), (u8, o, 15),
			     (u8, p, 16), (level, 5));
	POSIX_TRACE_EVENT_NP(queue, (u32, length, 3), (f64, load, 0.5), (str, of, "jobs"),
			     (counter, length, load));
	POSIX_TRACE_EVENT_NP(job.begin, (u64, id, 7), (begin, job), (key, id), (level, 3));
	POSIX_TRACE_EVENT_NP(job.end, (u64, id, 7), (s32, result, -1), (end, job), (key, id));
}

/* The same name with the same fields, with other fields, and without any. */
static void names(void)
{
	POSIX_TRACE_EVENT_NP(same, (s32, x, 1));
	POSIX_TRACE_EVENT_NP(same, (s32, x, 2));
	POSIX_TRACE_EVENT_NP(same, (u32, x, 3));
	POSIX_TRACE_EVENT_NP(same, (str, y, "4"));
	POSIX_TRACE_EVENT_NP(same);
	if (evaluated)
		POSIX_TRACE_EVENT_NP(branch.yes);
	else
		POSIX_TRACE_EVENT_NP(branch.no);
}

static int scopes(int way)
{
	POSIX_TRACE_SCOPE_NP(outer, (s32, way, way), (level, 3));

	for (int i = 0; i < 3; i++) {
		POSIX_TRACE_SCOPE_NP(turn, (s32, i, i));
		if (i == way)
			continue;
		if (way == 3)
			break;
		if (way == 4)
			return i;
		if (way == 5)
			goto out;
	}
out:
	return way;
}

/* One line with several scopes, also of one name. They end in the opposite order. */
#define TWO_SCOPES(first, second) \
	POSIX_TRACE_SCOPE_NP(first, (s32, x, 1)); POSIX_TRACE_SCOPE_NP(second)
static void line_of_scopes(void)
{
	TWO_SCOPES(double.one, double.two); { TWO_SCOPES(double.one, double.one); }
}

#ifdef __cplusplus
template <class T> static void in_template(T value)
{
	POSIX_TRACE_EVENT_NP(templated, (f64, value, value));
	POSIX_TRACE_SCOPE_NP(thrown);
	throw 1;
}
enum class strong : unsigned char { ONE = 1 };
/* A value with a comma needs parentheses. */
template <class A, class B> static unsigned pair()
{
	return sizeof(A) + sizeof(B);
}
#endif

/* Longer than an event can be: it is truncated, and the field behind it is complete. */
static void long_string(void)
{
	static char text[3000];

	memset(text, 'a', sizeof(text) - 1);
	POSIX_TRACE_EVENT_NP(cut, (str, text, text), (s32, after, 5));
	POSIX_TRACE_EVENT_NP(cut.bytes, (bytes, text, text, sizeof(text)), (s32, after, 6));
}

static void all(void)
{
	const struct bits bits = { 5, -3, 1, 1ull << 39, -(1ll << 32) };

	types(&bits, GREEN, "peer one");
	types(&bits, RED, 0);
	names();
	for (int way = 0; way < 6; way++)
		scopes(way);
	line_of_scopes();
	long_string();
#ifdef __cplusplus
	try {
		in_template(0.25f);
	} catch (int) {
	}
	POSIX_TRACE_EVENT_NP(strong, (u8, one, strong::ONE), (ptr, null, nullptr),
			     (u64, size, (pair<char, short>())));
#endif
}

int main(int argc, char **argv)
{
	trace_attr_t attr;
	trace_id_t trid;
	int log;

	all(); /* off: evaluates nothing */
	if (argc < 2 || evaluated)
		return 3;
	log = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
	posix_trace_attr_init(&attr);
	posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND);
	posix_trace_attr_setmaxdatasize(&attr, 2048);
	if (posix_trace_create_withlog(0, &attr, log, &trid) || posix_trace_start(trid))
		return 2;
	errno = 1234;
	all();
	if (errno != 1234 || evaluated != 2)
		return 4;
	return posix_trace_shutdown(trid);
}
