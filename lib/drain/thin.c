/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * drain/thin.c - bounds the marks of a stream that is started and stopped often without a reader.
 *
 * Each start and each stop by a call adds a mark to the drain. A mark is needed only while it
 * separates undelivered events that were stamped while the stream was running from other
 * undelivered events. If there are many marks, the controller examines the undelivered events and
 * drops each mark that separates no events. The number of events then bounds the number of
 * remaining marks. The examination begins at a number of marks that grows with the stream's size
 * and with the number of marks that remained after the last examination. So a start costs constant
 * time on average.
 *
 * A moment (census.h) is the time of a mark that changes the stream's state, with the new state.
 * The phase of a mark is the time from this mark to the next one.
 */
#include <stdlib.h>

#include "drain/census.h"
#include "drain/loop_cut.h"

#define THIN_LEAST 256 /* the least number of marks for an examination */
#define THIN_BYTES 4096 /* bytes of the stream's size for which one more mark is allowed */

/* An examination in progress. */
struct thinning {
	struct ptx_moments moments;
	/* used[i] is 1 if an event has a time from moment i on and before moment i + 1 */
	unsigned char *used;
};

/*
 * A callback of ptx_census_take(): sets used[] for the last moment that is not later than the
 * event.
 */
static void use_moment(void *arg, const struct ptx_record *record, const struct ptx_ident *ident,
		       bool control)
{
	struct thinning *thinning = arg;

	(void)ident;
	if (!control) /* the controller's events belong to the stream in every phase */
		thinning->used[ptx_moments_at(&thinning->moments, record->time)] = 1;
}

/*
 * Drops the marks of posix_trace_start() and posix_trace_stop() that separate no events, and moves
 * the remaining marks together. The census has visited all events that are older than the
 * watermark. So the function drops a mark only if the phase of the mark has ended before the
 * watermark. The phase must also have ended before drain->certain, because ptx_drain_peek_beyond()
 * may have raised the watermark above the time of an event that a writer is about to publish.
 *
 * moment[0] is the state at the beginning. Each further moment belongs to one mark that changes the
 * state, in the same order. So the loop visits marks and moments together. FULL and RESTART marks
 * always remain, because the drain makes events of them.
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
			 * If the states before and after this mark are the same, the mark is not
			 * needed.
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
 * The controller calls this function at each start, with the stream's lock held. If there is no
 * memory for the examination, all marks stay, which is correct and only needs more memory.
 */
void ptx_drain_thin(struct ptx_drain *drain)
{
	struct thinning thinning;
	struct ptx_census census = { .drain = drain, .arg = &thinning, .event = use_moment };
	const size_t least = THIN_LEAST + drain->rings->geometry.asked / THIN_BYTES;

	if (drain->marks < least || drain->marks < drain->thin_at)
		return;
	/*
	 * Set before the examination, so that after a failure the next start does not try again
	 * immediately.
	 */
	drain->thin_at = 2 * drain->marks;
	/* The pass makes the watermark recent, so that the census includes recent events. */
	ptx_drain_pass(drain);
	/* Marks up to the cut need no examination. */
	if (drain->loop && !drain->after_gap)
		ptx_loop_cut_apply(drain);
	if (!ptx_moments_make(drain, &thinning.moments))
		return;
	thinning.used = calloc(thinning.moments.count, 1);
	if (thinning.used && ptx_census_take(&census) == 0) {
		drop_marks(drain, &thinning);
		/*
		 * The next examination waits until there are twice as many marks, so its cost for
		 * each mark is constant.
		 */
		drain->thin_at = 2 * drain->marks;
	}
	free(thinning.used);
	ptx_moments_free(&thinning.moments);
}
