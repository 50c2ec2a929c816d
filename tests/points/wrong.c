/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* wrong.c - a line of each kind that the compiler must refuse, selected by -DWRONG=N. */
#include <trace_point_np.h>

struct thing {
	int member;
};

void wrong(int number, const char *text, double real, struct thing *thing);

void wrong(int number, const char *text, double real, struct thing *thing)
{
	(void)number, (void)text, (void)real, (void)thing;
#if WRONG == 0
	POSIX_TRACE_EVENT_NP(right, (s32, x, number), (str, t, text), (f64, r, real));
#elif WRONG == 1
	POSIX_TRACE_EVENT_NP(event, (s32, x, text));
#elif WRONG == 2
	POSIX_TRACE_EVENT_NP(event, (str, x, number));
#elif WRONG == 3
	POSIX_TRACE_EVENT_NP(event, (u64, x, real));
#elif WRONG == 4
	POSIX_TRACE_EVENT_NP(event, (ptr, x, number));
#elif WRONG == 5
	POSIX_TRACE_EVENT_NP(event, (f64, x, text));
#elif WRONG == 6
	POSIX_TRACE_EVENT_NP(event, (bytes, x, number, 4));
#elif WRONG == 7
	POSIX_TRACE_EVENT_NP(event, (array, u64, 1, x, &number));
#elif WRONG == 8
	POSIX_TRACE_EVENT_NP(event, (s32, x, number), (level, 6));
#elif WRONG == 9
	POSIX_TRACE_EVENT_NP(a.name.of.more.than.sixty.three.bytes.which.no.event.can.ever.have);
#elif WRONG == 10
	POSIX_TRACE_EVENT_NP(event, (str, x, thing));
#elif WRONG == 11
	POSIX_TRACE_EVENT_NP(event, (errno, x, text));
#elif WRONG == 12
	POSIX_TRACE_EVENT_NP(event, (s32, x, *thing));
#elif WRONG == 13
	POSIX_TRACE_EVENT_NP(event, (s32, x, number), (key, y));
#elif WRONG == 14
	POSIX_TRACE_EVENT_NP(event, (integer, x, number));
#elif WRONG == 15
	POSIX_TRACE_EVENT_NP(event, (s32, x, number), (s32, x, number));
#elif WRONG == 16
	POSIX_TRACE_LOG_NP("%d", text);
#elif WRONG == 17
	POSIX_TRACE_LOG_NP("%s");
#elif WRONG == 18
	POSIX_TRACE_LOG_NP(text);
#elif WRONG == 19
	POSIX_TRACE_SCOPE_NP(event, (bool, x, text));
#elif WRONG == 20
	POSIX_TRACE_EVENT_NP(event, (str, x, text), (counter, x));
#elif WRONG == 21
	POSIX_TRACE_EVENT_NP(event, (s32, x, number), (counter, y));
#elif WRONG == 22
	POSIX_TRACE_EVENT_NP(event, (s32, x, number), (counter, x, x, x, x, x));
#elif WRONG == 23
	enum { DETAIL = 4 };
	POSIX_TRACE_EVENT_NP(event, (level, DETAIL));
#elif WRONG == 24
	int many[4] = { number };
	POSIX_TRACE_EVENT_NP(event, (array, s32, sizeof(many) / sizeof(many[0]), x, many));
#elif WRONG == 25
	POSIX_TRACE_EVENT_NP(event, (level, 3), (s32, x, number), (level, 3));
#elif WRONG == 26
	POSIX_TRACE_EVENT_NP(event, (begin, span), (end, span));
#elif WRONG == 27
	POSIX_TRACE_EVENT_NP(event, (s32, x, number), (key, x));
#elif WRONG == 28
	POSIX_TRACE_EVENT_NP(event, (s32, x, number), (begin, span), (key, x), (key, x));
#elif WRONG == 29
	POSIX_TRACE_SCOPE_NP(event, (s32, x, number), (begin, span));
#elif WRONG == 30
#define FOUR(p) (u8, p##1, 1), (u8, p##2, 2), (u8, p##3, 3), (u8, p##4, 4)
	POSIX_TRACE_EVENT_NP(event, FOUR(a), FOUR(b), FOUR(c), FOUR(d), FOUR(e), FOUR(f), FOUR(g),
			     FOUR(h), (u8, x, 33));
#elif WRONG == 31
	POSIX_TRACE_EVENT_NP("event", (s32, x, number));
#elif WRONG == 32
	POSIX_TRACE_EVENT_NP();
#elif WRONG == 33
	POSIX_TRACE_EVENT_NP(event, (u8, y, 1), (int, x, number));
#elif WRONG == 34
	POSIX_TRACE_EVENT_NP(event, (char *, x, text));
#elif WRONG == 35
	POSIX_TRACE_EVENT_NP(event, (s32, number));
#elif WRONG == 36
	POSIX_TRACE_EVENT_NP(event, s32, x, number);
#elif WRONG == 37
	POSIX_TRACE_SCOPE_NP(event, (s32, x, number), );
#elif WRONG == 38
	POSIX_TRACE_LOG_NP(text, number);
#elif WRONG == 39
	__extension__ __int128 wide = number;

	POSIX_TRACE_EVENT_NP(event, (s64, x, wide));
#elif WRONG == 40
	if (number)
		goto behind;
	POSIX_TRACE_SCOPE_NP(event, (s32, x, number));
	wrong(0, text, real, thing);
behind:
	wrong(1, text, real, thing);
#elif WRONG == 41
	switch (number) {
	case 1:
		wrong(0, text, real, thing);
		POSIX_TRACE_SCOPE_NP(event);
		break;
	default:
		wrong(1, text, real, thing);
	}
#endif
}
