/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * drain/thin.c - bounds the marks of a stream that is started and stopped often without a reader.
 *
 * Each start and each stop by a call is a mark. A mark is needed only while it separates events
 * that were stamped while the stream was running from events that were stamped at other times. So
 * when there are many marks, the controller examines the events in the stream and drops each mark
 * that separates no events. The number of events then bounds the number of remaining marks. The
 * number of marks that begins an examination grows with the stream's size and with the number of
 * marks that remained last time. So a start costs constant time on average.
 */
#include <stdlib.h>

#include "drain/census.h"
#include "drain/loop_cut.h"

#define THIN_LEAST 256 /* a smaller number of marks is never examined */
#define THIN_BYTES 4096 /* bytes of the stream's size that allow one more mark */

/* A thinning in progress, on the stack of ptx_drain_thin(). */
struct thinning {
	struct ptx_moments moments;
	/* used[i]: an event lies at or after moment i, and before moment i + 1 */
	unsigned char *used;
};

/*
 * For ptx_census_take(): notes that the mark before this event separates this event from earlier
 * events.
 */
static void use_moment(void *arg, const struct ptx_record *record, const struct ptx_ident *ident,
		       bool control)
{
	struct thinning *thinning = arg;

	(void)ident;
	if (!control) /* the controller's events are members in every phase */
		thinning->used[ptx_moments_at(&thinning->moments, record->time)] = 1;
}

/*
 * Drops the marks of calls that separate no events, and moves the remaining marks together. The
 * census has seen all events that are older than the watermark. So a mark is dropped only if its
 * phase ended before the watermark. The phase must have ended before drain->certain, too, because
 * ptx_drain_peek_beyond() may have raised the watermark above the time of an event that a writer is
 * about to publish.
 *
 * The marks that change the state correspond, in the same order, to the moments behind moment[0].
 * So the loop walks through both together. The marks of a FULL and of a RESTART always remain,
 * because the drain makes events of them.
 */
static void drop_marks(struct ptx_drain *drain, const struct thinning *thinning)
{
	const struct ptx_moment *kept = &thinning->moments.moment[0];
	const struct ptx_moment *end = kept + thinning->moments.count, *next = kept + 1;
	const uint64_t known =
		drain->certain < drain->watermark ? drain->certain : drain->watermark;
	size_t left = 0, count = drain->marks;

	for (size_t i = 0; i < count; i++) {
		const struct ptx_mark *mark =
			&drain->mark[(drain->mark_first + i) % drain->mark_room];
		bool drop = false;

		if (mark->kind <= PTX_MARK_RESTART) {
			const struct ptx_moment *this = next++;
			const bool by_call = mark->kind <= PTX_MARK_STOP;
			const bool over = next < end && next->ticks <= known;
			const bool unused = !thinning->used[this - thinning->moments.moment];
			/*
			 * If the states before and after this mark are the same, the mark changes
			 * nothing.
			 */
			const bool same =
				this->running == kept->running && this->full == kept->full;

			drop = by_call && over && (unused || same);
			if (!drop)
				kept = this;
		}
		if (!drop)
			drain->mark[(drain->mark_first + left++) % drain->mark_room] = *mark;
	}
	drain->marks = left;
}

/*
 * The controller calls this function at each start, with the stream's lock held. The function
 * allocates memory. If there is no memory, all marks stay, which is correct and only costs room.
 */
void ptx_drain_thin(struct ptx_drain *drain)
{
	struct thinning thinning;
	struct ptx_census census = { .drain = drain, .arg = &thinning, .event = use_moment };
	const size_t least = THIN_LEAST + drain->rings->geometry.asked / THIN_BYTES;

	if (drain->marks < least || drain->marks < drain->thin_at)
		return;
	/*
	 * thin_at is set before the census, so that after a failure the next start does not try
	 * again immediately
	 */
	drain->thin_at = 2 * drain->marks;
	/* The pass makes the watermark recent, so that the census includes recent events. */
	ptx_drain_pass(drain);
	/* Marks up to the cut are dropped first. */
	if (drain->loop && !drain->after_gap)
		ptx_loop_cut_apply(drain);
	if (!ptx_moments_make(drain, &thinning.moments))
		return;
	thinning.used = calloc(thinning.moments.count, 1);
	if (thinning.used && ptx_census_take(&census) == 0) {
		drop_marks(drain, &thinning);
		/*
		 * The next thinning waits until there are twice as many marks, so it costs constant
		 * time for each mark.
		 */
		drain->thin_at = 2 * drain->marks;
	}
	free(thinning.used);
	ptx_moments_free(&thinning.moments);
}
