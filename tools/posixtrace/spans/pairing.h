/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pairing.h - joins events to spans of time: a begin and its end, or one event that contains its
 * duration.
 *
 * span: event types with @begin and @end, or with names that are a pair (by_name.h). A begin and an
 * end belong together if their key fields are equal or, without key fields, if their threads are
 * equal.
 * pair: two types that --pair names, with the key fields that it names. Without fields the thread
 * is the key.
 * event: a type with a field of type ns and no role. The span ends at the time of the event.
 *
 * whole: a type with @span. Its events are spans, as those with a duration, but have this name.
 *
 * function: a span whose name is that of a field of type ptr: "ptr function; @begin function". The
 * field is the address of a function. Each function has a series of its own, with its name.
 *
 * An end closes the youngest open begin that has the same key in the same process. Where events
 * were lost, all open spans are cut, because their ends may be among the lost events.
 *
 * Memory is bounded. At most PAIRING_OPEN spans are open; beyond that the oldest is dropped and
 * counted. Types beyond PAIRING_SERIES series make no spans and are counted. One thread uses a
 * pairing at a time.
 */
#ifndef POSIXTRACE_SPANS_PAIRING_H
#define POSIXTRACE_SPANS_PAIRING_H

#include "log/logfile.h"
#include "spans/nest.h"

#define PAIRING_OPEN   65536
#define PAIRING_SERIES 4096
#define PAIRING_PAIRS  64 /* --pair options */

struct table;

enum series_kind { SERIES_SPAN, SERIES_PAIR, SERIES_EVENT };

struct series {
	/* For spans of one function, the series of all functions. Else this series itself. */
	const struct series *of;
	enum series_kind kind;
	size_t index;
	/* as in the log, with unsafe characters; it must be printed by text_name() */
	char *name;
	uint64_t spans;
	uint64_t no_begin, no_end;
	uint64_t cut;          /* spans open where events were lost */
	uint64_t dropped;      /* spans dropped because too many were open */
	uint64_t backwards;    /* spans whose end is older than the begin */
};

struct span {
	struct series *series;
	int64_t begin_ns, end_ns;
	uint64_t time_ns;
	bool has_cpu;
	uint64_t cpu_ns;       /* kernel and user time together */
	pid_t pid, begin_tid, tid;
	uint64_t begin_ordinal; /* number of the begin's event; 0: no event begins the span */
	uint64_t end_ordinal;
};

/* Returns the span's duration as a signed number, for tables that have no other. */
static inline int64_t span_signed_ns(const struct span *span)
{
	return span->time_ns > INT64_MAX ? INT64_MAX : (int64_t)span->time_ns;
}

struct pairing_option {
	char *begin, *end, *key[POSIX_TRACE_KEYS_MAX_NP];
	unsigned keys;
	bool found_begin, found_end;
};

struct pairing {
	struct series **series;
	size_t count;
	uint64_t types_without_room;
	struct pairing_option option[PAIRING_PAIRS];
	size_t options;
	struct pairing_type **by_id; /* roles of event types, found when a type first occurs */
	size_t ids;
	struct pairing_open *open;
	uint32_t *head;              /* first entries of the chains of open spans */
	uint32_t free, fresh, oldest, youngest; /* indexes of open, see opened.c */
	size_t opened;
	void (*take)(void *arg, const struct span *span, const struct posix_trace_event_np *end);
	void *arg;
	bool (*find)(void *arg, const char *name, size_t len); /* by_name_find; NULL: no names */
	void *find_arg;
	/*
	 * Names the function at an address of a process; NULL: unknown. Without it the spans of
	 * all functions have one name.
	 */
	const char *(*name)(void *arg, pid_t pid, uint64_t address, int64_t time_ns);
	void *name_arg;
	struct nest *nest;           /* calls of functions that have one event */
	struct table *named;         /* series of functions by name; NULL: none so far */
	/* an end that is not wanted removes its begin without making a span */
	bool takes_back;
	int err;                     /* ENOMEM: further events are ignored */
};

/*
 * Starts a pairing. take is called for each complete span, with its last event; the span is valid
 * during the call. An error of memory is in err.
 */
void pairing_init(struct pairing *pairing,
		  void (*take)(void *arg, const struct span *span,
			       const struct posix_trace_event_np *end),
		  void *arg);
void pairing_fini(struct pairing *pairing);

/* Adds a value of --pair. Returns false after it printed an error. */
bool pairing_add(struct pairing *pairing, const char *text);

/*
 * Prepares for a log whose types are known. Returns false after it printed which type or field of
 * --pair the log lacks.
 */
bool pairing_begin(struct pairing *pairing, struct logfile *log);

/*
 * Prepares for a log whose types may still grow, without a check of --pair. Types are paired by
 * their names as soon as both exist.
 */
void pairing_names(struct pairing *pairing, struct logfile *log);

/*
 * Processes an event; the caller passes all events in the log's order. If is_wanted is false, the
 * event only cuts spans. ordinal is the caller's number of the event.
 */
void pairing_event(struct pairing *pairing, const struct log_type *type,
		   const struct posix_trace_event_np *event, uint64_t ordinal, bool is_wanted);

/* Returns true if events may be missing before this event, so that it cuts open spans. */
bool pairing_is_loss(const struct posix_trace_event_np *event);

/* Cuts all open spans. It is for losses that no event reports. */
void pairing_cut(struct pairing *pairing);

/* Ends the pairing after the last event: open spans count as without end. */
void pairing_end(struct pairing *pairing);

/* Returns the index of the field with the duration, -1 if the schema has none or is NULL. */
int pairing_time_field(const struct posix_trace_schema_np *schema);

/* Returns "span", "pair" or "event". */
const char *pairing_kind_name(enum series_kind kind);

#endif
