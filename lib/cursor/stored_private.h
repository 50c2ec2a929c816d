/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cursor/stored_private.h - an opened log, for the files that implement cursor/stored.h.
 *
 * stored_open.c finds out what the log is, stored_repair.c where its header cannot say, and
 * stored_recover.c what is in it when its writer could not; stored.c steps; stored_seek.c and
 * stored_until.c find where to begin and to stop; stored_damage.c counts what is wrong.
 */
#ifndef PTX_CURSOR_STORED_PRIVATE_H
#define PTX_CURSOR_STORED_PRIVATE_H

#include "cursor/stored.h"
#include "log/read_beside.h"
#include "log/read_scan.h"

/* A block of a LOOP log that counts. */
struct ptx_stored_slot {
	uint64_t offset;
	uint64_t number;
	uint64_t first_record;
	int64_t time_min;
	int64_t time_max;
	uint32_t records;
};

struct ptx_stored {
	/* Where the next event is: one line is touched for an event. */
	const uint8_t *at;
	const uint8_t *end;
	const struct ptx_log_source *source;
	bool gap;

	bool salvage;
	bool complete;          /* it has its END block */
	bool live;              /* its writer may still add to it */
	bool any_number;        /* the next block may have any number: after a seek */
	uint64_t next_offset;   /* sequence: where the next block begins */
	uint64_t next_number;
	uint64_t data_end;      /* sequence: where the blocks end */
	uint64_t tail;          /* complete: where TOP is */
	size_t next_slot;       /* slots: index into slot[] */
	int64_t until_ns;       /* younger events are not wanted */
	uint64_t stop_offset;   /* sequence: no wanted block begins behind it */
	size_t stop_slot;       /* slots: none from this one on is wanted */
	uint64_t damaged_parts; /* met since the beginning */
	bool ended;             /* the end of the log was reached */
	const char *damage;
	/* what is wrong with the header, of which as much is used as can be */
	const char *header_damage;

	struct ptx_stored_slot *slot; /* slots: what counts, oldest first */
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
	bool has_total;         /* of the ledger only the total is known, from the header */
	struct ptx_log_known names;
	struct ptx_read_lists said;
};

static inline bool ptx_stored_is_sequence(const struct ptx_stored *stored)
{
	return stored->header.arrangement == PTX_LOG_SEQUENCE;
}

/* Salvage: makes of a damaged header one with which the blocks can be read. */
void ptx_stored_repair(struct ptx_stored *stored);

/* Takes the next block that counts, with events; false at the end or at damage. */
bool ptx_stored_next_block(struct ptx_stored *stored);

/* Takes a DATA block that was found: the next event is its first. */
bool ptx_stored_take(struct ptx_stored *stored, const struct ptx_log_found *found);

/* The log was not completed: finds blocks, names, index and sum. ENOMEM. */
int ptx_stored_recover_sequence(struct ptx_stored *stored);
int ptx_stored_recover_slots(struct ptx_stored *stored);

/* Slots: visits the names areas, then the lists area. Uses the window. */
static inline void ptx_stored_visit_beside(struct ptx_stored *stored, ptx_log_visit *visit,
					   void *arg)
{
	ptx_log_visit_names(&stored->window, &stored->header, stored->slots != 0, visit, arg);
	ptx_log_visit_lists(&stored->window, &stored->header, visit, arg);
}

/* With room for one more in *array, of *count elements; doubles. */
bool ptx_stored_room(void *array, size_t size, size_t count, size_t *max);

#endif
