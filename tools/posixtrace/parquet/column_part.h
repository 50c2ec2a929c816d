/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* column_part.h - functions of column.c, which collects values, for chunk.c, which writes them. */
#ifndef POSIXTRACE_PARQUET_COLUMN_PART_H
#define POSIXTRACE_PARQUET_COLUMN_PART_H

#include "parquet/column.h"

/*
 * Adds the rows before the row "row" that the column does not have yet. These rows have no value.
 * Returns false if memory is lacking.
 */
bool column_skip_to(struct column *column, size_t row);
/* Removes all rows. */
void column_clear(struct column *column);

#endif
