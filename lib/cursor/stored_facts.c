/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cursor/stored_facts.c - what an opened log tells beside its events.
 */
#include <errno.h>
#include <string.h>

#include "cursor/stored_private.h"
#include "log/format_tally.h"

const struct ptx_log_facts *ptx_stored_facts(const struct ptx_stored *stored)
{
	return &stored->facts;
}

const struct ptx_log_status *ptx_stored_status(const struct ptx_stored *stored)
{
	return &stored->sum.status;
}

const char *ptx_stored_name(const struct ptx_stored *stored, unsigned type)
{
	if (type >= PTX_TYPE_MAX || !(stored->names.set[type / 64] >> type % 64 & 1))
		return NULL;
	return stored->names.name[type];
}

const char *ptx_stored_schema(const struct ptx_stored *stored, unsigned type)
{
	return type < PTX_TYPE_MAX ? stored->said.schema[type] : NULL;
}

const struct ptx_object *ptx_stored_objects(const struct ptx_stored *stored, size_t *count)
{
	*count = stored->said.objects;
	return stored->said.object;
}

const struct ptx_mappings *ptx_stored_mappings(const struct ptx_stored *stored)
{
	return &stored->said.mappings;
}

/* The log's events counted; a reader of its own leaves the caller's position alone. */
static int count_events(const struct ptx_stored *stored, struct ptx_log_tally *tally)
{
	struct ptx_stored *reader;
	int err = EBADF;

	if (ptx_file_is(stored->window.fd, &stored->window.file, 0))
		err = ptx_stored_open(stored->window.fd, stored->salvage, &reader);
	if (err)
		return err;
	while (ptx_stored_next_block(reader))
		ptx_log_tally_records(tally, reader->at, (size_t)(reader->end - reader->at),
				      reader->source);
	ptx_stored_close(reader);
	return 0;
}

static void rebuild(struct ptx_stored *stored)
{
	struct ptx_ledger_line total = stored->ledger.total;
	struct ptx_log_tally tally;
	int saved = errno;

	ptx_log_tally_init(&tally);
	if (!count_events(stored, &tally) && !ptx_log_tally_report(&tally, &stored->ledger)) {
		if (stored->has_total)
			stored->ledger.total = total;
		stored->has_ledger = !stored->live;
	}
	ptx_log_tally_fini(&tally);
	errno = saved;
}

const struct ptx_ledger *ptx_stored_ledger(const struct ptx_stored *stored)
{
	/* Found out at the first question: it takes a reading of the log. The caller is alone. */
	if (!stored->has_ledger)
		rebuild((struct ptx_stored *)(uintptr_t)stored);
	return &stored->ledger;
}

void ptx_stored_info(const struct ptx_stored *stored, struct posix_trace_loginfo_np *info)
{
	const struct ptx_log_header *h = &stored->header;

	memset(info, 0, sizeof(*info));
	info->complete = stored->complete;
	info->log_full_policy = (int)h->log_policy;
	info->format_major = h->version_major;
	info->format_minor = h->version_minor;
	info->pid = (pid_t)h->pid;
	memcpy(info->host, h->host, sizeof(info->host));
	memcpy(info->clock, h->clock, sizeof(info->clock));
	info->file_bytes = stored->window.file_bytes;
	info->event_bytes = stored->sum.record_bytes;
	info->blocks = stored->sum.blocks;
	info->first_ns = stored->sum.time_first;
	info->last_ns = stored->sum.time_last;
	info->clock_hz = h->clock_hz;
}

int ptx_stored_descriptor(const struct ptx_stored *stored)
{
	return stored->window.fd;
}
