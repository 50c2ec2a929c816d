/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * curves.h - the values over time of the fields that a schema marks with @counter. Each counter of
 * each process is a curve.
 *
 * The first reading finds the curves and their least and greatest values. The second reading keeps
 * the values as items of runs. If there are more values than the limit, time is divided into bins.
 * Only the first, the least, the greatest and the last value of each bin are kept. If a pixel is at
 * least as wide as a bin, a drawing of these values looks the same as a drawing of all values.
 *
 * Memory is bounded: CURVES_MAX curves are kept, and the values of all further curves are only
 * counted. An infinite value, or a value that is not a number, is only counted in counter.unknown.
 */
#ifndef POSIXTRACE_PICTURE_CURVES_H
#define POSIXTRACE_PICTURE_CURVES_H

#include <string.h>

#include "base/table.h"
#include "log/counters.h"
#include "picture/runs.h"

#define CURVES_MAX  256
#define CURVES_BINS 65536 /* greatest number of bins of a curve */

struct curve {
	pid_t pid;
	uint16_t log, type;        /* indexes of the picture */
	const struct log_type *of;
	struct counter counter;
	/* the values of the current bin so far, in the order of curve_place */
	struct curve_value {
		uint64_t ns;
		double value;
		uint64_t order;    /* the number of the value in the reading */
	} kept[4];
	uint64_t bin, seen;        /* the current bin; number of values in the second reading */
	bool has_bin;
};

struct curves {
	struct curve *curve;
	size_t count;
	struct table of_curve;
	uint64_t values;           /* number of values of all curves */
	uint64_t left_out;         /* values of counters beyond CURVES_MAX */
	double bin_ns;             /* 0: each value is kept */
	/* the kept values; in each item, "row" is the curve's index and "value" is curves_bits() */
	struct runs kept;
	int err;
};

/* Returns true if a type has counters. "schema" may be NULL. */
bool curves_has(const struct posix_trace_schema_np *schema);

/*
 * curves_survey() counts the values of an event in the first reading. curves_keep() keeps the
 * values in the second reading, at a place on the axis. curves_begin() must be called before it.
 * "log" and "type" are indexes of the picture. If memory is lacking, "err" is ENOMEM.
 */
void curves_survey(struct curves *curves, uint16_t log, uint16_t type, const struct log_type *of,
		   const struct posix_trace_event_np *event);
void curves_keep(struct curves *curves, uint16_t log, uint16_t type, const struct log_type *of,
		 const struct posix_trace_event_np *event, uint64_t ns);

/* Decides for an axis of this length which values are kept: each value, or four of each bin. */
void curves_begin(struct curves *curves, uint64_t length_ns, size_t limit);
/* Keeps the values of the last bins. Returns 0 or ENOMEM. */
int curves_end(struct curves *curves);

/*
 * Returns the bits of a double in another order: the lowest byte has the sign. For small integers
 * the higher bytes of the result are zeros. So it needs few bytes in an encoding of variable
 * length.
 */
static inline uint64_t curves_bits(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return __builtin_bswap64(bits);
}

/* Frees the memory. */
void curves_fini(struct curves *curves);

#endif
