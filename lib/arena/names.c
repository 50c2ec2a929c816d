/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena/names.h"

#include <string.h>

_Atomic uint64_t ptx_mapped[PTX_TYPE_MAX / 64] = { UINT64_C(1) << PTX_TYPE_UNNAMED };

static const struct {
	unsigned type;
	const char *name;
} predefined[] = {
	{ 1, "posix_trace_error" },
	{ 2, "posix_trace_start" },
	{ 3, "posix_trace_stop" },
	{ 4, "posix_trace_filter" },
	{ 5, "posix_trace_overflow" },
	{ 6, "posix_trace_resume" },
	{ 7, "posix_trace_flush_start" },
	{ 8, "posix_trace_flush_stop" },
	{ PTX_TYPE_UNNAMED, "posix_trace_unnamed_userevent" },
};

#define PREDEFINED (sizeof predefined / sizeof predefined[0])

const char *ptx_names_predefined(unsigned type)
{
	for (size_t i = 0; i < PREDEFINED; i++)
		if (predefined[i].type == type)
			return predefined[i].name;
	return NULL;
}

/* FNV-1a; only saves comparisons. */
static uint32_t hash(const char *name)
{
	uint32_t h = 2166136261u;

	while (*name)
		h = (h ^ (unsigned char)*name++) * 16777619u;
	return h;
}

static uint32_t take_cell(struct ptx_names *names, const char *name)
{
	for (uint32_t i = 0; i < PTX_NAME_CELLS; i++) {
		uint32_t no = 0;

		if (atomic_compare_exchange_strong_explicit(&names->cell[i].taken, &no, 1,
							    memory_order_acquire,
							    memory_order_relaxed)) {
			strncpy(names->cell[i].name, name, PTX_TYPE_NAME_BYTES - 1);
			names->cell[i].name[PTX_TYPE_NAME_BYTES - 1] = '\0';
			return i + 1;
		}
	}
	return 0;
}

/* Shared memory: the number may be anything, and the string may lack its end. */
static const struct ptx_name_cell *cell_of(const struct ptx_names *names, uint64_t entry)
{
	uint32_t number = (uint32_t)entry - 1;

	return number < PTX_NAME_CELLS ? &names->cell[number] : NULL;
}

static bool is_name(const struct ptx_names *names, uint64_t entry, uint32_t h, const char *name)
{
	const struct ptx_name_cell *cell = cell_of(names, entry);

	return entry >> 32 == h && cell && strncmp(cell->name, name, PTX_TYPE_NAME_BYTES) == 0;
}

static void drop_cell(struct ptx_names *names, uint32_t cell)
{
	if (cell)
		atomic_store_explicit(&names->cell[cell - 1].taken, 0, memory_order_release);
}

unsigned ptx_names_open(struct ptx_names *names, const char *name)
{
	uint32_t h = hash(name), cell = 0;

	for (size_t i = 0; i < PREDEFINED; i++)
		if (strcmp(predefined[i].name, name) == 0)
			return predefined[i].type;
	for (unsigned i = 0; i < PTX_NAMES; i++) {
		uint64_t entry = atomic_load_explicit(&names->entry[i], memory_order_acquire);

		if (entry == 0) {
			if (!cell)
				cell = take_cell(names, name);
			if (!cell)
				return PTX_TYPE_UNNAMED;
			if (atomic_compare_exchange_strong_explicit(
				    &names->entry[i], &entry, (uint64_t)h << 32 | cell,
				    memory_order_acq_rel, memory_order_acquire))
				return PTX_TYPE_FIRST_USER + i;
		}
		if (is_name(names, entry, h, name)) {
			drop_cell(names, cell);
			return PTX_TYPE_FIRST_USER + i;
		}
	}
	drop_cell(names, cell);
	return PTX_TYPE_UNNAMED;
}

bool ptx_names_get(const struct ptx_names *names, unsigned type, char *name)
{
	const struct ptx_name_cell *cell;
	uint64_t entry;

	for (size_t i = 0; i < PREDEFINED; i++)
		if (predefined[i].type == type) {
			strcpy(name, predefined[i].name);
			return true;
		}
	if (!names || type < PTX_TYPE_FIRST_USER || type >= PTX_TYPE_FIRST_USER + PTX_NAMES)
		return false;
	entry = atomic_load_explicit(&names->entry[type - PTX_TYPE_FIRST_USER],
				     memory_order_acquire);
	cell = cell_of(names, entry);
	if (!cell)
		return false;
	memcpy(name, cell->name, PTX_TYPE_NAME_BYTES);
	name[PTX_TYPE_NAME_BYTES - 1] = '\0';
	return true;
}

unsigned ptx_names_next(const struct ptx_names *names, unsigned type)
{
	unsigned next = type + 1;

	if (next > 8 && next < PTX_TYPE_UNNAMED)
		next = PTX_TYPE_UNNAMED;
	if (next < PTX_TYPE_FIRST_USER)
		return next;
	if (names && next < PTX_TYPE_FIRST_USER + PTX_NAMES &&
	    atomic_load_explicit(&names->entry[next - PTX_TYPE_FIRST_USER], memory_order_acquire))
		return next;
	return 0;
}

void ptx_names_copy(struct ptx_names *to, const struct ptx_names *from)
{
	for (unsigned i = 0; i < PTX_NAMES; i++) {
		uint64_t entry = atomic_load_explicit(&from->entry[i], memory_order_acquire);
		const struct ptx_name_cell *cell = cell_of(from, entry);

		if (!cell)
			break;
		memcpy(to->cell[i].name, cell->name, PTX_TYPE_NAME_BYTES);
		to->cell[i].name[PTX_TYPE_NAME_BYTES - 1] = '\0';
		atomic_store_explicit(&to->cell[i].taken, 1, memory_order_relaxed);
		atomic_store_explicit(&to->entry[i], (entry & ~UINT64_C(0xffffffff)) | (i + 1),
				      memory_order_release);
	}
}

bool ptx_names_merge(struct ptx_names *to, const struct ptx_names *from)
{
	char name[PTX_TYPE_NAME_BYTES];

	for (unsigned type = ptx_names_next(from, PTX_TYPE_UNNAMED); type;
	     type = ptx_names_next(from, type))
		if (!ptx_names_get(from, type, name) || ptx_names_open(to, name) != type)
			return false;
	return true;
}
