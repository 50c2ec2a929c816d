/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * top.h - what a process does at the moment, counted: event types, latencies, threads, locks,
 * streams.
 *
 * How often a type or thread had events is the ledger's account, exact also where events were lost.
 * Latencies and locks come from the events that were read.
 *
 * Memory    bounded: of more locks than TOP_LOCKS, or more open spans than TOP_OPEN, nothing is
 *           known.
 */
#ifndef POSIXTRACE_TOP_TOP_H
#define POSIXTRACE_TOP_TOP_H

#include <stdbool.h>
#include <stdint.h>
#include <trace_np.h>

#include "live/streams.h"
#include "log/logfile.h"

#define TOP_LOCKS 4096
#define TOP_OPEN  16384 /* a power of two */

#define TOP_LATENCY_STEPS 8 /* of each power of two: a percentile is right to an eighth */

struct top_latency {
	uint64_t count, max_ns, total_ns;
	uint32_t bucket[64 * TOP_LATENCY_STEPS];
};

struct top_type {
	trace_event_id_t id;
	char name[TRACE_EVENT_NAME_MAX + 1];
	uint64_t events, before, lost;
	double rate;
	bool asked;                /* whether it has a schema; it may have one later */
	struct posix_trace_schema_np *schema;
	int time_field, lock_field; /* -1: none */
	struct top_latency *latency; /* of the type's own durations, or of the span that it ends */
};

struct top_thread {
	pid_t pid, tid;
	uint64_t events, before;
	double rate;
};

struct top_lock {
	pid_t pid;
	uint64_t pointer;
	const struct top_type *type; /* of its last event */
	uint64_t waits, total_ns, max_ns;
};

/* A span that began. */
struct top_begin {
	uint64_t key; /* 0: free */
	int64_t time_ns;
};

struct top {
	struct top_type **type; /* as they came */
	size_t types;
	struct top_type **by_id;
	size_t ids;
	struct top_thread *thread;
	size_t threads;
	struct top_lock lock[TOP_LOCKS]; /* a hash table, used up to three quarters */
	size_t locks;
	struct top_begin *open;
	size_t opened;
	struct posix_trace_ledger_np ledger;
	uint64_t events_before;
	double rate;
	double seconds;         /* that all this took */
};

void top_init(struct top *top);
void top_fini(struct top *top);

/* From now on counts begin anew; rates go on. */
void top_reset(struct top *top);

/* The type of that number, made if it is not there; null: no memory. */
struct top_type *top_type(struct top *top, trace_event_id_t id);

/* One event: what it says of latencies and locks. */
void top_event(struct top *top, trace_id_t trid, const struct posix_trace_event_np *event);

/* The least duration that so much of all, from 0 to 1, do not exceed. */
uint64_t top_percentile(const struct top_latency *latency, double part);

/* What is watched. */
struct top_source {
	pid_t pid;              /* 0: a log */
	trace_id_t trid;
	struct logfile log;
	bool ended;             /* the process has */
	int64_t begin_ns, last_ns;
	struct streams streams; /* of the process */
	char program[PROCESS_NAME_BYTES];
};

/* TOOL_OK, or it has said why not. */
int top_open_process(struct top_source *source, pid_t pid, size_t stream_size);
int top_open_log(struct top_source *source, const char *path, struct top *top);
void top_close(struct top_source *source);

/*
 * The events that came, before they are overwritten: TOP_READ_MS is often enough for most
 * processes. 0 or an error number.
 */
#define TOP_READ_MS 50
int top_read(struct top_source *source, struct top *top);

/* That, and the counts since the last time. 0 or an error number. */
int top_update(struct top_source *source, struct top *top);

enum top_view {
	TOP_ALL, TOP_TYPES, TOP_LATENCIES, TOP_THREADS, TOP_LOCKED, TOP_STREAMS, TOP_VIEWS
};

/* What is shown, line by line: the same on paper and on a screen. Text is safe for a terminal. */
struct top_page {
	struct top_page_line {
		char *text;
		bool heading;
	} *line;
	size_t lines;
};

/* rows: of each part, at most. */
void top_page_make(struct top_page *page, const struct top_source *source, const struct top *top,
		   enum top_view view, bool by_total, size_t rows);
void top_page_fini(struct top_page *page);

/* On the terminal, until the user has enough or the process ends. What top exits with. */
int top_screen(struct top_source *source, struct top *top, int64_t delay_ns);

#endif
