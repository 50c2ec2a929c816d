/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * observe/snapshot_clock.c - the clock of a copied region: checks the anchors of the region, and
 * replaces impossible anchors.
 *
 * Any process of the stream can write to the region, and a crashed machine can leave a part of it
 * unwritten. Every later computation with ticks relies on the bounds of this file: no product
 * overflows, and no divisor is zero.
 */
#include <string.h>

#include "observe/snapshot_private.h"

#define TICKS_MAX   (UINT64_C(1) << 61) /* base/clock.h */
#define HZ_MIN      UINT64_C(1000000)
#define HZ_MAX      UINT64_C(100000000000)
/* the greatest span of times, about a hundred years; a longer span in nanoseconds could overflow */
#define SPAN_S      UINT64_C(3000000000)
/* how many seconds before the stream's creation the time of an event may be */
#define BACK_S      10
#define REALTIME_MAX (INT64_C(1) << 62)

/*
 * Returns true if an anchor (a moment in ticks and in CLOCK_REALTIME) is possible. The bounds are
 * so low that a sum of two such values does not overflow.
 */
static bool is_moment(const struct ptx_anchor *anchor)
{
	return anchor->ticks > 0 && anchor->ticks < TICKS_MAX && anchor->realtime_ns > 0 &&
	       anchor->realtime_ns < REALTIME_MAX;
}

/*
 * Returns true if an anchor is later than the anchor of the creation, and within the greatest span.
 * The two anchors define the length of a tick, so the later anchor must have more ticks.
 */
static bool is_in_line(const struct ptx_calibration *calibration, const struct ptx_anchor *anchor)
{
	const struct ptx_anchor *from = &calibration->created;
	uint64_t span;

	if (!is_moment(anchor) || anchor->ticks <= from->ticks)
		return false;
	span = (anchor->ticks - from->ticks) / calibration->hz;
	return span < SPAN_S;
}

/*
 * If no process writes to the stream, uses the present time as one more anchor. This is possible
 * only on the machine where the stream was written, and only before the next boot of the machine.
 * So the boot ids are compared.
 */
static void add_present_anchor(const struct ptx_taking *taking, const struct ptx_calibration *c)
{
	struct ptx_snapshot *snapshot = taking->snapshot;
	char boot[sizeof snapshot->info.boot];

	if (taking->image->is_live)
		return;
	ptx_stream_info_boot(boot);
	if (!boot[0] || memcmp(boot, snapshot->info.boot, sizeof boot - 1) != 0 ||
	    !ptx_clock_anchor_of(snapshot->info.counter != 0, &snapshot->now) ||
	    !is_in_line(c, &snapshot->now))
		snapshot->now.ticks = 0;
}

/*
 * If the calibration is not valid, the times begin at the creation, and a tick counts as a
 * nanosecond. In this case the order of events is right, but the spans between them are wrong by a
 * constant factor. If the later anchor contradicts the anchor of the creation, the anchor of the
 * creation replaces the later anchor.
 */
void ptx_snapshot_calibrate(struct ptx_taking *taking, uint64_t opened,
			    struct ptx_snapshot_span *span)
{
	struct ptx_snapshot *snapshot = taking->snapshot;
	struct ptx_calibration *c = &snapshot->calibration;
	uint64_t back;

	memcpy(c, &snapshot->rings.region->calibration, sizeof *c);
	if (c->hz < HZ_MIN || c->hz > HZ_MAX || !is_moment(&c->created)) {
		ptx_image_fault(
			taking->image, taking->region + offsetof(struct ptx_region, calibration),
			sizeof *c, "the stream's clock is not known: times are approximate");
		c->hz = (uint64_t)PTX_NS_PER_S;
		c->created.ticks = opened < TICKS_MAX ? opened : 1;
		c->created.realtime_ns = snapshot->attachment.creation_ns;
		if (!is_moment(&c->created))
			c->created.realtime_ns = 1;
		c->anchor[0] = c->anchor[1] = c->created;
	}
	c->anchor[0] = c->anchor[atomic_load_explicit(&c->count, memory_order_relaxed) % 2];
	if (!is_in_line(c, &c->anchor[0]))
		c->anchor[0] = c->created;
	add_present_anchor(taking, c);
	back = BACK_S * c->hz;
	span->first_ticks = c->created.ticks > back ? c->created.ticks - back : 0;
	span->last_ticks =
		c->hz < TICKS_MAX / SPAN_S ? c->created.ticks + c->hz * SPAN_S : TICKS_MAX;
	if (span->last_ticks > TICKS_MAX)
		span->last_ticks = TICKS_MAX;
}
