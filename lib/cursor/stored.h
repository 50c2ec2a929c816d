/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cursor/stored.h - opens a stored log and returns its events, one after the other.
 *
 * A log is a header and blocks (log/FORMAT). DATA blocks have the events, and other blocks have
 * names, lists, an index and the ledger. A part of the file is damaged if the rules of log/FORMAT
 * do not hold for it. A cursor for salvage skips damaged parts, and any other cursor ends at the
 * first one.
 *
 * The file is hostile until checked. The cursor copies a part of the file, and verifies every
 * length, offset and checksum in the copy before it uses that value. The cursor reads with pread(),
 * so if another process truncates the file, the result is an error and no signal. The events need
 * memory for the largest block only. The index and the list of slots also need memory: 48 bytes for
 * each block at most.
 *
 * Owner     one caller at a time; the functions do not lock. Different cursors are independent.
 * Errors    0 or an error number; errno is unchanged.
 */
#ifndef PTX_CURSOR_STORED_H
#define PTX_CURSOR_STORED_H

#include <trace_np.h>

#include "base/compiler.h"
#include "log/format.h"
#include "log/log.h"

struct ptx_stored;

/*
 * The position in an opened log. The position is the first member of struct ptx_stored. So the
 * inline function ptx_stored_next() can use the position without the definition of struct
 * ptx_stored, and reads the next event without a call. Only the inline functions of this header and
 * the files of cursor/ use the position.
 */
struct ptx_stored_here {
	/* the next record of the block; if at is equal to `end`, no record is left */
	const uint8_t *at;
	const uint8_t *end;
	const struct ptx_log_source *source; /* the block's table of threads */
	bool gap;               /* the next event follows a damaged part that was skipped */
};

struct ptx_stored_event {
	const struct ptx_record *record; /* data follows it; time is CLOCK_REALTIME in ns */
	uint32_t pid;
	uint32_t tid;
	uint64_t thread;
	bool gap; /* with `salvage` only: true if a damaged part was skipped before this event */
	bool first; /* the first event of its block */
};

/*
 * Opens a log on a private duplicate of `fd`. Returns EINVAL if the file is no log, has a damaged
 * header, was written on another type of machine, or is being written. Other errors are ENOTSUP,
 * EMFILE and ENOMEM.
 *
 * If `salvage` is true, the function also opens a log that is being written. It opens a log with a
 * damaged header if the magic and the version are right. The cursor then skips damaged parts.
 *
 * ptx_stored_next() returns false at the end of the log. If a log with policy APPEND or UNTIL_FULL
 * is being written, the caller may call ptx_stored_next() again later, for events that the writer
 * has added since.
 */
int ptx_stored_open(int fd, bool salvage, struct ptx_stored **stored);
/*
 * Like ptx_stored_open(), but does not wait for the guardian of a killed writer (ptx_stored_open()
 * waits at most 10 s). As long as the guardian runs, the log counts as being written; if `salvage`
 * is false, the result is EBUSY.
 */
int ptx_stored_open_now(int fd, bool salvage, struct ptx_stored **stored);
void ptx_stored_close(struct ptx_stored *stored);

/*
 * Returns true and the next event, or false at the end of the log or at damage. The event is valid
 * until the next call. ptx_stored_rewind() begins again with the first event. ptx_stored_seek()
 * moves to the first event, in the order of the log, that is not older than when_ns.
 */
ptx_inline bool ptx_stored_next(struct ptx_stored *stored, struct ptx_stored_event *event);
void ptx_stored_rewind(struct ptx_stored *stored);
void ptx_stored_seek(struct ptx_stored *stored, int64_t when_ns);

/*
 * Sets a limit. From now on the cursor ends where only blocks follow whose events are all younger
 * than until_ns. In a sequence the cursor also skips each earlier block whose events are all
 * younger. The cursor returns all events of each other block. INT64_MAX means that there is no
 * limit. The position is unchanged.
 */
void ptx_stored_until(struct ptx_stored *stored, int64_t until_ns);

/*
 * Return the attributes and the status of the log. The results are valid until the log is closed.
 */
const struct ptx_log_facts *ptx_stored_facts(const struct ptx_stored *stored);
const struct ptx_log_status *ptx_stored_status(const struct ptx_stored *stored);

/*
 * Returns the ledger that the writer stored when it completed the log. If the log has none, the
 * first call reads the whole log and makes a ledger in which the events of the log are counted as
 * reported. If the log is being written, every call does so.
 */
const struct ptx_ledger *ptx_stored_ledger(const struct ptx_stored *stored);

/*
 * Returns the name of an event type of the log, or NULL if the type has none. Types are less than
 * PTX_TYPE_MAX.
 */
const char *ptx_stored_name(const struct ptx_stored *stored, unsigned type);

/*
 * Returns the text of the type's schema, or NULL if the log has none. The text was not parsed, so
 * it can be an invalid schema.
 */
const char *ptx_stored_schema(const struct ptx_stored *stored, unsigned type);

/* Returns the names of objects, in the order that ptx_objects_find() needs. */
const struct ptx_object *ptx_stored_objects(const struct ptx_stored *stored, size_t *count);

/* Returns the mappings of files as spans of time, as ptx_mappings_settle() has made them. */
const struct ptx_mappings *ptx_stored_mappings(const struct ptx_stored *stored);

/* Returns the descriptor that the cursor reads from. */
int ptx_stored_descriptor(const struct ptx_stored *stored);

/*
 * Returns the number of damaged parts that the cursor has found since ptx_stored_rewind(), plus the
 * header and its closing area if they are damaged. In a log of slots (policy LOOP), the cursor
 * reads neither the areas of names and lists nor the tail while it returns events. This function
 * reads both if the cursor has reached the end.
 */
uint64_t ptx_stored_damaged_parts(struct ptx_stored *stored);

/* Fills the result of posix_trace_get_loginfo_np(). */
void ptx_stored_info(const struct ptx_stored *stored, struct posix_trace_loginfo_np *info);

/*
 * Returns the reason why the last ptx_stored_next() returned false: NULL at the end of the log, or
 * a text if the log is damaged at the position.
 */
const char *ptx_stored_damage(const struct ptx_stored *stored);

/*
 * Reads the next DATA block that belongs to the log and that ptx_stored_until() does not exclude,
 * and makes its first event the next event. Returns false at the end or at damage. Only
 * ptx_stored_next() and the files of cursor/ call this function.
 */
bool ptx_stored_next_block(struct ptx_stored *stored);

/*
 * Returns true if the next event is in the block that was read last. In this case ptx_stored_next()
 * reads no block.
 */
ptx_inline bool ptx_stored_has_next(const struct ptx_stored *stored)
{
	const struct ptx_stored_here *here = (const void *)stored;

	return here->at != here->end;
}

/*
 * Returns how many bytes of data the next event has. Called only if ptx_stored_has_next()
 * is true.
 */
ptx_inline size_t ptx_stored_len(const struct ptx_stored *stored)
{
	const struct ptx_stored_here *here = (const void *)stored;
	const struct ptx_record *record = (const void *)here->at;

	return ptx_record_len(record->len_flags);
}

/*
 * This function is the hot path of all readers, and is inlined into the public functions. It does
 * not check the record, because the cursor has checked the whole block when it read the block. The
 * table of threads is behind the records, in the same buffer.
 */
ptx_inline bool ptx_stored_next(struct ptx_stored *stored, struct ptx_stored_event *event)
{
	/* stored_private.h asserts that the position is the first member. */
	struct ptx_stored_here *here = (void *)stored;
	const struct ptx_log_source *source;
	const struct ptx_record *record;

	event->first = false;
	if (ptx_unlikely(here->at == here->end)) {
		if (!ptx_stored_next_block(stored))
			return false;
		event->first = true;
	}
	/* The block was checked, so the record ends within it. */
	record = (const void *)here->at;
	here->at += ptx_record_size(ptx_record_len(record->len_flags));
	source = &here->source[record->source];
	event->record = record;
	event->pid = source->pid;
	event->tid = source->tid;
	event->thread = source->thread;
	/* Only the first event behind the gap has the flag, so it is cleared here. */
	event->gap = here->gap;
	here->gap = false;
	return true;
}

#endif
