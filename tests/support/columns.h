/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * support/columns.h - computes with lines of the loss ledger, column by column. Programs without
 * Check use it, too.
 */
#ifndef PTX_TESTS_COLUMNS_H
#define PTX_TESTS_COLUMNS_H

#include <stdint.h>
#include <string.h>
#include <trace_np.h>

#define LEDGER_COLUMNS (sizeof(struct posix_trace_ledger_np) / sizeof(uint64_t))

static inline uint64_t ledger_lost(const struct posix_trace_ledger_np *line)
{
	uint64_t sum = 0;

	for (int cause = 0; cause < POSIX_TRACE_LOST_CAUSES_NP; cause++)
		sum += line->lost[cause];
	return sum;
}

static inline uint64_t ledger_column(const struct posix_trace_ledger_np *line, size_t i)
{
	uint64_t column[LEDGER_COLUMNS];

	memcpy(column, line, sizeof(column));
	return column[i];
}

static inline void ledger_add(struct posix_trace_ledger_np *sum,
			      const struct posix_trace_ledger_np *line)
{
	uint64_t column[LEDGER_COLUMNS];

	for (size_t i = 0; i < LEDGER_COLUMNS; i++)
		column[i] = ledger_column(sum, i) + ledger_column(line, i);
	memcpy(sum, column, sizeof(column));
}

#endif
