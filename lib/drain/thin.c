/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * drain/thin.c - bounds the marks of a stream that is started and stopped often without a reader.
 *
 * Each start and each stop by a call is a mark. A mark is needed only while it separates events:
 * those that were stamped while the stream was running from the others. So when there are many
 * marks, the controller examines the events in the stream and drops each mark that separates none.
 * The number of events bounds the remaining marks. The threshold grows with the stream's size and
 * with the number of remaining marks, so a start costs constant time on average.
 */
#include <stdlib.h>

#include "drain/census.h"
#include "drain/loop_cut.h"

#define THIN_LEAST 256
#define THIN_BYTES 4096 /* of the stream's size for each mark beyond those */

struct thinning {
	struct ptx_moments moments;
	unsigned char *used; /* an event was stamped between this moment and the next */
};

static void use_moment(void *arg, const struct ptx_record *record, const struct ptx_ident *ident,
		       bool control)
{
	struct thinning *thinning = arg;

	(void)ident;
	if (!control) /* those are members whenever they were stamped */
		thinning->used[ptx_moments_at(&thinning->moments, record->time)] = 1;
}

/*
 * Events older than the watermark are all at hand, so only what ended before it is known to be
 * unused. A reader that did not wait may have raised it above what a writer is about to publish.
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

void ptx_drain_thin(struct ptx_drain *drain)
{
	struct thinning thinning;
	struct ptx_census census = { .drain = drain, .arg = &thinning, .event = use_moment };
	const size_t least = THIN_LEAST + drain->rings->geometry.asked / THIN_BYTES;

	if (drain->marks < least || drain->marks < drain->thin_at)
		return;
	drain->thin_at = 2 * drain->marks; /* without memory: try again later */
	ptx_drain_pass(drain);
	if (drain->loop && !drain->after_gap)
		ptx_loop_cut_apply(drain);
	if (!ptx_moments_make(drain, &thinning.moments))
		return;
	thinning.used = calloc(thinning.moments.count, 1);
	if (thinning.used && ptx_census_take(&census) == 0) {
		drop_marks(drain, &thinning);
		drain->thin_at = 2 * drain->marks;
	}
	free(thinning.used);
	ptx_moments_free(&thinning.moments);
}
