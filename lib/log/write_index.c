/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/write_index.c - the index of a log: an INDEX block for every 1024 DATA blocks, and a TOP
 * block for all INDEX blocks (FORMAT 3.6).
 *
 * The places of up to 1024 DATA blocks wait in memory. Once their INDEX block exists, only the
 * place of the INDEX block is kept, for TOP: 32 bytes for 64 MiB of records. So the memory of a
 * writer grows very slowly with the length of its log.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log/writer.h"

/*
 * TOP needs an entry for each INDEX block. The memory is reserved before the block is prepared, so
 * that the entry of a prepared block can always be added. The size of the array doubles each time,
 * so an entry costs constant time on average. A log of 2^40 bytes has 16384 entries.
 */
int ptx_log_index_reserve(struct ptx_log *log)
{
	struct ptx_log_index *index = &log->index;
	struct ptx_log_place *more;
	size_t max = index->tops_max ? 2 * index->tops_max : 16;
	int saved = errno;

	if (index->tops < index->tops_max)
		return 0;
	more = realloc(index->top, max * sizeof(*more));
	errno = saved;
	if (!more)
		return ENOMEM;
	index->top = more;
	index->tops_max = max;
	return 0;
}

/*
 * The caller sends the index after PTX_LOG_INDEX_BLOCKS places, so place[] has room. time_top is
 * the greatest time so far. It never decreases, even if a late event makes a block older than the
 * previous block. Binary searches rely on this.
 */
void ptx_log_index_note(struct ptx_log *log, uint64_t offset, uint64_t first_record,
			int64_t time_min, int64_t time_max)
{
	struct ptx_log_index *index = &log->index;
	struct ptx_log_place *place = &index->place[index->places++];

	if (time_max > index->time_top)
		index->time_top = time_max;
	place->offset = offset;
	place->first_record = first_record;
	place->time_min = time_min;
	place->time_top = index->time_top;
}

/*
 * Makes an INDEX or TOP block in the metadata buffer, of `count` places. The header has the range
 * of time of all entries. The last entry has the greatest time_top. The function searches for the
 * least time_min. Returns 0 or ENOMEM.
 */
static int write_index_prepare(struct ptx_log *log, enum ptx_log_type type,
			       const struct ptx_log_place *place, size_t count)
{
	struct ptx_log_place *entry = ptx_log_meta_payload(log, count * sizeof(*entry));
	struct ptx_log_block *block;

	if (!entry)
		return ENOMEM;
	/* An empty TOP block is valid: a log without events has one (FORMAT E2). */
	block = (struct ptx_log_block *)(void *)log->meta.bytes;
	block->records = (uint32_t)count;
	block->time_min = count ? place[0].time_min : 0;
	block->time_max = count ? place[count - 1].time_top : 0;
	for (size_t i = 0; i < count; i++) {
		entry[i] = place[i];
		if (place[i].time_min < block->time_min)
			block->time_min = place[i].time_min;
	}
	ptx_log_meta_ready(log, type, count * sizeof(*entry), log->at);
	return 0;
}

/*
 * Called when the noted places are the content of the INDEX block at `offset`: adds this block's
 * entry to TOP and forgets the places. The caller has reserved the entry.
 */
static void note_top(struct ptx_log_index *index, uint64_t offset)
{
	struct ptx_log_place *top = &index->top[index->tops++];

	top->offset = offset;
	top->first_record = index->place[0].first_record;
	top->time_min = index->place[0].time_min;
	for (uint32_t i = 1; i < index->places; i++)
		if (index->place[i].time_min < top->time_min)
			top->time_min = index->place[i].time_min;
	top->time_top = index->time_top;
	index->places = 0;
}

/*
 * If there are no places, the function does nothing, so the tail has no empty INDEX block (FORMAT
 * 3.6).
 */
int ptx_log_index_send(struct ptx_log *log)
{
	struct ptx_log_index *index = &log->index;
	int err;

	if (!index->places)
		return 0;
	err = ptx_log_index_reserve(log);
	if (!err)
		err = write_index_prepare(log, PTX_LOG_INDEX, index->place, index->places);
	if (err)
		return err;
	/*
	 * The entry is made before the block is sent. This is safe, because the prepared metadata
	 * buffer is sent before anything else, at the same offset: by this call or, if it fails, by
	 * a later call.
	 */
	note_top(index, log->at);
	return ptx_log_meta_send(log);
}

/*
 * A guardian calls this function for a log that it continues. The INDEX block must have exactly the
 * places of the DATA blocks that were read before it (FORMAT I1). Otherwise the INDEX block is
 * damaged or forged, and the guardian continues the log behind the block before it.
 */
bool ptx_log_index_restore(struct ptx_log *log, uint64_t offset, const struct ptx_log_place *place,
			   size_t count)
{
	struct ptx_log_index *index = &log->index;

	if (!count || count != index->places ||
	    memcmp(place, index->place, count * sizeof(*place)) != 0 || ptx_log_index_reserve(log))
		return false;
	note_top(index, offset);
	return true;
}

/*
 * TOP never exceeds the limit of FORMAT B5: 2^29 bytes have room for 2^24 entries, each for 64 MiB
 * of records.
 */
int ptx_log_top_send(struct ptx_log *log)
{
	int err = write_index_prepare(log, PTX_LOG_TOP, log->index.top, log->index.tops);

	return err ? err : ptx_log_meta_send(log);
}

/* After a clear no block in the file is valid (FORMAT W5), so all places are forgotten. */
void ptx_log_index_clear(struct ptx_log *log)
{
	log->index.places = 0;
	log->index.tops = 0;
	log->index.time_top = INT64_MIN;
}
