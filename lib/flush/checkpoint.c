/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * flush/checkpoint.c - writes the checkpoints of a stream, and makes a new reader continue from a
 * checkpoint (checkpoint.h).
 *
 * The part of the region that belongs to the reader has, in this order: checkpoint 0, checkpoint 1,
 * the status (checkpoint_flush.h), the places of checkpoint 0, the places of checkpoint 1. During a
 * write to the log both checkpoints are valid. One checkpoint has the number of events that the
 * file had before the write, and the other checkpoint has the number that the file will have
 * after the write. If the write fails or is interrupted, the file still has one of these two
 * numbers of events.
 *
 * The dead reader is the process that has read the stream before and was killed.
 *
 * The traced processes can write to this memory. So a reader that continues from a checkpoint
 * bounds or checks each value that it uses. A hostile checkpoint may make the log wrong, but must
 * have no other effect.
 */
#include "flush/checkpoint.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <trace.h>

#include "drain/heap.h"
#include "drain/step.h"
#include "flush/checkpoint_flush.h"

/*
 * A place in one ring: the log has all records of the ring up to this place. The array of places
 * has an element for each ring that the reader has entered.
 */
struct place {
	uint64_t link; /* the chunk at this place, with its generation */
	uint32_t ring;
	uint32_t offset; /* bytes of the chunk's records that were delivered */
};

/*
 * The reader writes a checkpoint with the stream's lock held. Most members are named as in struct
 * ptx_drain.
 */
struct checkpoint {
	/* 1 + the number of events in the log; 0: the checkpoint is not valid */
	_Atomic uint64_t events;
	uint64_t log; /* number of the log (checkpoint_flush.h) */
	uint64_t last_ticks; /* time of the last event that was delivered */
	int64_t last_ns;
	uint64_t synthetic; /* number of synthetic events */
	uint64_t not_running; /* number of records that were stamped while the stream was stopped */
	uint64_t cleared; /* in ticks: events up to this time were cleared */
	uint64_t reported_cut; /* in ticks: OVERFLOW has reported losses up to this time */
	uint64_t lost[PTX_LOST_CAUSES]; /* the losses in the account of the drain */
	/*
	 * The last two anchors of the time scale, so that the times in CLOCK_REALTIME continue
	 * without a step.
	 */
	struct ptx_anchor anchor[2];
	uint32_t running;
	uint32_t full;
	uint32_t count; /* number of places */
	uint32_t log_full;
	struct ptx_checkpoint_marks marks; /* marks of flushes that are not delivered */
};

_Static_assert(2 * sizeof(struct checkpoint) + sizeof(struct ptx_checkpoint_status) <=
		       PTX_CHECKPOINT_BASE,
	       "the region has room");
_Static_assert(2 * sizeof(struct place) == PTX_CHECKPOINT_RING, "and for the places");

#define PLACES 256 /* the places of this number of rings get memory in one step */

/*
 * Returns the checkpoint 0 or 1. If `index` is 2, returns the address behind both checkpoints. The
 * offset comes from this process's own geometry and not from shared memory.
 */
static struct checkpoint *checkpoint_in(const struct ptx_rings *rings, unsigned index)
{
	unsigned char *memory = (unsigned char *)rings->region + rings->geometry.checkpoint_at;

	return (struct checkpoint *)(void *)memory + index;
}

static struct checkpoint *checkpoint_at(const struct ptx_drain *drain, unsigned index)
{
	return checkpoint_in(drain->rings, index);
}

/*
 * Returns the places of checkpoint `index`. They begin PTX_CHECKPOINT_BASE bytes behind checkpoint
 * 0: geometry.rings places of checkpoint 0, and then the places of checkpoint 1.
 */
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
 * Rounds `count` up to a multiple of PLACES, and lets the kernel provide memory for the places of
 * so many rings in both checkpoints. If there is no memory now, the kernel tries again at the first
 * store to the places.
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

/* The status is behind both checkpoints; the static assertion above bounds its end. */
struct ptx_checkpoint_status *ptx_checkpoint_status(const struct ptx_drain *drain)
{
	return (struct ptx_checkpoint_status *)(void *)checkpoint_at(drain, 2);
}

/* Returns the word of struct ptx_checkpoint_status with the number of the log. */
static _Atomic uint64_t *log_word(const struct ptx_rings *rings)
{
	return &((struct ptx_checkpoint_status *)(void *)checkpoint_in(rings, 2))->log;
}

uint64_t ptx_checkpoint_log(const struct ptx_rings *rings)
{
	return atomic_load_explicit(log_word(rings), memory_order_acquire);
}

void ptx_checkpoint_log_closes(struct ptx_drain *drain, bool closes)
{
	atomic_store_explicit(log_word(drain->rings), drain->log_number << 1 | closes,
			      memory_order_release);
}

/*
 * Returns the checkpoint for the drain's log with this number of events, or NULL if there is none.
 * The load pairs with the release at the end of checkpoint_fill(), so the members are complete.
 */
static struct checkpoint *checkpoint_find(const struct ptx_drain *drain, uint64_t events)
{
	for (unsigned i = 0; i < 2; i++) {
		struct checkpoint *checkpoint = checkpoint_at(drain, i);

		if (atomic_load_explicit(&checkpoint->events, memory_order_acquire) == events + 1 &&
		    checkpoint->log == drain->log_number)
			return checkpoint;
	}
	return NULL;
}

/*
 * Returns the offset in the source's chunk behind the last delivered record. The records from this
 * offset to the end of the buffer are claimed but not delivered, so the next reader must find them
 * again.
 */
static uint32_t delivered_up_to(const struct ptx_source *source)
{
	return source->reader.place.claimed - (source->end - source->at);
}

/*
 * Writes a checkpoint that is valid for this number of events. The process may be killed at any
 * instruction here. The member `events` is first set to 0, and gets its value last. So a checkpoint
 * that is only partly written is never used. The fence keeps the stores of the other members behind
 * the store of 0.
 */
static void checkpoint_fill(struct checkpoint *to, struct ptx_drain *drain, uint64_t events)
{
	const struct ptx_timescale *scale = &drain->scale;
	struct place *place = places_of(drain, to);
	uint32_t count = 0;

	atomic_store_explicit(&to->events, 0, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	to->log = drain->log_number;
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

		/*
		 * If the reader has not entered this ring, the next reader begins at the ring's
		 * first chunk.
		 */
		if (!source->reader.place.link)
			continue;
		place[count].ring = i;
		place[count].link = source->reader.place.link;
		place[count++].offset = delivered_up_to(source);
	}
	to->count = count;
	atomic_store_explicit(&to->events, events + 1, memory_order_release);
}

/* Called once for a drain, before the first flush. */
void ptx_checkpoint_enable(struct ptx_drain *drain)
{
	if (!drain->loop)
		drain->rings->debts = &drain->debts;
	drain->settled = true;
	/*
	 * The kernel provides memory for the checkpoints now, so that a flush does not need memory
	 * for them.
	 */
	if (drain->rings->back)
		drain->rings->back(checkpoint_at(drain, 0), PTX_CHECKPOINT_BASE);
	/*
	 * If this reader continues a log, one of the two checkpoints is valid, and remains valid
	 * until the first flush. A new stream gets a checkpoint for an empty log, in case the
	 * controller is killed before the first flush.
	 */
	if (atomic_load_explicit(&checkpoint_at(drain, 0)->events, memory_order_relaxed) == 0 &&
	    atomic_load_explicit(&checkpoint_at(drain, 1)->events, memory_order_relaxed) == 0)
		checkpoint_fill(checkpoint_at(drain, 0), drain, 0);
}

/*
 * The caller has the stream's lock. It calls this function before each write to the log, and also
 * when the account or the marks have changed without a write.
 */
void ptx_checkpoint_write(struct ptx_drain *drain, uint64_t events)
{
	struct checkpoint *other;

	/*
	 * The checkpoint that has the number of events in the file must stay until the file has
	 * more events. If the last write to the log has failed, the checkpoint for that write is
	 * overwritten.
	 */
	if (drain->settled)
		drain->checkpoint = !drain->checkpoint;
	drain->settled = false;
	checkpoint_fill(checkpoint_at(drain, drain->checkpoint), drain, events);
	/*
	 * If both checkpoints had the same number of events, a reader could not choose between
	 * them. This would happen at the end of each flush, and after a flush that added no event.
	 * In these cases the newer checkpoint is right, so this function makes the other one
	 * invalid.
	 */
	other = checkpoint_at(drain, !drain->checkpoint);
	if (atomic_load_explicit(&other->events, memory_order_relaxed) == events + 1 &&
	    other->log == drain->log_number) {
		atomic_store_explicit(&other->events, 0, memory_order_relaxed);
		drain->settled = true; /* the file already has all events of this checkpoint */
	}
}

/*
 * The caller has the stream's lock. The old log has all events that the drain has delivered, so the
 * checkpoint of the old log is settled, and stays valid until the next checkpoint is written.
 */
void ptx_checkpoint_log_begin(struct ptx_drain *drain, uint64_t number)
{
	drain->log_number = number;
	drain->checkpoint = !drain->checkpoint;
	checkpoint_fill(checkpoint_at(drain, drain->checkpoint), drain, 0);
	ptx_checkpoint_log_closes(drain, false);
	drain->settled = true;
}

/* All these counters are private memory of this process, so the result is not hostile. */
uint64_t ptx_drain_consumed(const struct ptx_drain *drain)
{
	return ptx_ledger_sum(&drain->account.total) - drain->synthetic + drain->not_running;
}

/*
 * The caller has the stream's lock. In a LOOP stream there is no chunk to free, because the reader
 * has freed each chunk when it left the chunk.
 */
void ptx_drain_settle(struct ptx_drain *drain)
{
	drain->settled = true;
	if (drain->rings->back)
		drain->rings->back(checkpoint_at(drain, 0), PTX_CHECKPOINT_BASE);
	if (!drain->rings->debts)
		return;
	atomic_store_explicit(&drain->rings->region->consumed, ptx_drain_consumed(drain),
			      memory_order_relaxed);
	/*
	 * In each ring, the chunk at the reader's place is not freed. The claimed word of this
	 * chunk gets the offset up to which the log has the chunk's records. ptx_step_note() stores
	 * for observers up to which record the reader has delivered (ring/DESIGN 3).
	 */
	for (uint32_t i = 0; i < drain->sources; i++) {
		ptx_ring_done(drain->rings, &drain->source[i]->reader.place,
			      delivered_up_to(drain->source[i]));
		ptx_step_note(drain, i);
	}
	ptx_ring_settle(drain->rings);
}

/*
 * Moves the place to the ring's oldest chunk, and there to the offset up to which the dead reader
 * has claimed records. The low bits of the offset in a claimed word may be flags of a writer that
 * overwrites the chunk (ring/overwrite.c), so they are cleared. If the claimed word has another
 * generation, it belongs to a former use of the chunk and is ignored.
 */
static void move_to_claim(struct ptx_rings *rings, uint32_t ring, struct ptx_place *place)
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

/* Adds the losses that the dead reader has counted. Their types and threads are unknown. */
static void add_losses(struct ptx_ledger *account, const uint64_t *lost)
{
	struct ptx_ledger_line *unknown = ptx_ledger_thread(account, 0, 0, 0);

	for (int cause = 0; cause < PTX_LOST_CAUSES; cause++) {
		account->total.lost[cause] += lost[cause];
		account->type[0].lost[cause] += lost[cause];
		unknown->lost[cause] += lost[cause];
	}
}

/*
 * Reads the chunk at the source's place into the buffer, from the beginning of the chunk. Returns
 * the number of bytes of its well-formed records, or 0.
 */
static uint32_t read_chunk(const struct ptx_drain *drain, const struct ptx_source *source,
			   unsigned char *buffer, struct ptx_ident *ident)
{
	struct ptx_reader reader = source->reader;
	uint32_t records;
	uint64_t last;

	reader.buffer = buffer;
	reader.place.claimed = 0;
	if (ptx_ring_look(&reader) != PTX_CLAIM_BYTES)
		return 0;
	*ident = reader.ident;
	return ptx_records_check(drain->rings, buffer, reader.bytes, &records, &last);
}

/*
 * If the chunk was overwritten, the source is unchanged, and the next claim searches for another
 * chunk of the ring. If the offset is hostile, the loop ends some records too early or too late.
 * The only effect is a wrong number of records.
 */
void ptx_checkpoint_ident(struct ptx_drain *drain, uint32_t ring, unsigned char *buffer)
{
	struct ptx_source *source = drain->source[ring];
	const struct ptx_place *place = &source->reader.place;
	uint32_t bytes, at = 0;
	struct ptx_ident ident;

	/*
	 * The thread of a record is in the chunk's header or in an IDENT record before the record.
	 */
	if (!ptx_ring_before(drain->rings, place->link, &source->records) || place->claimed == 0)
		return;
	bytes = read_chunk(drain, source, buffer, &ident);
	if (!bytes)
		return;
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

/* Returns the number of records of the source's chunk from `offset` to the end of the claims. */
static uint32_t count_claimed(const struct ptx_drain *drain, const struct ptx_source *source,
			      uint32_t offset, unsigned char *buffer)
{
	struct ptx_ident ident;
	uint32_t bytes = read_chunk(drain, source, buffer, &ident), count = 0;

	for (uint32_t at = 0; at < bytes && at < source->reader.place.claimed;) {
		const struct ptx_record *record = (const void *)(buffer + at);

		count += at >= offset && !(record->len_flags & PTX_RECORD_IDENT);
		at += (uint32_t)ptx_record_size(ptx_record_len(record->len_flags));
	}
	return count;
}

/*
 * Returns true if the time scale can use this anchor: its ticks are not in the future, and its
 * CLOCK_REALTIME is so small that differences do not overflow.
 */
static bool is_past(const struct ptx_anchor *anchor, uint64_t now)
{
	return anchor->ticks <= now && anchor->realtime_ns >= 0 &&
	       anchor->realtime_ns < INT64_MAX / 2;
}

/*
 * Continues with the times of the dead reader. Each value is loaded once. A time in the future is
 * not used, because all further events would be LATE or would count as cleared.
 */
static void resume_times(struct ptx_drain *drain, const struct checkpoint *from)
{
	const uint64_t now = ptx_clock_ordered(), last_ticks = from->last_ticks,
		       cleared = from->cleared;
	const struct ptx_anchor first = from->anchor[0], second = from->anchor[1];

	/*
	 * If an anchor cannot be used, the time scale keeps the anchor with which the drain was
	 * created.
	 */
	if (is_past(&first, now) && is_past(&second, now)) {
		ptx_timescale_init(&drain->scale, first);
		ptx_timescale_add(&drain->scale, second);
	}
	drain->last_ticks = last_ticks < now ? last_ticks : now;
	drain->last_ns = from->last_ns;
	/*
	 * This reader does not know the marks up to last_ticks. An event with an earlier time is
	 * delivered, because its writer saw the stream running.
	 */
	drain->phases.since = drain->last_ticks;
	drain->phases.inherited = true;
	drain->cleared = cleared < now ? cleared : 0;
}

/*
 * Sets drain->gap if a LOOP stream has overwritten events since OVERFLOW last reported losses. The
 * log then continues with OVERFLOW and RESUME.
 */
static void find_gap(struct ptx_drain *drain, const struct checkpoint *from)
{
	const struct ptx_region *region = drain->rings->region;
	const uint64_t reported_cut = from->reported_cut;

	drain->reported_cut = reported_cut < ptx_clock_ordered() ? reported_cut : 0;
	drain->gap = drain->loop &&
		     atomic_load_explicit(&region->cut, memory_order_acquire) > drain->reported_cut;
}

/*
 * Called for a LOOP stream. Returns true if the dead reader has claimed records of the controller's
 * ring behind the checkpoint's place. These records are lost, and one of them may be a START.
 * resume_from() then assumes that the stream was running, because nearly all records in the rings
 * were recorded while it was running.
 */
static bool control_was_claimed(const struct ptx_drain *drain, const struct checkpoint *from)
{
	const struct ptx_place *now = &drain->source[PTX_CONTROL_RING]->reader.place;
	const struct place *place = places_of(drain, from);
	uint32_t count = from->count;

	for (uint32_t i = 0; i < count && i < drain->rings->geometry.rings; i++)
		if (place[i].ring == PTX_CONTROL_RING)
			return place[i].link != now->link || place[i].offset != now->claimed;
	return now->claimed != 0;
}

/*
 * Returns the number of records that the dead reader has claimed and not delivered, in the chunks
 * at its places. If the stream may have been stopped since the checkpoint `newest`, some of these
 * records may not count as called, so the result is 0. The places may be hostile, so the function
 * bounds them as resume_from() does.
 */
static uint64_t count_undelivered(const struct ptx_drain *drain, const struct checkpoint *newest,
				  unsigned char *buffer)
{
	const struct place *places = places_of(drain, newest);
	const uint64_t state = atomic_load_explicit(&drain->rings->region->state,
						    memory_order_acquire);
	const uint32_t count = newest->count;
	uint64_t records = 0;

	if (!newest->running || ptx_state_kind(state) != PTX_RUNNING || !drain->sources ||
	    control_was_claimed(drain, newest))
		return 0;
	for (uint32_t i = 0; i < count && i < drain->rings->geometry.rings; i++) {
		const struct place place = *(const volatile struct place *)&places[i];
		const struct ptx_source *source;

		if (place.ring >= drain->sources)
			continue;
		source = drain->source[place.ring];
		if (source->reader.place.link == place.link)
			records += count_claimed(drain, source, place.offset, buffer);
	}
	return records;
}

/*
 * Called for a LOOP stream. The dead reader may have added events to the log's block that it could
 * not write to the file. These events are not in a ring any more, so they are lost. The newer
 * checkpoint has their number, and the losses that the dead reader has counted meanwhile. Synthetic
 * events among them do not count as lost, because this reader makes them again.
 */
static void lose_unwritten(struct ptx_drain *drain, const struct checkpoint *from,
			   unsigned char *buffer)
{
	const struct checkpoint *newest = checkpoint_at(drain, from == checkpoint_at(drain, 0));
	const uint64_t events = atomic_load_explicit(&newest->events, memory_order_acquire);
	const uint64_t before = atomic_load_explicit(&from->events, memory_order_relaxed);
	uint64_t lost[PTX_LOST_CAUSES];

	if (newest->log != from->log || events <= before || newest->synthetic < from->synthetic ||
	    events - before < newest->synthetic - from->synthetic)
		return;
	for (int cause = 0; cause < PTX_LOST_CAUSES; cause++)
		lost[cause] = newest->lost[cause] - from->lost[cause];
	lost[PTX_LOST_FLUSH_ERROR] += events - before - (newest->synthetic - from->synthetic) +
				      count_undelivered(drain, newest, buffer);
	add_losses(&drain->account, lost);
	drain->not_running = newest->not_running;
}

/*
 * Continues from a checkpoint. The checkpoint may be hostile, because the traced process can write
 * to it. The member `count` is loaded once and bounded by the geometry; a ring's number is bounded
 * by the sources. Links are checked when the reader follows them, and offsets are rounded down to
 * multiples of 8. In a LOOP stream the places of the checkpoint are not used, because the records
 * that the dead reader has claimed behind them are lost.
 */
static void resume_from(struct ptx_drain *drain, const struct checkpoint *from)
{
	const struct place *places = places_of(drain, from);
	uint32_t count = from->count;

	resume_times(drain, from);
	find_gap(drain, from);
	drain->synthetic = from->synthetic;
	drain->not_running = from->not_running;
	add_losses(&drain->account, from->lost);
	drain->running = from->running != 0 ||
			 (drain->loop && drain->sources && control_was_claimed(drain, from));
	drain->full = from->full != 0;
	drain->log_full = from->log_full != 0;
	for (uint32_t i = 0; !drain->loop && i < count && i < drain->rings->geometry.rings; i++) {
		/*
		 * Each member is loaded once, because the traced process may change it after the
		 * check.
		 */
		const struct place place = *(const volatile struct place *)&places[i];
		struct ptx_source *source;

		if (place.ring >= drain->sources)
			continue;
		source = drain->source[place.ring];
		source->reader.place.link = place.link;
		source->reader.place.claimed = place.offset & ~7u;
	}
}

/*
 * The dead reader may not have delivered some START and STOP records of the controller's ring. This
 * function makes marks of them, which show when the stream was running. It does not claim the
 * records, so they are delivered as events later. Chunks with a time in the future are ignored. The
 * number of rounds is bounded, because in hostile memory the chain of chunks may be a circle.
 */
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
 * Restores the marks of a FULL state and of the restart that followed it. No ring has records of
 * them, but the region has their times. There are three cases.
 *
 * First, the dead reader has restarted the stream, and the log does not have the events of the
 * restart. The function makes the RESTART mark again. It also makes the FULL mark again if the log
 * does not have its event.
 *
 * Second, the dead reader has delivered the event of the FULL mark, and the stream is still full.
 * The function sets full_marked, so that ptx_drain_sync() does not make the mark again.
 *
 * Third, in every other state ptx_drain_sync() makes the marks that are needed. Returns 0 or
 * ENOMEM.
 */
static int resume_full(struct ptx_drain *drain)
{
	struct ptx_region *region = drain->rings->region;
	uint64_t state = atomic_load_explicit(&region->state, memory_order_acquire);
	bool is_full = ptx_state_kind(state) == PTX_FULL || ptx_state_kind(state) == PTX_HELD, made;
	struct ptx_mark full = { .kind = PTX_MARK_FULL }, restart = { .kind = PTX_MARK_RESTART };

	full.ticks = atomic_load_explicit(&region->full_from, memory_order_relaxed);
	restart.ticks = atomic_load_explicit(&region->full_until, memory_order_relaxed);
	/*
	 * A reader that restarts the stream stores the two times in the region before it changes
	 * the state. So if the stream is full and became full before the time of the restart, the
	 * dead reader was killed before it changed the state.
	 */
	made = !is_full || ptx_state_time(state) >= restart.ticks;
	/*
	 * A mark whose time delivery has passed is not made again. Hostile times are not used: a
	 * restart in the future, and a FULL that is not before its restart.
	 */
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

/*
 * The parameter `drain` is a new drain. The caller has counted the events in the file, so `events`
 * does not come from shared memory. First, the place in each ring is set to the end of the dead
 * reader's claims. If there is a checkpoint for this number of events, and the stream is not LOOP,
 * the places of the checkpoint replace these places. Second, the thread and the number of the
 * record at each place are determined. Third, the marks are made: first those of START and STOP
 * records, and then the other marks, which are inserted in the order of time.
 */
int ptx_checkpoint_resume(struct ptx_drain *drain, uint64_t events)
{
	const struct checkpoint *from = checkpoint_find(drain, events);
	uint32_t rings = atomic_load_explicit(&drain->rings->region->rings, memory_order_acquire);

	unsigned char *buffer = malloc(drain->rings->geometry.chunk_room);
	int err = buffer && ptx_drain_sources(drain, rings) ? 0 : ENOMEM;

	if (err)
		goto out;
	for (uint32_t i = 0; i < drain->sources; i++)
		move_to_claim(drain->rings, i, &drain->source[i]->reader.place);
	if (from) {
		drain->checkpoint = from == checkpoint_at(drain, 1);
		resume_from(drain, from);
		if (drain->loop)
			lose_unwritten(drain, from, buffer);
	} else {
		/*
		 * There is no checkpoint for this number of events, so another process has changed
		 * the file or the memory. The places remain at the ends of the claims. The stream
		 * counts as running, because nearly all records in the rings were recorded while it
		 * was running.
		 */
		drain->running = true;
	}
	drain->resumed = true;
	for (uint32_t i = 0; i < drain->sources; i++)
		ptx_checkpoint_ident(drain, i, buffer);
	err = ptx_checkpoint_starts(drain, buffer);
	if (!err)
		err = resume_full(drain);
	if (!err && from)
		err = ptx_checkpoint_marks_restore(drain, &from->marks);
out:
	free(buffer);
	return err;
}
