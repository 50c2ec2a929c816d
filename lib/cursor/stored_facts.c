/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cursor/stored_facts.c - the description of an opened log: attributes, status, names, lists,
 * ledger.
 *
 * The description was read when the log was opened. Only the ledger of an incomplete log is made
 * later. Pointers are valid until the log is closed.
 */
#include <errno.h>
#include <string.h>

#include "cursor/stored_private.h"
#include "log/format_tally.h"

/* The values come from the file, so a caller checks them before it uses them as attributes. */
const struct ptx_log_facts *ptx_stored_facts(const struct ptx_stored *stored)
{
	return &stored->facts;
}

/*
 * If the log was not completed, the status comes from the closing area of the header, or is a flush
 * error (FORMAT R3, R4).
 */
const struct ptx_log_status *ptx_stored_status(const struct ptx_stored *stored)
{
	return &stored->sum.status;
}

/* A name may be the empty text, which differs from no name (FORMAT N1). */
const char *ptx_stored_name(const struct ptx_stored *stored, unsigned type)
{
	if (type >= PTX_TYPE_MAX || !(stored->names.set[type / 64] >> type % 64 & 1))
		return NULL;
	return stored->names.name[type];
}

/* The first schema of the type (FORMAT 3.10). */
const char *ptx_stored_schema(const struct ptx_stored *stored, unsigned type)
{
	return type < PTX_TYPE_MAX ? stored->lists.schema[type] : NULL;
}

/* The objects were sorted when the log was opened. There are at most PTX_LOG_OBJECTS_MAX. */
const struct ptx_object *ptx_stored_objects(const struct ptx_stored *stored, size_t *count)
{
	*count = stored->lists.objects;
	return stored->lists.object;
}

/* The mappings were settled when the log was opened. */
const struct ptx_mappings *ptx_stored_mappings(const struct ptx_stored *stored)
{
	return &stored->lists.mappings;
}

/*
 * Counts the events of the log by type and by thread. Opens a second cursor, so that the position,
 * the gap and the window of the caller's cursor are unchanged. The second cursor does not wait for
 * a guardian. Returns EBADF if the program has closed the descriptor meanwhile.
 */
static int count_events(const struct ptx_stored *stored, struct ptx_log_tally *tally)
{
	struct ptx_stored *reader;
	/*
	 * The result if the descriptor is not the log's file any more: the program may have closed
	 * the cursor's duplicate, and another file may have its number.
	 */
	int err = EBADF;

	if (ptx_file_is(stored->window.fd, &stored->window.file))
		err = ptx_stored_open_now(stored->window.fd, stored->salvage, &reader);
	if (err)
		return err;
	/* The records of each block are counted together, so ptx_stored_next() is not needed. */
	while (ptx_stored_next_block(reader))
		ptx_log_tally_records(tally, reader->here.at,
				      (size_t)(reader->here.end - reader->here.at),
				      reader->here.source);
	ptx_stored_close(reader);
	return 0;
}

/*
 * Makes a ledger of the events that the log has. A total from the closing area remains, because it
 * also counts the events that are lost. The ledger of a log that is being written is made again at
 * each call. After an error the ledger has no lines, because ptx_stored_ledger() cannot return an
 * error.
 */
static void stored_facts_rebuild(struct ptx_stored *stored)
{
	struct ptx_ledger_line total = stored->ledger.total;
	struct ptx_log_tally tally;
	int saved = errno;

	ptx_log_tally_init(&tally);
	/* ptx_log_tally_report() replaces the ledger only if it succeeds. */
	if (!count_events(stored, &tally) && !ptx_log_tally_report(&tally, &stored->ledger)) {
		/*
		 * FORMAT R3: the total of the closing area is used. It also has the losses. Their
		 * types and threads are not known, so they belong to type 0 and process 0.
		 */
		if (stored->has_total) {
			stored->ledger.total = total;
			ptx_ledger_close(&stored->ledger);
		}
		stored->has_ledger = !stored->live;
	}
	ptx_log_tally_fini(&tally);
	errno = saved;
}

const struct ptx_ledger *ptx_stored_ledger(const struct ptx_stored *stored)
{
	/*
	 * The ledger is made by the first call and not before, since the whole log must be read for
	 * the ledger. The cast is permitted, because the object itself is not const. A cursor has
	 * one caller at a time, so no other thread sees the change.
	 */
	if (!stored->has_ledger)
		stored_facts_rebuild((struct ptx_stored *)(uintptr_t)stored);
	return &stored->ledger;
}

/*
 * The members `clock` and `host` end with a NUL, because the header was checked (FORMAT H6) or
 * repaired when the log was opened.
 */
void ptx_stored_info(const struct ptx_stored *stored, struct posix_trace_loginfo_np *info)
{
	const struct ptx_log_header *h = &stored->header;

	/* The spare members, which are reserved for later versions, are zero. */
	memset(info, 0, sizeof(*info));
	info->complete = stored->complete;
	info->log_full_policy = (int)h->log_policy;
	info->format_major = h->version_major;
	info->format_minor = h->version_minor;
	info->pid = (pid_t)h->pid;
	memcpy(info->host, h->host, sizeof(info->host));
	memcpy(info->clock, h->clock, sizeof(info->clock));
	info->file_bytes = stored->window.file_bytes;
	/*
	 * The sum comes from END. If the log has no END, it is the sum of the blocks that were
	 * found (FORMAT R5, R6).
	 */
	info->event_bytes = stored->sum.record_bytes;
	info->blocks = stored->sum.blocks;
	info->first_ns = stored->sum.time_first;
	info->last_ns = stored->sum.time_last;
	info->clock_hz = h->clock_hz;
	memcpy(info->uuid, h->uuid, sizeof(info->uuid));
	/* If the header was repaired, log_id is the id that the blocks have (FORMAT R8). */
	info->log_id = h->log_id;
	memcpy(info->boot_id, h->boot_id, sizeof(info->boot_id));
	info->begin_ns = h->begin_time;
	info->resolution_ns = h->clock_resolution;
}

/* The result is the cursor's duplicate, not the descriptor that the program passed. */
int ptx_stored_descriptor(const struct ptx_stored *stored)
{
	return stored->window.fd;
}
