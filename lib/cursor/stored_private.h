/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cursor/stored_private.h - an opened log, for the files that implement cursor/stored.h.
 *
 * stored_open.c examines the file and reads the description of a complete log. stored_repair.c
 * replaces a damaged header, and stored_recover.c finds the content of a log that was not
 * completed. stored.c steps through the events. stored_seek.c and stored_until.c find the blocks at
 * which to begin and to end; stored_damage.c counts damaged parts.
 */
#ifndef PTX_CURSOR_STORED_PRIVATE_H
#define PTX_CURSOR_STORED_PRIVATE_H

#include "cursor/stored.h"
#include "log/read_beside.h"
#include "log/read_scan.h"

/* A block that belongs to a log of slots. */
struct ptx_stored_slot {
	uint64_t offset;
	uint64_t number;
	uint64_t first_record;
	int64_t time_min;
	int64_t time_max;
	uint32_t records;
};

struct ptx_stored {
	struct ptx_stored_here here; /* first, as ptx_stored_next() expects */
	bool salvage;
	bool complete;          /* the log has its END block */
	bool live;              /* a writer may still add blocks */
	bool any_number;        /* after a seek the next block may have any number */
	uint64_t next_offset;   /* sequence: where the next block begins */
	uint64_t next_number;
	uint64_t data_end;      /* sequence: where the blocks end */
	uint64_t tail;          /* if the log is complete: the offset of TOP */
	size_t next_slot;       /* in a log of slots: index into slot[] */
	int64_t until_ns;       /* the caller excludes younger events */
	uint64_t stop_offset;   /* sequence: blocks that begin behind it are not wanted */
	size_t stop_slot;       /* in a log of slots: blocks from this index on are not wanted */
	/* number of damaged parts that were found since ptx_stored_rewind() */
	uint64_t damaged_parts;
	bool ended;             /* the cursor has reached the end of the log */
	const char *damage;
	/*
	 * NULL, or the reason why the header is damaged; the cursor uses those values of the
	 * damaged header that are possible
	 */
	const char *header_damage;

	struct ptx_stored_slot *slot; /* in a log of slots: its blocks, oldest first */
	size_t slots;
	struct ptx_log_place *top;    /* sequence: the INDEX blocks */
	size_t tops;
	size_t tops_max;

	struct ptx_log_window window;
	struct ptx_log_header header;
	struct ptx_log_facts facts;
	struct ptx_log_sum sum;
	struct ptx_ledger ledger;
	bool has_ledger;
	bool has_total;         /* only the ledger's total is known, from the closing area */
	struct ptx_log_known names;
	struct ptx_read_lists lists;
};

_Static_assert(offsetof(struct ptx_stored, here) == 0, "ptx_stored_next() finds the position");

static inline bool ptx_stored_is_sequence(const struct ptx_stored *stored)
{
	return stored->header.arrangement == PTX_LOG_SEQUENCE;
}

/* Salvage (FORMAT R8): replaces a damaged header by one with which the blocks can be read. */
void ptx_stored_repair(struct ptx_stored *stored);

/* Reads the payload of a DATA block that was found. Returns false if the payload is not valid. */
bool ptx_stored_read_payload(struct ptx_stored *stored, const struct ptx_log_found *found);

/*
 * The two functions find the blocks, names, lists, index and sum of a log that was not completed
 * (R5 for a sequence, R6 for slots). They return 0 or ENOMEM.
 */
int ptx_stored_recover_sequence(struct ptx_stored *stored);
int ptx_stored_recover_slots(struct ptx_stored *stored);

/* Slots: visits the names areas, then the lists area. This moves the window. */
static inline void ptx_stored_visit_beside(struct ptx_stored *stored, ptx_log_visit *visit,
					   void *arg)
{
	ptx_log_visit_names(&stored->window, &stored->header, stored->slots != 0, visit, arg);
	ptx_log_visit_lists(&stored->window, &stored->header, visit, arg);
}

/*
 * The parameter `array` is the address of a pointer to an array. The elements of the array have
 * `size` bytes each, and `count` of them are used. Makes room for one more element by doubling;
 * returns false without memory, and the array is then unchanged.
 */
bool ptx_stored_room(void *array, size_t size, size_t count, size_t *max);

#endif
