/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cursor/check_private.h - the state of a check in progress.
 *
 * check.c begins and ends a check. check_walk.c visits the blocks of both arrangements, which are
 * sequence and slots (log/FORMAT 2). check_blocks.c compares each block with the rules of
 * log/FORMAT and with the blocks before it. stored_private.h explains further words of log/FORMAT.
 *
 * Owner     one check has one caller; its state is on the heap.
 * Errors    ENOMEM in check->err ends the visits. Faults of the log are reports, not errors.
 */
#ifndef PTX_CURSOR_CHECK_PRIVATE_H
#define PTX_CURSOR_CHECK_PRIVATE_H

#include "cursor/check.h"
#include "cursor/stored_private.h"
#include "log/format_tally.h"

struct ptx_check {
	void (*report)(void *arg, const struct posix_trace_fault_np *fault);
	void *arg;
	struct posix_trace_check_np *result;
	struct ptx_stored *log;  /* the log, opened for salvage */
	struct ptx_log_sum sum;  /* the sum of the DATA blocks that were found */
	struct ptx_log_tally tally;
	struct ptx_ledger ledger; /* the ledger of the LEDGER block */
	bool has_ledger;
	/* a part of the log is missing or wrong, so counts of the whole log cannot agree */
	bool damaged;
	uint64_t number[PTX_LOG_TYPES]; /* expected number of the next block of each type */
	uint64_t next_record;    /* first_record that the next DATA block should have */
	uint64_t named[PTX_TYPE_MAX / 64];
	int64_t time_top;
	/*
	 * `place` has the entries that the next INDEX blocks should have, one for each DATA block
	 * that was found. `top` has the entries that TOP should have, one for each INDEX block that
	 * was found.
	 */
	struct ptx_log_place *place;
	size_t places, places_max;
	size_t indexed; /* number of elements of `place` that were compared with an INDEX block */
	struct ptx_log_place *top;
	size_t tops, tops_max;
	int err;                 /* ENOMEM */
};

/*
 * Reports a fault at this offset of the file. `bytes` is the length of the part that is wrong, or 0
 * if the fault has no length (blocks are missing there). Both are 0 if the fault concerns the whole
 * log. The reason is formatted as by printf().
 */
void ptx_check_fault(struct ptx_check *check, uint64_t offset, uint64_t bytes,
		     const char *format, ...) __attribute__((format(printf, 4, 5)));

/*
 * Checks a block whose header is valid, and adds the content of the block to the state. Returns
 * false if the payload of the block is not valid.
 */
bool ptx_check_block(struct ptx_check *check, const struct ptx_log_found *found);

/*
 * Compares the sum in the END block with the sum of the blocks that were found. Does nothing if the
 * log is damaged.
 */
void ptx_check_sum(struct ptx_check *check, uint64_t offset, const struct ptx_log_sum *sum);

/* Visit all blocks of the file, in either arrangement. */
void ptx_check_sequence(struct ptx_check *check);
void ptx_check_slots(struct ptx_check *check);

#endif
