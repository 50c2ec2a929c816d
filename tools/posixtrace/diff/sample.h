/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sample.h - what of a log can be compared with another: how often each event type came, and how
 * long each span took, as a whole and in SAMPLE_PARTS parts, which say how much both vary by
 * themselves.
 *
 * Event types are counted in parts of the log's time; of spans each part has as many. The log is
 * read twice.
 *
 * Memory    a histogram and a hundred numbers for each event type and span.
 */
#ifndef POSIXTRACE_DIFF_SAMPLE_H
#define POSIXTRACE_DIFF_SAMPLE_H

#include "choose/reading.h"
#include "spans/histogram.h"
#include "spans/lost.h"
#include "spans/pairing.h"

#define SAMPLE_PARTS 32

enum sample_quantile { SAMPLE_P50, SAMPLE_P90, SAMPLE_P99, SAMPLE_QUANTILES };

extern const double sample_quantile[SAMPLE_QUANTILES];
extern const char *const sample_quantile_name[SAMPLE_QUANTILES];

struct sample_type {
	char *name;
	uint64_t count, part[SAMPLE_PARTS];
	uint64_t lost;                     /* by the ledger */
	uint64_t untraced;                 /* at most: see shimloss.h */
};

struct sample_series {
	const struct series *series;
	uint64_t count;                    /* when the log was read once */
	uint64_t done;                     /* the second time */
	uint64_t lost;                     /* events of the types that make it */
	struct histogram all, part;
	double quantile[SAMPLE_QUANTILES][SAMPLE_PARTS];
};

struct sample {
	struct logfile log;
	struct wanted wanted;
	struct pairing pairing;
	uint64_t events;
	struct lost lost;
	int64_t first_ns, last_ns;
	struct sample_type *type;          /* by the log's type index */
	size_t types;
	struct sample_series *series;
	size_t count;
	bool second;                       /* the log is read the second time */
	int err;
};

/*
 * The log, its wanted events, and the pairs of --pair. TOOL_OK or TOOL_DAMAGED, which is
 * comparable; else it has said what is wrong. To be ended in every case.
 */
int sample_take(struct sample *sample, const char *path);
void sample_fini(struct sample *sample);

/* A part has enough spans for this. */
bool sample_has(const struct sample_series *series, enum sample_quantile quantile);

/* Of its log, from first to last event. */
double sample_seconds(const struct sample *sample);

#endif
