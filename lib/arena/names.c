/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * arena/names.c - the table of event type names, shared by all processes of an arena.
 *
 * Entries are only added, from the first on, and never change. Therefore a search ends at the first
 * empty entry. Every process can write to the table, so a reader checks each number and bounds each
 * text.
 */
#include "arena/names.h"
#include "base/compiler.h"

#include <string.h>

/*
 * The types that this process has opened. At its start only the unnamed type is in the set.
 * posix_trace_eventid_open() adds further types.
 */
_Atomic uint64_t ptx_opened_types[PTX_TYPE_MAX / 64] = { UINT64_C(1) << PTX_TYPE_UNNAMED };

/* The standard gives names to these types; their numbers are those of <trace.h>. */
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

/*
 * Returns the FNV-1a hash of a name. If two hashes are equal, the texts are compared, too, so a
 * collision only costs time.
 */
static uint32_t names_hash(const char *name)
{
	uint32_t h = 2166136261u;

	/* The hash depends only on the text, so all processes compute the same hash for a name. */
	while (*name)
		h = (h ^ (unsigned char)*name++) * 16777619u;
	return h;
}

/*
 * Copies the name into a free cell, and returns the number of the cell + 1, or 0 if all cells are
 * in use. Other processes do not use the cell until an entry has its number. The search begins at
 * the cell with the number `first`, which is nearly always free, and tries each cell once.
 */
static uint32_t claim_cell(struct ptx_names *names, const char *name, uint32_t first)
{
	for (uint32_t n = 0; n < PTX_NAME_CELLS; n++) {
		uint32_t no = 0, i = (first + n) % PTX_NAME_CELLS;

		/*
		 * The process that changes 0 to 1 owns the cell. The acquire order pairs with the
		 * release order in drop_cell(): the former owner no longer writes to the cell.
		 */
		if (atomic_compare_exchange_strong_explicit(&names->cell[i].claimed, &no, 1,
							    memory_order_acquire,
							    memory_order_relaxed)) {
			/*
			 * strncpy() also zeroes the rest of the cell, because ptx_names_get()
			 * copies the whole cell.
			 */
			strncpy(names->cell[i].name, name, PTX_TYPE_NAME_BYTES - 1);
			/* strncpy() writes no NUL behind a name of maximal length. */
			names->cell[i].name[PTX_TYPE_NAME_BYTES - 1] = '\0';
			return i + 1;
		}
	}
	return 0;
}

/* Returns the cell of an entry, or NULL if the entry is 0 or no cell has its number. */
static const struct ptx_name_cell *cell_of(const struct ptx_names *names, uint64_t entry)
{
	/*
	 * The lower half of an entry is the number of the cell + 1. For 0, `number` becomes
	 * UINT32_MAX, which no cell has.
	 */
	uint32_t number = (uint32_t)entry - 1;

	return number < PTX_NAME_CELLS ? &names->cell[number] : NULL;
}

/*
 * Returns true if the entry has this name, whose hash is `h`. Compares at most the size of a cell,
 * because the text may lack its NUL.
 */
static bool is_name(const struct ptx_names *names, uint64_t entry, uint32_t h, const char *name)
{
	const struct ptx_name_cell *cell = cell_of(names, entry);

	/* If the hashes differ, the text need not be read. */
	return entry >> 32 == h && cell && strncmp(cell->name, name, PTX_TYPE_NAME_BYTES) == 0;
}

/* Frees a cell that this process has claimed and whose number is in no entry. */
static void drop_cell(struct ptx_names *names, uint32_t cell)
{
	if (cell)
		/*
		 * Because of the release order, the next owner writes to the cell only after all
		 * accesses of this process.
		 */
		atomic_store_explicit(&names->cell[cell - 1].claimed, 0, memory_order_release);
}

/*
 * The index of the entry behind the one that this process has last found by its name. Successive
 * programs of a family (meet/family.h) open the same names in the same order, so the next name is
 * usually in the entry with this index.
 */
static ptx_start_data _Atomic uint32_t guess;

/* The text is compared without its hash, which would need another pass over the name. */
unsigned ptx_names_guess(const struct ptx_names *names, const char *name, size_t len)
{
	const uint32_t next = atomic_load_explicit(&guess, memory_order_relaxed);
	const struct ptx_name_cell *cell;

	if (next >= PTX_NAMES || len >= PTX_TYPE_NAME_BYTES)
		return 0;
	cell = cell_of(names, atomic_load_explicit(&names->entry[next], memory_order_acquire));
	if (!cell || memcmp(cell->name, name, len + 1) != 0)
		return 0;
	atomic_store_explicit(&guess, next + 1, memory_order_relaxed);
	return PTX_TYPE_FIRST_USER + next;
}

/*
 * Searches the entries in order, and adds the name at the first empty entry. If another process
 * fills this entry first, the function compares the name of that entry like any other name, and
 * continues the search. So no name gets two types. If the exchange fails, the function uses the
 * claimed cell for the next empty entry.
 */
unsigned ptx_names_open(struct ptx_names *names, const char *name)
{
	uint32_t h = names_hash(name), cell = 0;

	for (size_t i = 0; i < PREDEFINED; i++)
		if (strcmp(predefined[i].name, name) == 0)
			return predefined[i].type;
	/* The loop has at most PTX_NAMES steps, whatever another process writes meanwhile. */
	for (unsigned i = 0; i < PTX_NAMES; i++) {
		uint64_t entry = atomic_load_explicit(&names->entry[i], memory_order_acquire);

		/*
		 * This entry is the end of the list. The name is added here, unless another process
		 * is faster.
		 */
		if (entry == 0) {
			if (!cell)
				cell = claim_cell(names, name, i);
			if (!cell)
				/*
				 * There are more cells than entries. So no cell is free only if
				 * many threads add names at this moment.
				 */
				return PTX_TYPE_UNNAMED;
			if (atomic_compare_exchange_strong_explicit(
				    &names->entry[i], &entry, (uint64_t)h << 32 | cell,
				    memory_order_acq_rel, memory_order_acquire))
				return PTX_TYPE_FIRST_USER + i;
		}
		/* If the exchange has failed, `entry` has become the entry of the other process. */
		if (is_name(names, entry, h, name)) {
			/* The name has a type already, so a claimed cell is not needed. */
			drop_cell(names, cell);
			atomic_store_explicit(&guess, i + 1, memory_order_relaxed);
			return PTX_TYPE_FIRST_USER + i;
		}
	}
	/* All entries are used: TRACE_USER_EVENT_MAX is reached. */
	drop_cell(names, cell);
	return PTX_TYPE_UNNAMED;
}

/*
 * The last byte of the copy becomes a NUL, since another process may change the cell during
 * memcpy().
 */
bool ptx_names_get(const struct ptx_names *names, unsigned type, char *name)
{
	const struct ptx_name_cell *cell;
	uint64_t entry;

	for (size_t i = 0; i < PREDEFINED; i++)
		if (predefined[i].type == type) {
			/* The caller has PTX_TYPE_NAME_BYTES, more than any of these texts. */
			strcpy(name, predefined[i].name);
			return true;
		}
	/* A process without memory for lists has the predefined names only. */
	if (!names || type < PTX_TYPE_FIRST_USER || type >= PTX_TYPE_FIRST_USER + PTX_NAMES)
		return false;
	/* The acquire order pairs with the exchange that has added the entry. */
	entry = atomic_load_explicit(&names->entry[type - PTX_TYPE_FIRST_USER],
				     memory_order_acquire);
	cell = cell_of(names, entry);
	if (!cell)
		return false;
	/* The whole cell is copied, because the text may lack its NUL. */
	memcpy(name, cell->name, PTX_TYPE_NAME_BYTES);
	name[PTX_TYPE_NAME_BYTES - 1] = '\0';
	return true;
}

/*
 * The predefined types are 1 to 8 and the unnamed type. The types of the entries follow, up to the
 * first empty entry.
 */
unsigned ptx_names_next(const struct ptx_names *names, unsigned type)
{
	unsigned next = type + 1;

	/* There are no types between 8 and the unnamed type. */
	if (next > 8 && next < PTX_TYPE_UNNAMED)
		next = PTX_TYPE_UNNAMED;
	/* Predefined types have no entry. */
	if (next < PTX_TYPE_FIRST_USER)
		return next;
	if (names && next < PTX_TYPE_FIRST_USER + PTX_NAMES &&
	    atomic_load_explicit(&names->entry[next - PTX_TYPE_FIRST_USER], memory_order_acquire))
		return next;
	return 0;
}

/*
 * There are two cases. The list `to` may be new: it is not published yet and belongs to this
 * process alone. Or `to` is the list of a backing file, which lacks only the newest entries of
 * `from`. In both cases cell i of `to` belongs to entry i.
 */
void ptx_names_copy(struct ptx_names *to, const struct ptx_names *from)
{
	for (unsigned i = 0; i < PTX_NAMES; i++) {
		uint64_t entry = atomic_load_explicit(&from->entry[i], memory_order_acquire);
		const struct ptx_name_cell *cell = cell_of(from, entry);

		if (!cell)
			break;
		/* The copy gets its NUL even if the original lacks one. */
		memcpy(to->cell[i].name, cell->name, PTX_TYPE_NAME_BYTES);
		to->cell[i].name[PTX_TYPE_NAME_BYTES - 1] = '\0';
		/* The release store of the entry below publishes the cell. */
		atomic_store_explicit(&to->cell[i].claimed, 1, memory_order_relaxed);
		atomic_store_explicit(&to->entry[i], (entry & ~UINT64_C(0xffffffff)) | (i + 1),
				      memory_order_release);
	}
}

/*
 * Opens the names in the order of their types, so in an empty list each name gets the same type as
 * in `from`.
 */
bool ptx_names_merge(struct ptx_names *to, const struct ptx_names *from)
{
	char name[PTX_TYPE_NAME_BYTES];

	/*
	 * Only the names of the program are merged, because all lists have the same predefined
	 * names.
	 */
	for (unsigned type = ptx_names_next(from, PTX_TYPE_UNNAMED); type;
	     type = ptx_names_next(from, type))
		/* If another process has damaged a text, the name may get another type. */
		if (!ptx_names_get(from, type, name) || ptx_names_open(to, name) != type)
			return false;
	return true;
}
