/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/write_contents.c - remembers the counts of a block that is in a slot.
 *
 * When a LOOP log overwrites a block, the block's events become lost, and must be counted by type
 * and by thread. The block cannot be read from the file at that time, because the descriptor may be
 * write-only. So the counts are kept in memory. A block has few types and threads, so only counts
 * that are not 0 are stored.
 */
#include "log/write_contents.h"

#include <stdlib.h>
#include <string.h>

/*
 * One allocation has the counts of the types that occur, and then the counts of all threads in the
 * table.
 */
struct ptx_log_contents {
	uint32_t types;
	uint32_t sources;
	struct {
		uint32_t type;
		uint32_t events;
	} type[];
	/* behind type[] there are `sources` elements of struct ptx_log_count */
};

/*
 * Returns the counts of threads. The counts of threads are behind those of types. An element of
 * type[] has 8 bytes, and the head of the structure has 8 bytes, too. So the address is aligned for
 * the 64-bit members.
 */
static struct ptx_log_count *thread_counts(const struct ptx_log_contents *c)
{
	return (struct ptx_log_count *)(uintptr_t)&c->type[c->types];
}

/*
 * The first loop counts the records. The second loop copies the counts of the types and makes
 * by_type zero again.
 */
struct ptx_log_contents *ptx_log_contents_of(const struct ptx_log *log,
					     struct ptx_log_counting *counting)
{
	const uint8_t *at = log->block.bytes + sizeof(struct ptx_log_block);
	struct ptx_log_contents *c;
	struct ptx_log_count *count;
	uint32_t types = 0, n = 0;

	/* Each block has its own table of threads, so the counts by index begin with 0. */
	memset(counting->by_source, 0, sizeof(counting->by_source));
	while (at < log->appender.at) {
		const struct ptx_record *record = (const void *)at;

		/* by_type is 0 for a type that has not occurred in this block. */
		types += !counting->by_type[record->type]++;
		counting->by_source[record->source]++;
		at += ptx_record_size(ptx_record_len(record->len_flags));
	}
	c = malloc(sizeof(*c) + types * sizeof(c->type[0]) + log->block.sources * sizeof(*count));
	for (unsigned type = 1; type < PTX_TYPE_MAX; type++) {
		/* The loop also runs if there is no memory, because it makes by_type zero again. */
		if (c && counting->by_type[type]) {
			c->type[n].type = type;
			c->type[n++].events = counting->by_type[type];
		}
		counting->by_type[type] = 0;
	}
	if (!c)
		/* by_type is zeroed already, so a later call can succeed. */
		return NULL;
	c->types = types;
	c->sources = log->block.sources;
	/* The table of threads is copied, because the next block begins with an empty table. */
	count = thread_counts(c);
	for (uint32_t i = 0; i < c->sources; i++) {
		count[i].source = log->block.source[i];
		count[i].events = counting->by_source[i];
	}
	return c;
}

/* The structure was made by this process, so its lengths need no check. */
void ptx_log_contents_tally(const struct ptx_log_contents *contents, struct ptx_log_tally *tally)
{
	const struct ptx_log_count *count = thread_counts(contents);

	for (uint32_t i = 0; i < contents->types; i++)
		tally->type[contents->type[i].type] += contents->type[i].events;
	for (uint32_t i = 0; i < contents->sources; i++)
		ptx_log_tally_thread(tally, &count[i].source, count[i].events);
}
