/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rkh_names.c - what the dictionary records call addresses, signals, pools and user events. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "convert/rkh/rkh.h"

#define PLACES    (1u << 16)       /* half of them are used at most */
#define BYTES_MAX ((size_t)8 << 20) /* of all names */

struct entry {
	uint64_t key; /* 0: free */
	char *name;
};

struct rkh_names {
	size_t entries, bytes;
	struct entry entry[PLACES];
};

struct rkh_names *rkh_names_new(void)
{
	return calloc(1, sizeof(struct rkh_names));
}

void rkh_names_clear(struct rkh_names *names)
{
	if (!names->entries)
		return;
	for (size_t i = 0; i < PLACES; i++)
		if (names->entry[i].key)
			free(names->entry[i].name);
	memset(names, 0, sizeof(*names));
}

void rkh_names_free(struct rkh_names *names)
{
	if (names)
		rkh_names_clear(names);
	free(names);
}

static struct entry *place_of(const struct rkh_names *names, uint64_t key)
{
	size_t i = (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 48) % PLACES;

	while (names->entry[i].key && names->entry[i].key != key)
		i = (i + 1) % PLACES;
	return (struct entry *)&names->entry[i];
}

static uint64_t key_of(enum rkh_space space, uint32_t value)
{
	return (uint64_t)(space + 1) << 32 | value;
}

int rkh_names_set(struct rkh_names *names, enum rkh_space space, uint32_t value, const char *name)
{
	uint64_t key = key_of(space, value);
	struct entry *entry = place_of(names, key);
	size_t len = strlen(name) + 1, old = entry->key ? strlen(entry->name) + 1 : 0;
	char *copy;

	if ((!entry->key && names->entries == PLACES / 2) || names->bytes - old + len > BYTES_MAX)
		return ENOSPC;
	copy = malloc(len);
	if (!copy)
		return ENOMEM;
	memcpy(copy, name, len);
	names->entries += !entry->key;
	names->bytes += len - old;
	free(entry->name);
	entry->key = key;
	entry->name = copy;
	return 0;
}

const char *rkh_names_whole(const struct rkh_names *names, enum rkh_space space, uint32_t value)
{
	return place_of(names, key_of(space, value))->name;
}

const char *rkh_names_find(const struct rkh_names *names, enum rkh_space space, uint32_t value)
{
	const char *name = rkh_names_whole(names, space, value);

	return name && *name == '&' ? name + 1 : name;
}

/* A dictionary's last argument is the name, the one before it what is named. */
static bool is_dictionary(const struct rkh_record *record, enum rkh_space *space)
{
	if (record->args < 2 || record->arg[record->args - 1].kind != RKH_STR)
		return false;
	switch (record->arg[record->args - 2].kind) {
	case RKH_SYM:
		*space = RKH_ADDRESSES;
		return true;
	case RKH_SIG:
		*space = RKH_SIGNALS;
		return true;
	default:
		*space = record == &rkh3_records[RKH_TUSR] ? RKH_EVENTS : RKH_POOLS;
		return true;
	}
}

int rkh_names_learn(struct rkh_names *names, const struct rkh_config *config,
		    const struct rkh_frame *frame)
{
	enum rkh_space space;
	uint32_t value = 0;
	size_t at = 0;

	if (frame->is_config)
		rkh_names_clear(names);
	if (!frame->record || frame->raw || !is_dictionary(frame->record, &space))
		return 0;
	for (unsigned i = 0; i + 1 < frame->record->args; i++) {
		unsigned size = rkh_size(config, frame->record->arg[i].kind);

		value = (uint32_t)rkh_number(frame->args + at, size);
		at += size;
	}
	return rkh_names_set(names, space, value, (const char *)frame->args + at);
}
