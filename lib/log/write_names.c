/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/write_names.c - the names of event types, on their way to the file.
 */
#include <errno.h>
#include <string.h>

#include "log/writer.h"

static bool has(const uint64_t *set, unsigned type)
{
	return set[type / 64] >> type % 64 & 1;
}

int ptx_log_name(struct ptx_log *log, unsigned type, const char *name)
{
	size_t len = strnlen(name, PTX_TYPE_NAME_BYTES);

	if (!type || type >= PTX_TYPE_MAX || len == PTX_TYPE_NAME_BYTES)
		return EINVAL;
	if (has(log->names.known, type)) /* as it may be in the file already, the first one stays */
		return strcmp(log->names.name[type], name) ? EEXIST : 0;
	memcpy(log->names.name[type], name, len);
	log->names.known[type / 64] |= UINT64_C(1) << type % 64;
	return 0;
}

bool ptx_log_names_wait(const struct ptx_log *log)
{
	return log->names.damaged ||
	       memcmp(log->names.known, log->names.written, sizeof(log->names.known)) != 0;
}

int ptx_log_names_prepare(struct ptx_log *log, bool all, uint64_t offset)
{
	struct ptx_log_block *block;
	struct ptx_log_name *entry;
	uint32_t count = 0;

	for (unsigned i = 0; i < PTX_TYPE_MAX / 64; i++)
		count += (uint32_t)__builtin_popcountll(
			log->names.known[i] & ~(all ? 0 : log->names.written[i]));
	entry = ptx_log_side_payload(log, count * sizeof(*entry));
	if (!entry)
		return ENOMEM;
	block = (struct ptx_log_block *)(void *)log->side.bytes;
	block->records = count;
	block->flags = all ? PTX_LOG_ALL_NAMES : 0;
	memcpy(log->names.waiting, log->names.known, sizeof(log->names.waiting));
	for (unsigned type = 1; type < PTX_TYPE_MAX; type++) {
		if (!has(log->names.known, type) || (!all && has(log->names.written, type)))
			continue;
		entry->type = type;
		memcpy(entry->name, log->names.name[type], sizeof(entry->name));
		entry++;
	}
	ptx_log_side_ready(log, PTX_LOG_NAMES, count * sizeof(*entry), offset);
	return 0;
}

static uint64_t area_offset(const struct ptx_log *log, unsigned area)
{
	return log->header->names_offset + area * log->header->names_bytes;
}

/* The block with the newest names stays until the next one is whole (FORMAT N2). */
int ptx_log_names_write_slots(struct ptx_log *log)
{
	int err = 0;

	while (!err && ptx_log_names_wait(log)) {
		err = ptx_log_names_prepare(log, true, area_offset(log, log->names.area));
		if (!err)
			err = ptx_log_side_send(log);
	}
	return err;
}

void ptx_log_names_sent(struct ptx_log *log)
{
	struct ptx_log_names *names = &log->names;

	memcpy(names->written, names->waiting, sizeof(names->written));
	if (log->loop && log->side.offset == area_offset(log, names->area)) {
		names->damaged &= ~(1u << names->area);
		names->area = !names->area;
	}
}

void ptx_log_names_take(struct ptx_log *log, const struct ptx_log_block *block,
			const struct ptx_log_name *name)
{
	for (uint32_t i = 0; i < block->records; i++, name++) {
		memcpy(log->names.name[name->type], name->name, sizeof(name->name));
		log->names.known[name->type / 64] |= UINT64_C(1) << name->type % 64;
		log->names.written[name->type / 64] |= UINT64_C(1) << name->type % 64;
	}
}

void ptx_log_names_clear(struct ptx_log *log)
{
	memset(log->names.written, 0, sizeof(log->names.written));
	log->names.area = log->names.damaged = 0;
}
