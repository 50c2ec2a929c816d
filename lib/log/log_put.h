/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/log_put.h - the hot half of ptx_log_put(): the thread of the last event goes on, and its
 * record fits. Everything else is ptx_log_put_slow()'s.
 *
 * The flusher calls it once per event, so it is inline and touches one line beside the block.
 */
#ifndef PTX_LOG_LOG_PUT_H
#define PTX_LOG_LOG_PUT_H

#include <string.h>

#include "base/compiler.h"
#include "log/log.h"

/* The first member of struct ptx_log. */
struct ptx_log_hot {
	uint8_t *at;  /* where the next record goes */
	size_t room;  /* bytes of records that may follow without asking anybody; 0 when sealed */
	uint64_t thread; /* the last event's, and where it stands in the block's table */
	uint32_t pid;
	uint32_t tid;
	uint32_t source;
	uint32_t records;
	int64_t time_min;
	int64_t time_max;
};

enum ptx_log_put ptx_log_put_slow(struct ptx_log *log, const struct ptx_log_event *event);

/* len bytes and zeros up to a multiple of 8. Reads nothing past from[len - 1]. */
ptx_inline void ptx_log_copy_data(uint8_t *to, const uint8_t *from, size_t len)
{
	uint64_t zero = 0;

	if (len == 8) {
		memcpy(to, from, 8);
		return;
	}
	if (!len)
		return;
	memcpy(to + ((len - 1) & ~(size_t)7), &zero, 8);
	memcpy(to, from, len);
}

ptx_inline void ptx_log_append(struct ptx_log_hot *hot, const struct ptx_log_event *event,
			       size_t size)
{
	struct ptx_record record = {
		.len_flags = event->len_flags,
		.type = event->type,
		.source = (uint16_t)hot->source,
		.address = event->address,
		.time = (uint64_t)event->time_ns,
	};

	memcpy(hot->at, &record, sizeof(record));
	ptx_log_copy_data(hot->at + sizeof(record), event->data, ptx_record_len(event->len_flags));
	hot->at += size;
	hot->room -= size;
	hot->records++;
	hot->time_min = event->time_ns < hot->time_min ? event->time_ns : hot->time_min;
	hot->time_max = event->time_ns > hot->time_max ? event->time_ns : hot->time_max;
}

ptx_inline enum ptx_log_put ptx_log_put_inline(struct ptx_log *log,
					       const struct ptx_log_event *event)
{
	struct ptx_log_hot *hot = (struct ptx_log_hot *)log;
	size_t size = ptx_record_size(ptx_record_len(event->len_flags));

	if (ptx_unlikely(size > hot->room || event->tid != hot->tid || event->pid != hot->pid ||
			 event->thread != hot->thread))
		return ptx_log_put_slow(log, event);
	ptx_log_append(hot, event, size);
	return PTX_LOG_PUT_DONE;
}

#endif
