/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * picture.h - the data of pictures of a log. Its threads are rows, and its events are points and
 * spans on one axis of time. The data also has the times for which events are missing, and the
 * durations of spans.
 *
 * Points, spans shorter than a bin, and spans without a lane are counted in bins. The bins form a
 * pyramid of levels, each with a quarter of the bins of the level below. A drawing uses the level
 * whose bins are about as wide as a pixel. Besides these bins it draws only the spans that are
 * longer than a bin. Spans of a lane do not overlap, so a lane has at most as many of these spans
 * as pixels.
 *
 * A picture may have several logs. They are read one after the other; picture->current is the log
 * that is being read. Rows, bands, counters and links belong to a log. Types of different logs with
 * the same name are one type of the picture. Series of the same name and kind are one series, too.
 *
 * Memory is bounded. At most PICTURE_ROWS threads have their own rows. All other threads share one
 * row. The lowest level has at most PICTURE_BINS_ALL bins, except with very many rows. The caller
 * limits the points and spans that are kept. If there are more points than the limit, no point is
 * kept. If there are more spans than the limit, the longest spans are kept. At most about
 * PICTURE_BANDS times are marked as bands; further times extend the last band of their log.
 */
#ifndef POSIXTRACE_PICTURE_PICTURE_H
#define POSIXTRACE_PICTURE_PICTURE_H

#include "base/table.h"
#include "choose/reading.h"
#include "log/gaps.h"
#include "log/program.h"
#include "log/thread_name.h"
#include "picture/curves.h"
#include "picture/details.h"
#include "picture/flames.h"
#include "picture/runs.h"
#include "picture/states.h"
#include "spans/histogram.h"
#include "spans/pairing.h"
#include "why/links.h"

#define PICTURE_ROWS     512
#define PICTURE_BANDS    10000
#define PICTURE_LEVELS   8
/* greatest number of bins of the lowest level, of all rows together */
#define PICTURE_BINS_ALL (1u << 21)
/* lanes for overlapping spans of a row; further spans are counted */
#define PICTURE_LANES    12

struct picture_type {
	const struct log_type *type;
	uint64_t count;
	uint64_t errors;           /* events with an error number; the second reading counts them */
};

struct picture_series {
	const struct series *series;
	struct histogram time;
};

/* One of the logs that are drawn. */
struct picture_log {
	struct logfile log;
	/* the last part of the path, or the path if that is not unique */
	const char *name;
	struct pairing pairing;
	struct posix_trace_ledger_np ledger;
	struct gaps gaps;
	struct stacks stacks;
	struct links links;            /* waits for locks, and their holders */
	struct counted_type {
		uint16_t type;         /* index in the picture */
		bool has_counters;
		bool has_stack;        /* events are stacks, or refer to one */
		bool has_state;        /* events change or explain states of threads */
		struct details_plan details;
	} *type;                       /* by index in the log; the last: for types not listed */
	uint32_t *series;              /* index in the picture + 1, by the index in the pairing */
	size_t count;
	int64_t shift_ns;              /* this is added to the log's times */
	int64_t first_ns, last_ns;     /* times of events, after the addition */
	/* the greatest error of a time when compared with another log; -1: not known */
	int64_t error_ns;
	uint64_t events, spans;
	pid_t attached;                /* the process to which attach attached; 0: none */
	char attached_name[PROGRAM_NAME_BYTES]; /* the program that it executed */
};

struct picture_band {
	struct gap gap;                /* the gap; shift_ns is already added to its times */
	uint16_t log;
};

struct picture_row {
	uint16_t log;
	pid_t pid, tid;
	uint64_t points, spans;    /* their numbers in the log, kept or not */
	unsigned lanes;
	uint64_t thread;           /* the thread's pthread_t; last_ns: the time of its last event */
	int64_t last_ns;
	struct thread_life life;
	/* the name of the thread, or else the name of the program, or else "" */
	char name[PROGRAM_NAME_BYTES];
	size_t index;              /* the row's place in the order of process and thread */
};

/*
 * The type that a bin shows is found by votes of its points: a vote for another type removes one
 * vote. So if more than half of the points have one type, this type is found. The same is true for
 * spans and their series.
 */
struct picture_bin {
	uint32_t points, spans;
	uint16_t type, type_votes;
	uint16_t series, series_votes;
};

/* A span that the second reading found. */
struct picture_span {
	uint64_t begin_ns, time_ns;    /* begin_ns counts from the beginning of the axis */
	uint16_t row, series;
};

struct picture {
	struct picture_log *log, *current;
	size_t logs;
	struct wanted wanted;
	uint64_t lost;                 /* number of lost events of all logs */
	uint64_t events, spans;
	int64_t begin_ns;              /* begin of the axis */
	uint64_t length_ns;            /* length of the axis, at least 1 */
	struct picture_type *type;     /* the types of all logs; last: types not listed */
	size_t types;
	struct picture_series *series;
	size_t count;
	/* the threads in the order of their appearance; the last row is for all other threads */
	struct picture_row *row;
	size_t rows;
	struct table of_row;           /* finds a row */
	struct picture_row *recent;    /* the row that was found last; NULL: none */
	bool has_others;
	struct picture_band *band;     /* times for which events are missing */
	size_t bands;
	uint64_t lengths[64];          /* numbers of spans by the power of two of their length */
	/* For the second reading: */
	bool second;
	size_t limit;                  /* greatest number of points, and of spans, that are kept */
	size_t bins, levels;           /* bins of the lowest level; the number of levels */
	double width_ns[PICTURE_LEVELS]; /* width of a bin of each level */
	/* the bins row by row, in the order in which the rows are shown */
	struct picture_bin *level[PICTURE_LEVELS];
	struct runs points;            /* kind: the type */
	struct runs spans_kept;        /* value: the length; kind: the series */
	unsigned char *lane;           /* the lane of each kept span; PICTURE_LANES: none */
	uint64_t least_ns;             /* shorter spans are not kept */
	struct flames flames;          /* events with a call stack; sorted by row and time */
	struct curves curves;          /* counters */
	struct details details;        /* fields of events; none are kept if its limit is 0 */
	const struct reading *reading; /* the event that is read */
	struct states states;          /* states of the threads that have their own row */
	int err;
};

#define PICTURE_LOGS READING_LOGS

/*
 * Opens a log, which is drawn together with the logs that were opened before. The options of the
 * command are in picture->wanted. Returns TOOL_OK, or another status after it printed the error.
 */
int picture_open(struct picture *picture, const char *path);

/*
 * Reads the open logs twice. "bins" is the number of bins of the lowest level, a power of four;
 * with many rows the picture has fewer bins. Returns TOOL_OK or TOOL_DAMAGED with a picture, or
 * another status after it printed the error.
 */
int picture_take(struct picture *picture, size_t bins, size_t limit);

/* Closes the logs and frees the memory, also after an error. */
void picture_fini(struct picture *picture);

/* Returns the index of the current log. */
static inline uint16_t picture_current(const struct picture *picture)
{
	return (uint16_t)(picture->current - picture->log);
}

/*
 * Moves a time of the current log. The log may have any times. If the sum overflows, the result is
 * the least or the greatest time.
 */
static inline int64_t picture_time(const struct picture *picture, int64_t time_ns)
{
	const int64_t shift_ns = picture->current->shift_ns;
	int64_t sum;

	return !__builtin_add_overflow(time_ns, shift_ns, &sum) ? sum :
	       shift_ns < 0 ? INT64_MIN : INT64_MAX;
}

/* Returns the place of a moved time on the axis in nanoseconds; 0 for a time before the axis. */
static inline uint64_t picture_place(const struct picture *picture, int64_t time_ns)
{
	return time_ns < picture->begin_ns ? 0 : (uint64_t)time_ns - (uint64_t)picture->begin_ns;
}

/*
 * In rows.c: rows_find() returns the row of a thread of the current log, and makes the row if it
 * does not exist. If the picture has no room for a new row, it returns the row of the other
 * threads. rows_sort() computes the places.
 */
bool rows_init(struct picture *picture);
struct picture_row *rows_find(struct picture *picture, pid_t pid, pid_t tid);
void rows_sort(struct picture *picture);

/*
 * In names.c: rows_program() reads the program's name from an event, rows_name() names all rows,
 * rows_label() writes a name with process and thread.
 */
void rows_program(struct picture_log *log, struct picture_row *row, const struct log_type *type,
		  const struct posix_trace_event_np *event);
void rows_name(struct picture *picture);
void rows_label(const struct picture_row *row, char *text, size_t size);

/*
 * In bands.c: bands_event() adds the bands that end with an event of the current log. bands_end()
 * adds the band that is still open at the last event of this log. bands_name() returns the kind of
 * a band in words.
 */
void bands_event(struct picture *picture, const struct posix_trace_event_np *event);
void bands_end(struct picture *picture, int64_t last_ns);
const char *bands_name(enum gap_kind kind);

/*
 * In pyramid.c: pyramid_init() makes the levels. pyramid_bins() returns the number of bins of a
 * level, pyramid_row() the bins of a row. pyramid_point() counts a point at a place on the axis.
 * pyramid_span() counts a span, for the levels on which the span itself is not drawn.
 */
bool pyramid_init(struct picture *picture, size_t bins);
size_t pyramid_bins(const struct picture *picture, size_t level);
struct picture_bin *pyramid_row(const struct picture *picture, size_t level, size_t row);
void pyramid_point(struct picture *picture, size_t row, uint16_t type, uint64_t ns);
void pyramid_span(struct picture *picture, const struct picture_span *span);
/*
 * pyramid_build() adds each level to the level above, after the last event. After pyramid_build(),
 * pyramid_crowded() counts a span without a lane, on the levels on which a span with a lane would
 * be drawn.
 */
void pyramid_build(struct picture *picture);
void pyramid_crowded(struct picture *picture, const struct picture_span *span);

/*
 * In items.c: items_arrange() completes the runs of points and spans, assigns lanes to the spans
 * and completes the bins. Returns 0 or ENOMEM.
 */
int items_arrange(struct picture *picture);

#endif
