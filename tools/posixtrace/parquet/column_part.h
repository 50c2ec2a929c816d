/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* column_part.h - for column.c, which collects values, and chunk.c, which writes them. */
#ifndef POSIXTRACE_PARQUET_COLUMN_PART_H
#define POSIXTRACE_PARQUET_COLUMN_PART_H

#include "parquet/column.h"

/*
 * Adds the rows before this one that the column does not have yet; they have no value. Returns
 * false if memory is lacking.
 */
bool column_skip_to(struct column *column, size_t row);
/* Removes all rows. */
void column_clear(struct column *column);

#endif
