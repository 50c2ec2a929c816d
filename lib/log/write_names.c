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
	return memcmp(log->names.known, log->names.written, sizeof(log->names.known)) != 0;
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
