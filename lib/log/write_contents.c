/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "log/write_contents.h"

#include <stdlib.h>
#include <string.h>

struct ptx_log_contents {
	uint32_t types;
	uint32_t sources;
	struct {
		uint32_t type;
		uint32_t events;
	} type[];
	/* then sources times struct ptx_log_count */
};

static struct ptx_log_count *thread_counts(const struct ptx_log_contents *c)
{
	return (struct ptx_log_count *)(uintptr_t)&c->type[c->types];
}

struct ptx_log_contents *ptx_log_contents_of(const struct ptx_log *log,
					     struct ptx_log_counting *counting)
{
	const uint8_t *at = log->block.bytes + sizeof(struct ptx_log_block);
	struct ptx_log_contents *c;
	struct ptx_log_count *count;
	uint32_t types = 0, n = 0;

	memset(counting->by_source, 0, sizeof(counting->by_source));
	while (at < log->hot.at) {
		const struct ptx_record *record = (const void *)at;

		types += !counting->by_type[record->type]++;
		counting->by_source[record->source]++;
		at += ptx_record_size(ptx_record_len(record->len_flags));
	}
	c = malloc(sizeof(*c) + types * sizeof(c->type[0]) + log->block.sources * sizeof(*count));
	for (unsigned type = 1; type < PTX_TYPE_MAX; type++) {
		if (c && counting->by_type[type]) {
			c->type[n].type = type;
			c->type[n++].events = counting->by_type[type];
		}
		counting->by_type[type] = 0;
	}
	if (!c)
		return NULL;
	c->types = types;
	c->sources = log->block.sources;
	count = thread_counts(c);
	for (uint32_t i = 0; i < c->sources; i++) {
		count[i].who = log->block.source[i];
		count[i].events = counting->by_source[i];
	}
	return c;
}

void ptx_log_contents_tally(const struct ptx_log_contents *contents, struct ptx_log_tally *tally)
{
	const struct ptx_log_count *count = thread_counts(contents);

	for (uint32_t i = 0; i < contents->types; i++)
		tally->type[contents->type[i].type] += contents->type[i].events;
	for (uint32_t i = 0; i < contents->sources; i++)
		ptx_log_tally_thread(tally, &count[i].who, count[i].events);
}
