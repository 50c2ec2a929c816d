/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * top.h - the current activity of a process in numbers, for event types, latencies, threads, locks
 * and streams.
 *
 * For a process, the numbers of events of types and threads come from the ledger of the stream.
 * They are exact, because the ledger also counts events that were lost. Latencies and locks are
 * computed from the events that were read.
 *
 * Memory is bounded: spans/pairing.h and spans/locks.h define the limits.
 */
#ifndef POSIXTRACE_TOP_TOP_H
#define POSIXTRACE_TOP_TOP_H

#include <stdbool.h>
#include <stdint.h>
#include <trace_np.h>

#include "inject/inject.h"
#include "live/streams.h"
#include "log/logfile.h"
#include "spans/histogram.h"
#include "spans/locks.h"
#include "spans/pairing.h"

struct top_type {
	trace_event_id_t id;
	char name[TRACE_EVENT_NAME_MAX + 1];
	uint64_t events, before, lost; /* 'before': events at the last update */
	double rate;
	/* find_schema() has found the schema, or has looked for it since the last update */
	bool was_looked_up;
	const struct log_type *described; /* the type with its schema; NULL: it has no schema */
	bool is_span;              /* 'time' is of the spans that this type ends, not of calls */
	char *span;                /* the name of these spans */
	struct histogram time;     /* durations, in ns */
	uint64_t total_ns;
};

struct top_thread {
	pid_t pid, tid;
	uint64_t handle;  /* the pthread_t; the name of the thread is the name of the object at
			   * this address */
	uint64_t events, before;
	double rate;
};

struct top {
	struct top_type **type; /* in the order of their first events */
	size_t types;
	struct top_type **by_id;
	size_t ids;
	struct top_thread *thread;
	size_t threads;
	struct pairing pairing;
	struct locks locks;
	uint64_t ordinal;       /* number of the last event */
	struct posix_trace_ledger_np ledger;
	uint64_t events_before;
	double rate;
	double seconds;         /* time of the observation */
};

/*
 * top_init() makes an empty struct top. It returns false if memory is lacking; the caller calls
 * top_fini() in both cases.
 */
bool top_init(struct top *top);
void top_fini(struct top *top);

/* Sets latencies and locks to zero. Rates and numbers of events continue. */
void top_reset(struct top *top);

/*
 * Returns the type with this id and creates it if necessary. Returns NULL if memory is lacking, or
 * if the id is greater than the format of logs permits.
 */
struct top_type *top_type(struct top *top, trace_event_id_t id);

/*
 * Adds an event to the durations and the locks. "log" is the log of the source, which has the types
 * of the events even if the source is a process.
 */
void top_event(struct top *top, struct logfile *log, const struct posix_trace_event_np *event);

/* The state of a thread between two looks at the process. */
struct top_state {
	pid_t pid, tid;           /* as in the events */
	pid_t seen_pid, seen_tid; /* as this process sees them */
	/* the kernel's counts at the look, and when the thread began, in clock ticks after boot */
	uint64_t ran_ns, waited_ns, turns, start;
	int64_t looked_ns;
	char letter;              /* R, S, D ...: the state at the look */
	bool is_known;            /* the thread was seen at two looks */
	double running, ready, blocked; /* shares of the time between the looks; the sum is 1 */
};

struct top_states {
	struct top_state *state;  /* sorted by process and thread */
	size_t count;
	/*
	 * The children that have events. After the end of a child the kernel may give its number to
	 * another process. So the time when the child began, in clock ticks after boot, identifies
	 * the child; 0: it has ended. A later process with this number is a child, too, if the
	 * number gets further events.
	 */
	struct top_child {
		pid_t pid;
		unsigned long long start;
		unsigned long long later; /* start of the later process, 0: there is none */
		bool has_counted;         /* "events" was counted while that process lived */
		uint64_t events;          /* of all processes that had the number */
		unsigned look;            /* the last look that has examined the child */
	} *child;
	size_t children;
	unsigned looks;
};

/*
 * Looks at the threads of a process and of those children of it that have events in "top". The
 * shares concern the time since the look before. Without memory, or if the kernel refuses access or
 * does not count, threads are missing.
 */
void top_states_look(struct top_states *states, pid_t pid, const struct top *top);

/*
 * Returns whether the number still belonged to a child of the process at the last look, and not to
 * a later process. Only the children that top_states_look() examined are known.
 */
bool top_states_has_child(const struct top_states *states, pid_t pid);

/* Returns the state of a thread, or NULL. The pointer is valid until the next look. */
const struct top_state *top_states_find(const struct top_states *states, pid_t pid, pid_t tid);

/* Frees the states. A struct of zeros has none. */
void top_states_fini(struct top_states *states);

/* The process or log that is shown. */
struct top_source {
	pid_t pid;              /* 0: a log */
	trace_id_t trid;
	struct logfile log;     /* if a process is shown: only its stream and its types */
	bool ended;             /* the process has ended */
	int64_t begin_ns, last_ns;
	struct streams streams; /* of the process */
	struct top_states states; /* of the threads of the process */
	char program[PROCESS_NAME_BYTES];
	struct inject inject;   /* of the process */
};

/*
 * These functions open a running process or a log as the source. "families" are the families of
 * calls that the preload library traces, and "stream_size" is in bytes. They return TOOL_OK, or
 * another status after they printed an error; nothing is open then.
 */
int top_open_process(struct top_source *source, struct top *top, pid_t pid, const char *families,
		     size_t stream_size);
int top_open_log(struct top_source *source, const char *path, struct top *top);
void top_close(struct top_source *source);

/*
 * Reads the events that the process has recorded since the last call, but at most a great number of
 * them. If the source is a log, does nothing. The caller calls this function every TOP_READ_MS.
 * Most processes do not overwrite unread events in this time. Returns 0 or an error number.
 */
#define TOP_READ_MS 50
int top_read(struct top_source *source, struct top *top);

/*
 * Reads the events, as top_read() does, and updates the counts and the rates. A rate is the mean
 * since the last update. Returns 0 or an error number.
 */
int top_update(struct top_source *source, struct top *top);

enum top_view {
	TOP_ALL, TOP_TYPES, TOP_LATENCIES, TOP_THREADS, TOP_LOCKED, TOP_STREAMS, TOP_VIEWS
};

/*
 * The lines of a page, which are the same for --batch and for the screen. Unsafe characters are
 * escaped.
 */
struct top_page {
	struct top_page_line {
		char *text;
		bool heading;
	} *line;
	size_t lines;
};

/*
 * Makes a page of one part or of all parts. Each part has at most the given number of rows. The
 * rows of types and threads are in the order of their totals if "by_total" is true, and otherwise
 * in the order of their rates.
 */
void top_page_make(struct top_page *page, const struct top_source *source, const struct top *top,
		   enum top_view view, bool by_total, size_t rows);
void top_page_fini(struct top_page *page);

/*
 * Shows pages on the terminal until the user quits, or until this number of pages was shown; 0: no
 * limit. Returns the exit status of the command.
 */
int top_screen(struct top_source *source, struct top *top, int64_t delay_ns, uint64_t pages);

#endif
