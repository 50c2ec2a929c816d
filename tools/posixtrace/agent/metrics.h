/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * metrics.h - collects the counts of the agent and publishes them as text for Prometheus (format
 * 0.0.4), in a file for the textfile collector of node_exporter, or by HTTP.
 *
 * While the agent runs, a count never decreases, even when a process ends. The values of labels are
 * the names of sections, event types and spans, with ? for quotation marks, backslashes and bytes
 * that are not printable ASCII. A list has at most METRICS_SERIES series, and then a series "other"
 * for each section, which counts the events of all further names of this section.
 * Only one thread uses a struct metrics.
 */
#ifndef POSIXTRACE_AGENT_METRICS_H
#define POSIXTRACE_AGENT_METRICS_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace_np.h>

#define METRICS_NAME	128  /* bytes of a label */
/* number of series of event types, and also of series of spans, from which "other" is used */
#define METRICS_SERIES	4096
#define METRICS_BUCKETS 8    /* number of buckets; their upper bounds are 1 us, 10 us, ... 10 s */

#define METRICS_CLIENTS 16   /* greatest number of connections at the same time */
#define METRICS_POLLS	(METRICS_CLIENTS + 1)

struct metrics_client;

/* The counts of a section. */
struct metrics_record {
	char record[METRICS_NAME];
	uint64_t events;
	uint64_t lost[POSIX_TRACE_LOST_CAUSES_NP];
};

/* The events of one type, or the spans of one name, in a section. */
struct metrics_series {
	char record[METRICS_NAME], name[METRICS_NAME];
	uint64_t count;
	uint64_t bucket[METRICS_BUCKETS]; /* a bucket does not contain the lower buckets */
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
	int64_t written_ns; /* CLOCK_MONOTONIC: time of the last write of the file; 0: never */
	int write_err;	    /* the error of the last write of the file, or 0 */
	int64_t said_ns;    /* CLOCK_MONOTONIC: when this error was printed */
	int listener;	    /* -1: none */
	char *address;	    /* the value of the key "listen" when "listener" was opened */
	int listen_err;     /* the error of the last attempt to open the listener, or 0 */
	struct metrics_client *client[METRICS_CLIENTS];
	size_t clients;
};

/*
 * Returns the counts of the section with this name. If the section has no counts yet, adds an
 * element for it. Returns NULL if memory is lacking. The pointer is valid until the next call.
 */
struct metrics_record *metrics_record_of(struct metrics *metrics, const char *record);
/*
 * Stores the index that the series has in the list, and adds the series if it is missing. Returns
 * false if memory is lacking.
 */
bool metrics_find(struct metrics_list *list, const char *record, const char *name, size_t *index);

/* Adds a span to a series of spans. */
void metrics_add_span(struct metrics_series *series, uint64_t time_ns);

/* Frees the counts and closes the port. The struct is empty afterwards. */
void metrics_fini(struct metrics *metrics);

struct agent;

/* Returns the text of all metrics, which the caller frees, or NULL if memory is lacking. */
char *metrics_text(struct agent *agent, size_t *len);

/*
 * If the configuration has a file for metrics, and the last write is at least a second ago, writes
 * the file. Prints errors.
 */
void metrics_write(struct agent *agent);
/*
 * Removes the file, so that no collector reads old values. This function is called when the agent
 * ends, and when a new configuration has another file.
 */
void metrics_remove(struct agent *agent);

/* In metrics_serve.c. */

/*
 * Opens the port of the configuration. If the configuration no longer has a port, closes the
 * socket. Returns TOOL_OK, or TOOL_FAILURE after it printed an error.
 */
int metrics_listen(struct agent *agent);
/* Closes the port and all connections. */
void metrics_close(struct metrics *metrics);
/*
 * Stores the descriptors of the port and of the clients for poll(2). Returns their number, which is
 * 0 if there is no port.
 */
size_t metrics_poll(const struct agent *agent, struct pollfd poller[METRICS_POLLS]);
/*
 * Returns the time by CLOCK_MONOTONIC at which metrics_serve() must close the oldest connection, or
 * INT64_MAX if there is none.
 */
int64_t metrics_end_ns(const struct metrics *metrics);
/*
 * Accepts a client, and does for all clients what is possible without waiting. "poller" is from
 * metrics_poll(), after poll(2). There must be a port.
 */
void metrics_serve(struct agent *agent, const struct pollfd poller[METRICS_POLLS]);

#endif
