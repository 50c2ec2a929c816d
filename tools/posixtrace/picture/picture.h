/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * picture.h - what pictures of a log are drawn from: its threads as rows, its events as points and
 * spans on one axis of time, where events are missing, and how long spans took.
 *
 * Points, spans that are shorter than a bin, and spans that no lane has room for are counted in
 * bins: a pyramid of levels, each with a quarter of the bins of the one below. Whoever draws takes
 * the level whose bins are about a pixel, and from the items only the spans that are longer; those
 * of a lane do not overlap, so that there are no more of them than pixels.
 *
 * Memory    PICTURE_ROWS threads have a row of their own, the others one together; at most
 *           PICTURE_BINS_ALL bins are counted in; as many points and spans are kept as the caller
 *           says, of more spans the longest, of more points none; PICTURE_BANDS times without
 *           events, further ones are part of the last.
 */
#ifndef POSIXTRACE_PICTURE_PICTURE_H
#define POSIXTRACE_PICTURE_PICTURE_H

#include "base/table.h"
#include "choose/reading.h"
#include "log/gaps.h"
#include "log/program.h"
#include "spans/histogram.h"
#include "spans/pairing.h"

#define PICTURE_ROWS     512
#define PICTURE_BANDS    10000
#define PICTURE_LEVELS   8
#define PICTURE_BINS_ALL (1u << 21) /* of the lowest level, of all rows */
#define PICTURE_LANES    12         /* of spans that overlap on a row; others are crowded out */

struct picture_type {
	const struct log_type *type;
	uint64_t count;
};

struct picture_series {
	const struct series *series;
	struct histogram time;
};

struct picture_row {
	pid_t pid, tid;
	uint64_t points, spans;    /* of the log, kept or not */
	unsigned lanes;
	uint64_t thread;           /* its pthread_t, and when it was last heard of */
	int64_t last_ns;
	char name[PROGRAM_NAME_BYTES]; /* its own, or of a first thread the program's; or empty */
	size_t index;              /* where it is shown: by process and thread */
};

/* What comes most often is found by votes: each one for another takes one away. */
struct picture_bin {
	uint32_t points, spans;
	uint16_t type, type_votes;
	uint16_t series, series_votes;
};

struct picture_point {
	int64_t time_ns;
	uint16_t row, type;
};

struct picture_span {
	int64_t begin_ns;
	uint64_t time_ns;
	uint16_t row, series;
	uint8_t lane;              /* PICTURE_LANES: crowded out */
};

struct picture {
	struct logfile log;
	struct wanted wanted;
	struct pairing pairing;
	struct posix_trace_ledger_np ledger;
	uint64_t events, spans;
	int64_t first_ns, last_ns;     /* of events */
	int64_t begin_ns;              /* of the axis, which ends at last_ns */
	uint64_t length_ns;            /* of it, at least 1 */
	struct picture_type *type;     /* by the log's type index */
	size_t types;
	struct picture_series *series;
	size_t count;
	struct picture_row *row;       /* as they came; the last one may be of the others */
	size_t rows;
	struct table of_row;           /* finds them */
	bool has_others;
	struct gap *band;              /* times without events */
	size_t bands;
	struct gaps gaps;
	uint64_t lengths[64];          /* spans by the power of two of their length */
	/* the second time */
	bool second;
	size_t limit;                  /* of points, and of spans */
	size_t bins, levels;           /* of the lowest level; 0: no levels */
	struct picture_bin *level[PICTURE_LEVELS]; /* row by row, as they are shown */
	struct picture_point *point;
	struct picture_span *span;
	size_t kept_points, kept_spans;
	uint64_t least_ns;             /* shorter spans are not kept */
	int err;
};

/*
 * Reads the log, whose options are in wanted and pairing, twice. bins: of the lowest level, a power
 * of four, made less where there are many rows. TOOL_OK or TOOL_DAMAGED: there is a picture; else
 * it has been said. To be ended in every case.
 */
int picture_take(struct picture *picture, const char *path, size_t bins, size_t limit);
void picture_fini(struct picture *picture);

/* rows.c */
bool rows_init(struct picture *picture);
struct picture_row *rows_find(struct picture *picture, pid_t pid, pid_t tid);
void rows_sort(struct picture *picture);

/*
 * names.c: what an event says of its thread's program; gives the rows their names; what one is
 * called, with its process and thread.
 */
void rows_program(struct picture_row *row, const struct log_type *type,
		  const struct posix_trace_event_np *event);
void rows_name(struct picture *picture);
void rows_label(const struct picture_row *row, char *text, size_t size);

/* bands.c */
void bands_event(struct picture *picture, const struct posix_trace_event_np *event);
void bands_end(struct picture *picture);
const char *bands_name(enum gap_kind kind);

/* pyramid.c: the bins of a row on a level; how long one is. */
bool pyramid_init(struct picture *picture, size_t bins);
size_t pyramid_bins(const struct picture *picture, size_t level);
double pyramid_width_ns(const struct picture *picture, size_t level);
struct picture_bin *pyramid_row(const struct picture *picture, size_t level, size_t row);
void pyramid_point(struct picture *picture, size_t row, uint16_t type, int64_t time_ns);
/* On the levels on which it is not drawn itself; one that is crowded out, on the others, too. */
void pyramid_span(struct picture *picture, const struct picture_span *span);
void pyramid_crowded(struct picture *picture, const struct picture_span *span);

/* items.c: points by row and time; spans by row and begin, with lanes. */
bool items_sort(struct picture *picture);

#endif
