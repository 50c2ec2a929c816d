/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "flush/checkpoint.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <trace.h>

#include "drain/heap.h"
#include "drain/step.h"
#include "flush/checkpoint_flush.h"

struct place {
	uint64_t link;
	uint32_t ring;
	uint32_t offset;
};

struct checkpoint {
	_Atomic uint64_t events; /* in the log, + 1; 0: nothing here, or half written */
	uint64_t last_ticks;
	int64_t last_ns;
	uint64_t synthetic;
	uint64_t not_running;
	uint64_t cleared;
	uint64_t reported_cut;
	uint64_t lost[PTX_LOST_CAUSES]; /* what the drain itself counted */
	struct ptx_anchor anchor[2];
	uint32_t running;
	uint32_t full;
	uint32_t count;
	uint32_t log_full;
	struct ptx_checkpoint_marks marks;
};

_Static_assert(2 * sizeof(struct checkpoint) + sizeof(struct ptx_checkpoint_status) <=
		       PTX_CHECKPOINT_BASE,
	       "the region has room");
_Static_assert(2 * sizeof(struct place) == PTX_CHECKPOINT_RING, "and for the places");

#define PLACES 256 /* so many become memory at a time */

static struct checkpoint *checkpoint_at(const struct ptx_drain *drain, unsigned index)
{
	unsigned char *memory = (unsigned char *)drain->rings->region +
				drain->rings->geometry.checkpoint_at;

	return (struct checkpoint *)(void *)memory + index;
}

/* Behind both: geometry.rings places of the one, then those of the other. */
static struct place *places_at(const struct ptx_drain *drain, unsigned index)
{
	const struct ptx_geometry *g = &drain->rings->geometry;
	unsigned char *memory = (unsigned char *)drain->rings->region + g->checkpoint_at +
				PTX_CHECKPOINT_BASE;

	return (struct place *)(void *)memory + (size_t)index * g->rings;
}

static struct place *places_of(const struct ptx_drain *drain, const struct checkpoint *checkpoint)
{
	return places_at(drain, checkpoint == checkpoint_at(drain, 1));
}

/*
 * Makes the places of so many rings present. Without memory their first use asks for it once more.
 */
static void make_places(struct ptx_drain *drain, uint32_t count)
{
	uint32_t more = drain->placed;

	if (count <= drain->placed)
		return;
	drain->placed = (count + PLACES - 1) / PLACES * PLACES;
	if (drain->placed > drain->rings->geometry.rings)
		drain->placed = drain->rings->geometry.rings;
	for (unsigned i = 0; drain->rings->back && i < 2; i++)
		drain->rings->back(places_at(drain, i) + more,
				   (drain->placed - more) * sizeof(struct place));
}

struct ptx_checkpoint_status *ptx_checkpoint_status(const struct ptx_drain *drain)
{
	return (struct ptx_checkpoint_status *)(void *)checkpoint_at(drain, 2);
}

static struct checkpoint *find(const struct ptx_drain *drain, uint64_t events)
{
	for (unsigned i = 0; i < 2; i++) {
		struct checkpoint *checkpoint = checkpoint_at(drain, i);

		if (atomic_load_explicit(&checkpoint->events, memory_order_acquire) == events + 1)
			return checkpoint;
	}
	return NULL;
}

/* Behind what was delivered of the source's buffer. */
static uint32_t done_of(const struct ptx_source *source)
{
	return source->reader.place.claimed - (source->end - source->at);
}

static void fill(struct checkpoint *to, struct ptx_drain *drain, uint64_t events)
{
	const struct ptx_timescale *scale = &drain->scale;
	struct place *place = places_of(drain, to);
	uint32_t count = 0;

	atomic_store_explicit(&to->events, 0, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	to->last_ticks = drain->last_ticks;
	to->last_ns = drain->last_ns;
	to->synthetic = drain->synthetic;
	to->not_running = drain->not_running;
	to->cleared = drain->cleared;
	to->reported_cut = drain->reported_cut;
	memcpy(to->lost, drain->account.total.lost, sizeof to->lost);
	to->running = drain->running;
	to->full = drain->full;
	to->log_full = drain->log_full;
	ptx_checkpoint_marks_save(drain, &to->marks);
	to->anchor[1] = scale->anchor[scale->count - 1];
	to->anchor[0] = scale->count > 1 ? scale->anchor[scale->count - 2] : to->anchor[1];
	make_places(drain, drain->sources);
	for (uint32_t i = 0; i < drain->sources; i++) {
		const struct ptx_source *source = drain->source[i];

		if (!source->reader.place.link)
			continue;
		place[count].ring = i;
		place[count].link = source->reader.place.link;
		place[count++].offset = done_of(source);
	}
	to->count = count;
	atomic_store_explicit(&to->events, events + 1, memory_order_release);
}

void ptx_checkpoint_enable(struct ptx_drain *drain)
{
	if (!drain->loop)
		drain->rings->debts = &drain->debts;
	drain->settled = true;
	if (drain->rings->back)
		drain->rings->back(checkpoint_at(drain, 0), PTX_CHECKPOINT_BASE);
	/* Not where somebody goes on. */
	if (atomic_load_explicit(&checkpoint_at(drain, 0)->events, memory_order_relaxed) == 0 &&
	    atomic_load_explicit(&checkpoint_at(drain, 1)->events, memory_order_relaxed) == 0)
		fill(checkpoint_at(drain, 0), drain, 0);
}

void ptx_checkpoint_write(struct ptx_drain *drain, uint64_t events)
{
	struct checkpoint *other;

	/* The checkpoint of the file's content stays until the next one is complete. */
	if (drain->settled)
		drain->checkpoint = !drain->checkpoint;
	drain->settled = false;
	fill(checkpoint_at(drain, drain->checkpoint), drain, events);
	other = checkpoint_at(drain, !drain->checkpoint);
	if (atomic_load_explicit(&other->events, memory_order_relaxed) == events + 1) {
		atomic_store_explicit(&other->events, 0, memory_order_relaxed);
		drain->settled = true; /* so many are in the file, whether more is written or not */
	}
}

uint64_t ptx_drain_taken(const struct ptx_drain *drain)
{
	return ptx_ledger_sum(&drain->account.total) - drain->synthetic + drain->not_running;
}

void ptx_drain_settle(struct ptx_drain *drain)
{
	drain->settled = true;
	if (drain->rings->back)
		drain->rings->back(checkpoint_at(drain, 0), PTX_CHECKPOINT_BASE);
	if (!drain->rings->debts)
		return;
	atomic_store_explicit(&drain->rings->region->taken, ptx_drain_taken(drain),
			      memory_order_relaxed);
	for (uint32_t i = 0; i < drain->sources; i++) {
		ptx_ring_done(drain->rings, &drain->source[i]->reader.place,
			      done_of(drain->source[i]));
		ptx_step_note(drain, i);
	}
	ptx_ring_settle(drain->rings);
}

/* Where the dead reader had come to in a ring, by what it claimed. */
static void go_to_claim(struct ptx_rings *rings, uint32_t ring, struct ptx_place *place)
{
	uint32_t before, number;
	uint64_t claimed;

	if (!ptx_ring_find(rings, ring, place, &before))
		return;
	number = ptx_link_number(place->link);
	claimed = atomic_load_explicit(&rings->claimed[number], memory_order_acquire);
	if (claimed >> 32 == ptx_link_generation(place->link))
		place->claimed = (uint32_t)claimed & ~7u;
}

/* Adds the losses that the dead reader counted. Their types and threads are not known. */
static void add_losses(struct ptx_ledger *account, const uint64_t *lost)
{
	struct ptx_ledger_line *nobody = ptx_ledger_thread(account, 0, 0, 0);

	for (int cause = 0; cause < PTX_LOST_CAUSES; cause++) {
		account->total.lost[cause] += lost[cause];
		account->type[0].lost[cause] += lost[cause];
		nobody->lost[cause] += lost[cause];
	}
}

void ptx_checkpoint_ident(struct ptx_drain *drain, uint32_t ring, unsigned char *buffer)
{
	struct ptx_source *source = drain->source[ring];
	const struct ptx_place *place = &source->reader.place;
	struct ptx_reader reader = source->reader;
	uint32_t bytes, records, at = 0;
	struct ptx_ident ident;
	uint64_t last;

	reader.buffer = buffer;
	reader.place.claimed = 0;
	if (!ptx_ring_before(drain->rings, place->link, &source->records) || place->claimed == 0 ||
	    ptx_ring_look(&reader) != PTX_CLAIM_BYTES)
		return;
	ident = reader.ident;
	bytes = ptx_records_check(drain->rings, buffer, reader.bytes, &records, &last);
	while (at < bytes && at < place->claimed) {
		const struct ptx_record *record = (const void *)(buffer + at);

		if (record->len_flags & PTX_RECORD_IDENT)
			memcpy(&ident, record + 1, sizeof ident);
		else
			source->records++;
		at += (uint32_t)ptx_record_size(ptx_record_len(record->len_flags));
	}
	source->ident = ident;
	source->line = SIZE_MAX;
}

/* Not of the future, and times that can be subtracted. */
static bool is_past(const struct ptx_anchor *anchor, uint64_t now)
{
	return anchor->ticks <= now && anchor->realtime_ns >= 0 &&
	       anchor->realtime_ns < INT64_MAX / 2;
}

static void take_times(struct ptx_drain *drain, const struct checkpoint *from)
{
	const uint64_t now = ptx_clock_ordered(), last_ticks = from->last_ticks,
		       cleared = from->cleared;
	const struct ptx_anchor first = from->anchor[0], second = from->anchor[1];

	/* Else the drain begins with what it found itself. */
	if (is_past(&first, now) && is_past(&second, now)) {
		ptx_timescale_init(&drain->scale, first);
		ptx_timescale_add(&drain->scale, second);
	}
	drain->last_ticks = last_ticks < now ? last_ticks : now;
	drain->last_ns = from->last_ns;
	/* The marks up to there are not known here: what comes late is taken for a member. */
	drain->phases.since = drain->last_ticks;
	drain->phases.inherited = true;
	drain->cleared = cleared < now ? cleared : 0;
}

/* A LOOP stream has overwritten events since the log was last written, or begun: there is a gap. */
static void find_gap(struct ptx_drain *drain, const struct checkpoint *from)
{
	const struct ptx_region *region = drain->rings->region;
	const uint64_t reported_cut = from->reported_cut;

	drain->reported_cut = reported_cut < ptx_clock_ordered() ? reported_cut : 0;
	drain->gap = drain->loop &&
		     atomic_load_explicit(&region->cut, memory_order_acquire) > drain->reported_cut;
}

/*
 * In a LOOP stream what the dead reader took is gone, and it may have been a START that no
 * checkpoint knows of: then what the rings hold was recorded while it ran, as good as all.
 */
static bool control_was_taken(const struct ptx_drain *drain, const struct checkpoint *from)
{
	const struct ptx_place *now = &drain->source[PTX_CONTROL_RING]->reader.place;
	const struct place *place = places_of(drain, from);
	uint32_t count = from->count;

	for (uint32_t i = 0; i < count && i < drain->rings->geometry.rings; i++)
		if (place[i].ring == PTX_CONTROL_RING)
			return place[i].link != now->link || place[i].offset != now->claimed;
	return now->claimed != 0;
}

/* Continues from a checkpoint. It is hostile: the traced process can write to it. */
static void go_on_from(struct ptx_drain *drain, const struct checkpoint *from)
{
	const struct place *places = places_of(drain, from);
	uint32_t count = from->count;

	take_times(drain, from);
	find_gap(drain, from);
	drain->synthetic = from->synthetic;
	drain->not_running = from->not_running;
	add_losses(&drain->account, from->lost);
	drain->running = from->running != 0 ||
			 (drain->loop && drain->sources && control_was_taken(drain, from));
	drain->full = from->full != 0;
	drain->log_full = from->log_full != 0;
	for (uint32_t i = 0; !drain->loop && i < count && i < drain->rings->geometry.rings; i++) {
		const struct place *place = &places[i];
		struct ptx_source *source;

		if (place->ring >= drain->sources)
			continue;
		source = drain->source[place->ring];
		source->reader.place.link = place->link;
		source->reader.place.claimed = place->offset & ~7u;
	}
}

int ptx_checkpoint_starts(struct ptx_drain *drain, unsigned char *buffer)
{
	struct ptx_rings *rings = drain->rings;
	const uint64_t now = ptx_clock_ordered();
	struct ptx_reader reader;
	int err = 0;

	if (drain->sources == 0)
		return 0;
	reader = drain->source[PTX_CONTROL_RING]->reader;
	reader.buffer = buffer;
	for (uint32_t tries = 0; !err && tries <= rings->geometry.chunks_max; tries++) {
		uint32_t bytes, records, at = 0;
		uint64_t last;

		if (ptx_ring_look(&reader) != PTX_CLAIM_BYTES)
			break;
		bytes = ptx_records_check(rings, buffer, reader.bytes, &records, &last);
		while (!err && at < bytes && last <= now) {
			const struct ptx_record *record = (const void *)(buffer + at);
			struct ptx_mark mark = { .ticks = record->time };

			at += (uint32_t)ptx_record_size(ptx_record_len(record->len_flags));
			if (record->type != POSIX_TRACE_START && record->type != POSIX_TRACE_STOP)
				continue;
			mark.kind = record->type == POSIX_TRACE_START ? PTX_MARK_START :
									PTX_MARK_STOP;
			if (!ptx_drain_mark(drain, &mark))
				err = ENOMEM;
		}
	}
	return err;
}

/*
 * Starts and stops by call are in the controller's ring. That the stream became full and went on by
 * itself the dead one had perhaps marked and not told yet; or told, and died while it was so.
 */
static int take_full(struct ptx_drain *drain)
{
	struct ptx_region *region = drain->rings->region;
	uint64_t state = atomic_load_explicit(&region->state, memory_order_acquire);
	bool is_full = ptx_state_kind(state) == PTX_FULL || ptx_state_kind(state) == PTX_HELD, made;
	struct ptx_mark full = { .kind = PTX_MARK_FULL }, restart = { .kind = PTX_MARK_RESTART };

	full.ticks = atomic_load_explicit(&region->full_from, memory_order_relaxed);
	restart.ticks = atomic_load_explicit(&region->full_until, memory_order_relaxed);
	/* It is noted first: where the stream has been full since before, that was all. */
	made = !is_full || ptx_state_time(state) >= restart.ticks;
	if (made && restart.ticks > drain->last_ticks && restart.ticks <= ptx_clock_ordered()) {
		ptx_drain_admitted(drain, &restart);
		if (full.ticks > drain->last_ticks && full.ticks < restart.ticks &&
		    !ptx_drain_mark_in_order(drain, &full))
			return ENOMEM;
		return ptx_drain_mark_in_order(drain, &restart) ? 0 : ENOMEM;
	}
	drain->full_marked = drain->full && is_full && ptx_state_time(state) <= drain->last_ticks;
	return 0;
}

int ptx_checkpoint_resume(struct ptx_drain *drain, uint64_t events)
{
	const struct checkpoint *from = find(drain, events);
	uint32_t rings = atomic_load_explicit(&drain->rings->region->rings, memory_order_acquire);

	unsigned char *buffer = malloc(drain->rings->geometry.chunk_room);
	int err = buffer && ptx_drain_sources(drain, rings) ? 0 : ENOMEM;

	if (err)
		goto out;
	for (uint32_t i = 0; i < drain->sources; i++)
		go_to_claim(drain->rings, i, &drain->source[i]->reader.place);
	if (from) {
		drain->checkpoint = from == checkpoint_at(drain, 1);
		go_on_from(drain, from);
	} else {
		/* as good as all that rings hold was recorded while it ran */
		drain->running = true;
	}
	drain->resumed = true;
	for (uint32_t i = 0; i < drain->sources; i++)
		ptx_checkpoint_ident(drain, i, buffer);
	err = ptx_checkpoint_starts(drain, buffer);
	if (!err)
		err = take_full(drain);
	if (!err && from)
		err = ptx_checkpoint_marks_restore(drain, &from->marks);
out:
	free(buffer);
	return err;
}
