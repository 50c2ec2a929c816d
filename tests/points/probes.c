/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lines with values of each type, and with more values than a probe has arguments. */
#include <trace_point_np.h>

#define F(n) (s32, f##n, n * k)

static const int list[2] = { 7, 8 };

__attribute__((noinline)) void line(int k, signed char s8, short s16, long s64, unsigned char u8,
				    unsigned short u16, unsigned u32, unsigned long u64, float f,
				    double d, const char *s);
void line(int k, signed char s8, short s16, long s64, unsigned char u8, unsigned short u16,
	  unsigned u32, unsigned long u64, float f, double d, const char *s)
{
	/* The field i has the low 8 bits of its value. */
	POSIX_TRACE_EVENT_NP(integers, (s8, a, s8), (s16, b, s16), (s32, c, k), (s64, d, s64),
			     (u8, e, u8), (u16, f, u16), (u32, g, u32), (u64, h, u64),
			     (u8, i, u16));
	POSIX_TRACE_EVENT_NP(numbers, (f32, a, f), (f64, b, d), (f32, c, k), (f64, d, f),
			     (f64, e, 2.5));
	POSIX_TRACE_EVENT_NP(pointers, (str, a, s), (bytes, b, s, 3), (array, s32, 2, c, list),
			     (bool, d, k & 2), (ptr, e, NULL));
	POSIX_TRACE_EVENT_NP(none);
	POSIX_TRACE_EVENT_NP(twelve, F(1), F(2), F(3), F(4), F(5), F(6), F(7), F(8), F(9), F(10),
			     F(11), F(12), F(13));
}

int main(void)
{
	line(2, -1, -2, -4, 250, 65000, 4000000000u, 1ul << 63, 1.25f, -2.5, "text");
	return 0;
}
