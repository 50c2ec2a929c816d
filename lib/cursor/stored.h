/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cursor/stored.h - "the next event" of a log.
 *
 * The file is hostile until checked: every length, offset and checksum is verified on a private
 * copy before it is used, with pread, so that a file cut short under the reader is an error and
 * not a signal. Memory is bounded by one block, whatever the log's size.
 *
 * Owner     one caller at a time; the functions do not lock.
 * Errors    0 or an error number.
 */
#ifndef PTX_CURSOR_STORED_H
#define PTX_CURSOR_STORED_H

#include <trace_np.h>

#include "log/log.h"

struct ptx_stored;

struct ptx_stored_event {
	const struct ptx_record *record; /* data follows it; time is CLOCK_REALTIME in ns */
	uint32_t pid;
	uint32_t tid;
	uint64_t thread;
	bool gap; /* a damaged part was skipped before it (salvage only) */
	bool first; /* of a block */
};

/*
 * Opens a log on a private duplicate of fd. EINVAL: no log, damaged header, another machine's, or
 * one that is being written. salvage: also logs being written (those of APPEND and
 * UNTIL_FULL are followed: ask again at the end), and with a damaged header, as long as magic and
 * version stand; damaged parts are skipped instead of ending the stream.
 */
int ptx_stored_open(int fd, bool salvage, struct ptx_stored **stored);
void ptx_stored_close(struct ptx_stored *stored);

/* True and the next event, or false at the end. The event is valid until the next call. */
bool ptx_stored_next(struct ptx_stored *stored, struct ptx_stored_event *event);
void ptx_stored_rewind(struct ptx_stored *stored);
void ptx_stored_seek(struct ptx_stored *stored, int64_t when_ns);

/* From now on, blocks whose events are all younger are passed over, and the end is where no others
 * follow. INT64_MAX: all again. The position stays. */
void ptx_stored_until(struct ptx_stored *stored, int64_t until_ns);

/* Facts, valid until close. */
const struct ptx_log_facts *ptx_stored_facts(const struct ptx_stored *stored);
const struct ptx_log_status *ptx_stored_status(const struct ptx_stored *stored);

/* The account that the writer closed; of a log without one, what the log holds, which is found by
 * reading it once. */
const struct ptx_ledger *ptx_stored_ledger(const struct ptx_stored *stored);

/* The name of an event type of the log, NULL if it has none. Ids run below PTX_TYPE_MAX. */
const char *ptx_stored_name(const struct ptx_stored *stored, unsigned type);

/* What the log says that the type means, NULL if nothing; it may be no schema. */
const char *ptx_stored_schema(const struct ptx_stored *stored, unsigned type);

/* What things are called, in the order that ptx_objects_find() needs. */
const struct ptx_object *ptx_stored_objects(const struct ptx_stored *stored, size_t *count);

/* What was mapped, settled. */
const struct ptx_mappings *ptx_stored_mappings(const struct ptx_stored *stored);

/* The descriptor that it reads from. */
int ptx_stored_descriptor(const struct ptx_stored *stored);

/*
 * Parts of the log that were met since ptx_stored_rewind() and are damaged: of events, names, index
 * or account. What a reader of events never meets, the names and lists beside slots, is looked at
 * when the end was reached.
 */
uint64_t ptx_stored_damaged_parts(struct ptx_stored *stored);

/* What posix_trace_get_loginfo_np() tells. */
void ptx_stored_info(const struct ptx_stored *stored, struct posix_trace_loginfo_np *info);

/* Why the last ptx_stored_next() that answered false did so: NULL at the true end of the log. */
const char *ptx_stored_damage(const struct ptx_stored *stored);

#endif
