/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * metrics.h - the counts of the agent as text for Prometheus (format 0.0.4): in a file for the
 * textfile collector of node_exporter, or by HTTP.
 *
 * All counts only grow while the agent runs, also when processes end. Labels have the names of
 * sections, event types and spans, with ? for bytes that are no printable ASCII. The number of
 * series is bounded; further ones are counted in the series "other". One thread uses a struct.
 */
#ifndef POSIXTRACE_AGENT_METRICS_H
#define POSIXTRACE_AGENT_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace_np.h>

#define METRICS_NAME	128  /* bytes of a label */
#define METRICS_SERIES	4096 /* of event types, and as many of spans */
#define METRICS_BUCKETS 8    /* 1 us, 10 us, ... 10 s */

/* The events of a section. */
struct metrics_record {
	char record[METRICS_NAME];
	uint64_t events;
	uint64_t lost[POSIX_TRACE_LOST_CAUSES_NP];
};

/* The events of one type, or the spans of one name, in a section. */
struct metrics_series {
	char record[METRICS_NAME], name[METRICS_NAME];
	uint64_t count;
	uint64_t bucket[METRICS_BUCKETS]; /* not cumulative */
	double seconds;
};

struct metrics_list {
	struct metrics_series *series;
	size_t count;
};

struct metrics {
	struct metrics_record *record;
	size_t records;
	struct metrics_list types, spans;
	int64_t written_ns; /* CLOCK_MONOTONIC: when the file was written last */
	int listener;	    /* -1: none */
	char *address;	    /* of the configuration for which it was opened */
};

/* Each returns NULL without memory. A pointer is valid until the next one is requested. */
struct metrics_record *metrics_record_of(struct metrics *metrics, const char *record);
/* Stores the index of the series in the list. Returns false without memory. */
bool metrics_find(struct metrics_list *list, const char *record, const char *name, size_t *index);

/* Adds a span to a series of spans. */
void metrics_add_span(struct metrics_series *series, uint64_t time_ns);

/* Frees the counts and closes the port. The structure is empty then. */
void metrics_fini(struct metrics *metrics);

struct agent;

/* Returns the text, which the caller frees; NULL without memory. */
char *metrics_text(struct agent *agent, size_t *len);

/* Writes the file of the configuration if it is due. Prints errors. */
void metrics_write(struct agent *agent);
/*
 * Removes the file at the end of the agent, or when the configuration has another one, so that no
 * collector reads old values.
 */
void metrics_remove(struct agent *agent);

/* In metrics_serve.c. */

/*
 * Opens the port of the configuration, or closes it if the configuration has none any more. Returns
 * an exit status after a message.
 */
int metrics_listen(struct agent *agent);
/* Answers one client. */
void metrics_serve(struct agent *agent);

#endif
