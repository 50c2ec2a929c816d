/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/write_append.h - the inline path of ptx_log_append(), for the usual case: recent[] has the
 * event's thread, and the record fits into the block. ptx_log_append_slow() handles all other
 * cases.
 *
 * A flush calls ptx_log_append_inline() for each event. recent[] has the index of a thread in the
 * table, at the place tid % PTX_LOG_RECENT. Threads that record events at the same time usually
 * have consecutive ids, so each has a place of its own.
 *
 * Owner     as log/log.h: one caller at a time. No function here does I/O or returns an error
 *           number.
 */
#ifndef PTX_LOG_WRITE_APPEND_H
#define PTX_LOG_WRITE_APPEND_H

#include <string.h>

#include "base/compiler.h"
#include "log/log.h"

#define PTX_LOG_RECENT 64u

/* The index of a thread in the block's table. */
struct ptx_log_recent {
	uint64_t thread;
	uint32_t pid;
	uint32_t tid;
	uint32_t source;
	uint32_t spare;
};

/*
 * The members that each event changes. The appender is the first member of struct ptx_log, so the
 * inline functions get it by a cast.
 */
struct ptx_log_appender {
	uint8_t *at; /* where the next record goes */
	/*
	 * number of bytes of records that can be added without further checks; 0 if the block is
	 * sealed or an event has found no room
	 */
	size_t room;
	int64_t time_min;
	int64_t time_max;
	uint32_t records;
	struct ptx_log_recent recent[PTX_LOG_RECENT];
};

/*
 * Does the same as ptx_log_append(), for an event that the inline path does not handle: recent[]
 * does not have its thread, or its record does not fit in appender->room.
 */
enum ptx_log_append ptx_log_append_slow(struct ptx_log *log, const struct ptx_log_event *event);

/*
 * Copies `len` bytes, and stores zeros behind them up to a multiple of 8. Does not read bytes
 * behind from[len - 1].
 */
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

/*
 * Stores a record of `size` bytes for the thread with this index. The memory of the block has room
 * for the record. If `size` is more than appender->room, the caller computes the room again.
 */
ptx_inline void ptx_log_append_record(struct ptx_log_appender *appender,
				      const struct ptx_log_event *event, size_t size,
				      uint32_t source)
{
	/*
	 * The fields are stored one by one at their final place. A record that is made on the stack
	 * and then copied in larger pieces costs 6 ns more, because the copy waits for the stores.
	 */
	struct ptx_record *record = (struct ptx_record *)(void *)appender->at;

	record->len_flags = event->len_flags;
	record->type = event->type;
	record->source = (uint16_t)source;
	record->address = event->address;
	record->time = (uint64_t)event->time_ns;
	ptx_log_copy_data(appender->at + sizeof(*record), event->data,
			  ptx_record_len(event->len_flags));
	appender->at += size;
	appender->room -= size;
	appender->records++;
	appender->time_min =
		event->time_ns < appender->time_min ? event->time_ns : appender->time_min;
	appender->time_max =
		event->time_ns > appender->time_max ? event->time_ns : appender->time_max;
}

/* ptx_log_append() for callers in a loop. */
ptx_inline enum ptx_log_append ptx_log_append_inline(struct ptx_log *log,
						     const struct ptx_log_event *event)
{
	struct ptx_log_appender *appender = (struct ptx_log_appender *)log;
	const struct ptx_log_recent *recent = &appender->recent[event->tid % PTX_LOG_RECENT];
	size_t size = ptx_record_size(ptx_record_len(event->len_flags));

	if (ptx_unlikely(size > appender->room || event->tid != recent->tid ||
			 event->pid != recent->pid || event->thread != recent->thread))
		return ptx_log_append_slow(log, event);
	ptx_log_append_record(appender, event, size, recent->source);
	return PTX_LOG_APPEND_DONE;
}

/*
 * A run: consecutive events of one thread. The compiler keeps the members of this struct in
 * registers, and ptx_log_run_end() stores them in the log. Between begin and end no other function
 * may change the log.
 */
struct ptx_log_run {
	uint8_t *at;
	size_t room;
	int64_t time_min;
	int64_t time_max;
	uint16_t source;
	uint32_t records;
};

/* Begins a run. Returns false if recent[] does not have the thread. */
ptx_inline bool ptx_log_run_begin(struct ptx_log *log, uint32_t pid, uint32_t tid, uint64_t thread,
				  struct ptx_log_run *run)
{
	struct ptx_log_appender *appender = (struct ptx_log_appender *)log;
	const struct ptx_log_recent *recent = &appender->recent[tid % PTX_LOG_RECENT];

	if (tid != recent->tid || pid != recent->pid || thread != recent->thread)
		return false;
	run->at = appender->at;
	run->room = appender->room;
	run->time_min = appender->time_min;
	run->time_max = appender->time_max;
	run->source = (uint16_t)recent->source;
	run->records = 0;
	return true;
}

/*
 * Adds an event whose size is at most run->room. The parameter `first` is the first word of the
 * event's record.
 */
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

/* Ends a run, and stores its state in the log. */
ptx_inline void ptx_log_run_end(struct ptx_log *log, const struct ptx_log_run *run)
{
	struct ptx_log_appender *appender = (struct ptx_log_appender *)log;

	appender->at = run->at;
	appender->room = run->room;
	appender->time_min = run->time_min;
	appender->time_max = run->time_max;
	appender->records += run->records;
}

#endif
