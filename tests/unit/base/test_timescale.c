/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Conversion of ticks to nanoseconds of a clock that is slewed and set. A tick has nominally one
 * nanosecond.
 */
#include <errno.h>

#include "base/timescale.h"
#include "support/support.h"

#define SECOND PTX_NS_PER_S
#define BASE   INT64_C(1700000000000000000)

static struct ptx_timescale scale;

static void begin(uint64_t ticks, int64_t ns)
{
	ptx_timescale_init(&scale, (struct ptx_anchor){ ticks, ns });
}

static void add(uint64_t ticks, int64_t ns)
{
	ptx_timescale_add(&scale, (struct ptx_anchor){ ticks, ns });
}

static void assert_ns(uint64_t ticks, int64_t expected)
{
	int64_t ns = ptx_timescale_ns(&scale, ticks);

	ck_assert_msg(ns - expected <= 1 && expected - ns <= 1, "%ld is %ld, not %ld", (long)ticks,
		      (long)ns, (long)expected);
}

START_TEST(with_one_anchor_the_nominal_rate_leads_both_ways)
{
	begin(5 * SECOND, BASE);
	assert_ns(5 * SECOND, BASE);
	assert_ns(6 * SECOND, BASE + SECOND);
	assert_ns(5 * SECOND - 1000, BASE - 1000); /* an event stamped just before the anchor */
	assert_ns(0, BASE - 5 * SECOND);
}
END_TEST

START_TEST(between_two_anchors_lies_a_straight_line)
{
	begin(0, BASE);
	add(SECOND, BASE + SECOND + 500000); /* slewed by 500 ppm */
	add(2 * SECOND, BASE + 2 * SECOND);  /* and back */
	assert_ns(0, BASE);
	assert_ns(SECOND / 2, BASE + SECOND / 2 + 250000);
	assert_ns(SECOND, BASE + SECOND + 500000);
	assert_ns(SECOND + SECOND / 2, BASE + SECOND + SECOND / 2 + 250000);
	assert_ns(2 * SECOND, BASE + 2 * SECOND);
	assert_ns(3 * SECOND, BASE + 3 * SECOND - 500000); /* the last line is extrapolated */
	assert_ns(SECOND / 4, BASE + SECOND / 4 + 125000); /* requests in any order */
}
END_TEST

START_TEST(over_slewed_lines_times_never_go_back)
{
	static const int ppm[] = { 0, 500, -500, 200, -1000, 900, 0 };
	int64_t ns = BASE, last;
	uint64_t ticks = 12345;

	begin(ticks, ns);
	for (unsigned i = 0; i < 200; i++) {
		ticks += SECOND / 3;
		ns += SECOND / 3 + (SECOND / 3) / 1000000 * ppm[i % 7];
		add(ticks, ns);
	}
	last = ptx_timescale_ns(&scale, 12345);
	for (uint64_t at = 12345; at < ticks + SECOND; at += 999983) {
		int64_t now = ptx_timescale_ns(&scale, at);

		if (now < last)
			ck_abort_msg("back from %ld to %ld", (long)last, (long)now);
		last = now;
	}
}
END_TEST

/*
 * The clock steps forward, back by half, back before the beginning, and forward again. The younger
 * line applies.
 */
START_TEST(between_two_anchors_with_a_step_the_older_line_goes_on_up_to_the_younger)
{
	static const int64_t steps[] = { 3600 * SECOND, -SECOND / 2, -3600 * SECOND, -SECOND };
	int64_t step = steps[_i];

	begin(0, BASE);
	add(SECOND, BASE + SECOND);
	add(2 * SECOND, BASE + 2 * SECOND + step);
	/* no anchor beyond the step yet */
	assert_ns(SECOND + SECOND / 2, BASE + SECOND + SECOND / 2);
	assert_ns(2 * SECOND - 10, BASE + 2 * SECOND - 10);
	assert_ns(2 * SECOND, BASE + 2 * SECOND + step);
	assert_ns(2 * SECOND + 1000, BASE + 2 * SECOND + 1000 + step);
	/* now there is such an anchor */
	add(3 * SECOND, BASE + 3 * SECOND + step);
	assert_ns(SECOND / 2, BASE + SECOND / 2);
	assert_ns(SECOND + SECOND / 2, BASE + SECOND + SECOND / 2);
	assert_ns(2 * SECOND + SECOND / 2, BASE + 2 * SECOND + SECOND / 2 + step);
	assert_ns(4 * SECOND, BASE + 4 * SECOND + step);
}
END_TEST

START_TEST(an_anchor_that_is_not_younger_is_not_taken)
{
	begin(SECOND, BASE);
	add(SECOND, BASE + 77);
	add(SECOND - 1, BASE + 88);
	ck_assert_uint_eq(scale.count, 1);
	assert_ns(SECOND, BASE);
}
END_TEST

/* Short lines would amplify the jitter of the readings. */
START_TEST(an_anchor_soon_after_the_last_but_one_replaces_the_last)
{
	begin(0, BASE);
	add(1000, BASE + 1000);
	for (int i = 2; i < 90; i++) {
		add((uint64_t)i * 1000000, BASE + i * 1000000);
		ck_assert_uint_eq(scale.count, 2);
	}
	add(SECOND, BASE + SECOND);
	ck_assert_uint_eq(scale.count, 3);
	/* jitter in a short last line changes no time that is far from this line */
	add(SECOND + 1000, BASE + SECOND + 1700);
	assert_ns(SECOND + 500, BASE + SECOND + 850);
	ck_assert_int_lt(ptx_timescale_ns(&scale, SECOND / 2) - BASE, SECOND / 2 + 1000);
}
END_TEST

START_TEST(when_memory_is_short_older_anchors_are_thinned_out)
{
	unsigned most = 0;

	begin(0, BASE);
	for (int64_t i = 1; i <= 5000; i++) {
		add((uint64_t)(i * SECOND), BASE + i * SECOND + i * 1000);
		most = scale.count > most ? (unsigned)scale.count : most;
		/* each anchor once, in increasing order */
		if (i % 500 == 0)
			for (size_t k = 1; k < scale.count; k++)
				ck_assert_uint_lt(scale.anchor[k - 1].ticks, scale.anchor[k].ticks);
	}
	ck_assert_uint_eq(most, PTX_TIMESCALE_ANCHORS);
	ck_assert_uint_eq(scale.anchor[0].ticks, 0);
	ck_assert_uint_eq(scale.anchor[scale.count - 1].ticks, (uint64_t)(5000 * SECOND));
	/* Longer lines give the same result, except for their 32 bits of fraction. */
	for (int64_t i = 0; i <= 5000; i += 7) {
		int64_t ns = ptx_timescale_ns(&scale, (uint64_t)(i * SECOND));

		ck_assert_int_le(ns, BASE + i * SECOND + i * 1000);
		ck_assert_int_ge(ns, BASE + i * SECOND + i * 1000 - 1200);
	}
}
END_TEST

START_TEST(counters_of_two_to_the_sixty_and_long_spans_do_not_overflow)
{
	const uint64_t far = UINT64_C(1) << 60;

	begin(far, BASE);
	assert_ns(far + 100 * 86400 * SECOND, BASE + 100 * 86400 * SECOND);
	add(far + 365 * 86400 * SECOND, BASE + 365 * 86400 * SECOND);
	assert_ns(far + 300 * 86400 * SECOND, BASE + 300 * 86400 * SECOND);
	assert_ns(far - 86400 * SECOND, BASE - 86400 * SECOND);
}
END_TEST

static Suite *suite(void)
{
	TCase *tc;
	Suite *s = support_suite("base: timescale", &tc);

	tcase_add_test(tc, with_one_anchor_the_nominal_rate_leads_both_ways);
	tcase_add_test(tc, between_two_anchors_lies_a_straight_line);
	tcase_add_test(tc, over_slewed_lines_times_never_go_back);
	tcase_add_loop_test(
		tc, between_two_anchors_with_a_step_the_older_line_goes_on_up_to_the_younger, 0, 4);
	tcase_add_test(tc, an_anchor_that_is_not_younger_is_not_taken);
	tcase_add_test(tc, an_anchor_soon_after_the_last_but_one_replaces_the_last);
	tcase_add_test(tc, when_memory_is_short_older_anchors_are_thinned_out);
	tcase_add_test(tc, counters_of_two_to_the_sixty_and_long_spans_do_not_overflow);
	return s;
}

SUITE_MAIN_OF(suite)
