/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/write_append.h - the hot half of ptx_log_append(): the thread was heard of in this block, and
 * the record fits. Everything else is ptx_log_append_slow()'s.
 *
 * The flusher calls it once per event, so it is inline. Threads that trace at the same time have
 * consecutive ids, mostly: each finds its own of the recent places.
 */
#ifndef PTX_LOG_WRITE_APPEND_H
#define PTX_LOG_WRITE_APPEND_H

#include <string.h>

#include "base/compiler.h"
#include "log/log.h"

#define PTX_LOG_RECENT 64u

/* Where a thread stands in the block's table. */
struct ptx_log_recent {
	uint64_t thread;
	uint32_t pid;
	uint32_t tid;
	uint32_t source;
	uint32_t spare;
};

/* The first member of struct ptx_log. */
struct ptx_log_hot {
	uint8_t *at; /* where the next record goes */
	size_t room; /* bytes of records that may follow without asking anybody; 0 when sealed */
	int64_t time_min;
	int64_t time_max;
	uint32_t records;
	struct ptx_log_recent recent[PTX_LOG_RECENT];
};

enum ptx_log_append ptx_log_append_slow(struct ptx_log *log, const struct ptx_log_event *event);

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

ptx_inline void ptx_log_append_record(struct ptx_log_hot *hot, const struct ptx_log_event *event,
				      size_t size, uint32_t source)
{
	/* Field by field in place: a record made on the stack and copied from there in larger
	 * pieces waits for its own stores, 6 ns. */
	struct ptx_record *record = (struct ptx_record *)(void *)hot->at;

	record->len_flags = event->len_flags;
	record->type = event->type;
	record->source = (uint16_t)source;
	record->address = event->address;
	record->time = (uint64_t)event->time_ns;
	ptx_log_copy_data(hot->at + sizeof(*record), event->data,
			  ptx_record_len(event->len_flags));
	hot->at += size;
	hot->room -= size;
	hot->records++;
	hot->time_min = event->time_ns < hot->time_min ? event->time_ns : hot->time_min;
	hot->time_max = event->time_ns > hot->time_max ? event->time_ns : hot->time_max;
}

ptx_inline enum ptx_log_append ptx_log_append_inline(struct ptx_log *log,
						     const struct ptx_log_event *event)
{
	struct ptx_log_hot *hot = (struct ptx_log_hot *)log;
	const struct ptx_log_recent *recent = &hot->recent[event->tid % PTX_LOG_RECENT];
	size_t size = ptx_record_size(ptx_record_len(event->len_flags));

	if (ptx_unlikely(size > hot->room || event->tid != recent->tid ||
			 event->pid != recent->pid || event->thread != recent->thread))
		return ptx_log_append_slow(log, event);
	ptx_log_append_record(hot, event, size, recent->source);
	return PTX_LOG_APPEND_DONE;
}

/*
 * A run: events of one thread, one after the other. What append changes is kept in the caller's
 * registers and stored by end; between begin and end nobody else may put.
 */
struct ptx_log_run {
	uint8_t *at;
	size_t room;
	int64_t time_min;
	int64_t time_max;
	uint16_t source;
	uint32_t records;
};

/* False: the thread was not heard of in this block. */
ptx_inline bool ptx_log_run_begin(struct ptx_log *log, uint32_t pid, uint32_t tid, uint64_t thread,
				  struct ptx_log_run *run)
{
	struct ptx_log_hot *hot = (struct ptx_log_hot *)log;
	const struct ptx_log_recent *recent = &hot->recent[tid % PTX_LOG_RECENT];

	if (tid != recent->tid || pid != recent->pid || thread != recent->thread)
		return false;
	run->at = hot->at;
	run->room = hot->room;
	run->time_min = hot->time_min;
	run->time_max = hot->time_max;
	run->source = (uint16_t)recent->source;
	run->records = 0;
	return true;
}

/* An event whose size is at most room; first is its first word in the ring. */
ptx_inline void ptx_log_run_append(struct ptx_log_run *run, uint64_t first, uint64_t address,
				   int64_t time_ns, const uint8_t *data, size_t len, size_t size)
{
	struct ptx_record *record = (struct ptx_record *)(void *)run->at;

	record->len_flags = (uint32_t)(first & (PTX_RECORD_LEN_MAX | PTX_RECORD_TRUNCATED));
	record->type = (uint16_t)ptx_record_first_type(first);
	record->source = run->source;
	record->address = address;
	record->time = (uint64_t)time_ns;
	ptx_log_copy_data(run->at + sizeof(*record), data, len);
	run->at += size;
	run->room -= size;
	run->records++;
	run->time_min = time_ns < run->time_min ? time_ns : run->time_min;
	run->time_max = time_ns > run->time_max ? time_ns : run->time_max;
}

ptx_inline void ptx_log_run_end(struct ptx_log *log, const struct ptx_log_run *run)
{
	struct ptx_log_hot *hot = (struct ptx_log_hot *)log;

	hot->at = run->at;
	hot->room = run->room;
	hot->time_min = run->time_min;
	hot->time_max = run->time_max;
	hot->records += run->records;
}

#endif
