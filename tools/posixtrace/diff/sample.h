/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sample.h - the figures of a log that can be compared with the figures of another log. They are
 * the number of events of each type and the durations of each span, both for the whole log and for
 * each of SAMPLE_PARTS parts. The parts show how much these figures vary by chance.
 *
 * For event types, the parts are equally long. For spans, each part has the same number of spans.
 * The log is read twice.
 *
 * The memory is about a hundred numbers for each event type and span, and two histograms for each
 * span.
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
	uint64_t lost;                     /* lost events, according to the ledger */
	/* upper bound for the number of untraced calls (shimloss.h) */
	uint64_t untraced;
};

struct sample_series {
	const struct series *series;
	uint64_t count;                    /* spans in the first reading */
	uint64_t done;                     /* spans in the second reading so far */
	uint64_t lost;                     /* lost events of the types of this series */
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
	struct sample_type *type;          /* the index is the type's index in the log */
	size_t types;
	struct sample_series *series;
	size_t count;
	bool second;                       /* true during the second reading */
	int err;
};

/*
 * Reads the log. The caller must set the member "wanted" and the pairs of --pair before the call.
 * After TOOL_OK or TOOL_DAMAGED the sample can be compared. Otherwise the function has printed an
 * error. The caller must call sample_fini() in any case.
 */
int sample_take(struct sample *sample, const char *path);
void sample_fini(struct sample *sample);

/* Returns true if each part has enough spans for this quantile. */
bool sample_has(const struct sample_series *series, enum sample_quantile quantile);

/* Returns the time from the first to the last event in seconds. */
double sample_seconds(const struct sample *sample);

#endif
