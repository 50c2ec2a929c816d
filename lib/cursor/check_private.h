/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cursor/check_private.h - a check in progress.
 *
 * check.c begins and ends it, check_blocks.c judges blocks, check_walk.c leads from block to
 * block in both arrangements.
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
	struct ptx_stored *log;  /* opened for salvage: its header, its window, its slots */
	struct ptx_log_sum sum;  /* of the DATA blocks found */
	struct ptx_log_tally tally;
	struct ptx_ledger ledger; /* as the LEDGER block has it */
	bool has_ledger;
	bool damaged;            /* something was missing or wrong: counts cannot agree */
	bool any_block;
	uint64_t number[PTX_LOG_TYPES]; /* expected next, of a type */
	uint64_t next_record;    /* first_record expected of the next DATA block */
	uint64_t named[PTX_TYPE_MAX / 64];
	int64_t time_top;
	/* What the next INDEX block, and TOP, should say. */
	struct ptx_log_place *place;
	size_t places, places_max;
	size_t indexed; /* of them, by INDEX blocks so far */
	struct ptx_log_place *top;
	size_t tops, tops_max;
	int err;                 /* ENOMEM */
};

void ptx_check_fault(struct ptx_check *check, uint64_t offset, uint64_t bytes,
		     const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Judges a block with a good header; false when its payload is bad. */
bool ptx_check_block(struct ptx_check *check, const struct ptx_log_found *found);

/* What END says, against what was found. */
void ptx_check_sum(struct ptx_check *check, uint64_t offset, const struct ptx_log_sum *sum);

void ptx_check_sequence(struct ptx_check *check);
void ptx_check_slots(struct ptx_check *check);

#endif
