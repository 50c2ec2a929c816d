/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cursor/stored_private.h - an opened log, for the files that implement cursor/stored.h.
 *
 * stored_open.c examines the file and reads the description of a complete log. stored_repair.c
 * replaces a damaged header, and stored_recover.c finds the content of a log that was not
 * completed. stored.c steps through the events. stored_seek.c finds the block to begin with, and
 * stored_until.c finds the block to end with. stored_damage.c counts damaged parts.
 *
 * Words of log/FORMAT that the files of cursor/ use: in a sequence each block begins where the
 * previous block ends. In a log of slots (policy LOOP) each DATA block has a slot of constant size,
 * and the areas for names and lists are before the slots. An INDEX block has the places of DATA
 * blocks, and TOP has the places of the INDEX blocks. A writer that completes a log adds the tail:
 * the last INDEX blocks, TOP, names, lists, LEDGER and END. The closing area is the part of the
 * header that the writer changes when it ends. The window (log/read_scan.h) is the part of the file
 * that was read last. A rule such as R5 is a rule of log/FORMAT.
 *
 * Threads   one caller at a time for each opened log, as for stored.h.
 */
#ifndef PTX_CURSOR_STORED_PRIVATE_H
#define PTX_CURSOR_STORED_PRIVATE_H

#include "cursor/stored.h"
#include "log/read_beside.h"
#include "log/read_scan.h"

/*
 * A DATA block that belongs to a log of slots. `offset` is the offset of the block, and time_max is
 * the greatest time in this block and in all blocks before it. The other members are those of the
 * block's header; `records` is set only when a log is recovered.
 */
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
	bool any_number;        /* after a seek, the block that is read next may have any number */
	uint64_t next_offset;   /* sequence: where the next block begins */
	uint64_t next_number;
	uint64_t data_end;      /* where the blocks end; END of a complete log begins here */
	uint64_t tail;          /* in a completed log of slots: the offset of TOP */
	size_t next_slot;       /* in a log of slots: index into slot[] */
	int64_t until_ns;       /* the caller excludes younger events */
	/* sequence: all events of blocks that begin behind this offset are younger than until_ns */
	uint64_t stop_offset;
	/* in a log of slots: all events of blocks from this index on are younger than until_ns */
	size_t stop_slot;
	/* number of damaged parts that were found since ptx_stored_rewind() */
	uint64_t damaged_parts;
	bool ended;             /* the cursor has reached the end of the log */
	const char *damage;
	/*
	 * NULL if the header is valid; otherwise the reason why the header is damaged. The cursor
	 * uses those values of the damaged header that are possible.
	 */
	const char *header_damage;

	struct ptx_stored_slot *slot; /* in a log of slots: its blocks, oldest first */
	size_t slots;
	struct ptx_log_place *top;    /* the places of the INDEX blocks */
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

/*
 * For salvage (FORMAT R8): replaces the damaged header by a header that is good enough to read the
 * blocks.
 */
void ptx_stored_repair(struct ptx_stored *stored);

/*
 * Reads the payload of a DATA block whose header was found. Returns false if the payload is not
 * valid.
 */
bool ptx_stored_read_payload(struct ptx_stored *stored, const struct ptx_log_found *found);

/*
 * Find the blocks, names, lists and sum of a log that was not completed. The first function
 * is for a sequence (FORMAT R5) and also finds the index and the ledger. The second function is for
 * slots (FORMAT R6). Both return 0 or ENOMEM.
 */
int ptx_stored_recover_sequence(struct ptx_stored *stored);
int ptx_stored_recover_slots(struct ptx_stored *stored);

/*
 * For a log of slots: visits the blocks of the names areas, then those of the lists area. The visit
 * moves the window, so a payload that was in the window is no longer valid.
 */
static inline void ptx_stored_visit_beside(struct ptx_stored *stored, ptx_log_visit *visit,
					   void *arg)
{
	ptx_log_visit_names(&stored->window, &stored->header, stored->slots != 0, visit, arg);
	ptx_log_visit_lists(&stored->window, &stored->header, visit, arg);
}

/*
 * Makes room for one more element in an array. The parameter `array` is the address of a pointer to
 * the array. Each element has `size` bytes, and `count` elements are used. If there is no room, the
 * function doubles the array, and *max becomes the new number of elements. If there is no memory,
 * the function returns false, and the array is unchanged.
 */
bool ptx_stored_room(void *array, size_t size, size_t count, size_t *max);

#endif
