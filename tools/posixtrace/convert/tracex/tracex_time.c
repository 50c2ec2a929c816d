/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tracex_time.c - finds the direction in which the timer counts, and its period. The file has
 * neither of them. The direction is the direction of most changes of the stamp. The period follows
 * from the mask, unless the user gives another period.
 */
#include "convert/tracex/tracex_part.h"

#define NANOSECONDS 1000000000u

/*
 * The stamp of a timer that counts up decreases only when the timer wraps, so most changes of the
 * stamp are rises. If the stamp never changes, the function assumes that the timer counts up.
 */
static void find_direction(struct tracex *d)
{
	uint64_t rises = 0, falls = 0, last = 0, events = 0;
	struct tracex_walk walk;
	struct tracex_entry entry;

	tracex_walk(d, &walk);
	while (tracex_next(&walk, &entry)) {
		uint64_t stamp = entry.stamp & d->mask;

		rises += events && stamp > last;
		falls += events && stamp < last;
		last = stamp;
		events++;
	}
	d->down = falls && falls >= rises;
}

/*
 * Reports that the stamps may be nanoseconds within a second. The function reports this if all
 * stamps are less than a second, and a jump shows that they began again.
 */
static void hint_nanoseconds(const struct tracex *d, struct findings *f)
{
	uint64_t before = 0;
	bool jump = false;
	struct tracex_walk walk;
	struct tracex_entry entry;

	tracex_walk(d, &walk);
	while (tracex_next(&walk, &entry)) {
		if (entry.stamp >= NANOSECONDS)
			return;
		jump |= entry.ticks - before > d->modulus / 2;
		before = entry.ticks;
	}
	if (jump)
		finding(f, FINDING_NOTICE, NULL, UINT64_MAX,
			"time stamps look like nanoseconds within a second; consider "
			"--tick-modulus=1000000000");
}

void tracex_check_time(struct tracex *d, const struct tracex_options *options, struct findings *f)
{
	uint64_t mask_at = d->at + (d->wide ? 8 : 4);
	uint64_t modulus = d->mask + 1; /* 0 if all 64 bits of a wide mask are set */

	d->mask &= 0xffffffff;
	if (!d->mask) {
		finding(f, FINDING_WARNING, "T20", mask_at,
			"the timer mask is 0: all events have the time of the first one");
	} else if (modulus & (modulus - 1)) {
		finding(f, FINDING_WARNING, "T20", mask_at,
			"the timer mask %#llx is not a row of low bits",
			(unsigned long long)d->mask);
	}
	d->modulus = d->mask ? d->mask + 1 : 0;
	if (options->tick_modulus)
		d->modulus = options->tick_modulus;
	find_direction(d);
	if (!options->tick_modulus && d->mask == 0xffffffff)
		hint_nanoseconds(d, f);
}
