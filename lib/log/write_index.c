/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/write_index.c - where the blocks are: an INDEX block for every 1024, and TOP over those.
 *
 * What is remembered for the end is 32 bytes for each INDEX block, that is for 64 MiB of records.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log/writer.h"

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

static int prepare(struct ptx_log *log, enum ptx_log_type type, const struct ptx_log_place *place,
		   size_t count)
{
	struct ptx_log_place *entry = ptx_log_side_payload(log, count * sizeof(*entry));
	struct ptx_log_block *block;

	if (!entry)
		return ENOMEM;
	block = (struct ptx_log_block *)(void *)log->side.bytes;
	block->records = (uint32_t)count;
	block->time_min = count ? place[0].time_min : 0;
	block->time_max = count ? place[count - 1].time_top : 0;
	for (size_t i = 0; i < count; i++) {
		entry[i] = place[i];
		if (place[i].time_min < block->time_min)
			block->time_min = place[i].time_min;
	}
	ptx_log_side_ready(log, type, count * sizeof(*entry), log->at);
	return 0;
}

/* What was noted stands in an INDEX block at offset. */
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

int ptx_log_index_send(struct ptx_log *log)
{
	struct ptx_log_index *index = &log->index;
	int err;

	if (!index->places)
		return 0;
	err = ptx_log_index_reserve(log);
	if (!err)
		err = prepare(log, PTX_LOG_INDEX, index->place, index->places);
	if (err)
		return err;
	/* Noted now: once prepared, it will be sent before anything else, if not today. */
	note_top(index, log->at);
	return ptx_log_side_send(log);
}

bool ptx_log_index_taken(struct ptx_log *log, uint64_t offset, const struct ptx_log_place *place,
			 size_t count)
{
	struct ptx_log_index *index = &log->index;

	if (!count || count != index->places ||
	    memcmp(place, index->place, count * sizeof(*place)) != 0 || ptx_log_index_reserve(log))
		return false;
	note_top(index, offset);
	return true;
}

int ptx_log_top_send(struct ptx_log *log)
{
	int err = prepare(log, PTX_LOG_TOP, log->index.top, log->index.tops);

	return err ? err : ptx_log_side_send(log);
}

void ptx_log_index_clear(struct ptx_log *log)
{
	log->index.places = 0;
	log->index.tops = 0;
	log->index.time_top = INT64_MIN;
}
