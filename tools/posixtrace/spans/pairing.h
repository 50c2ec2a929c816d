/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pairing.h - makes spans of time from events. A span consists of an event that begins it and an
 * event that ends it, or of one event that contains its duration.
 *
 * span: two event types with @begin and @end, or two whose names are a pair (by_name.h). A begin
 * and an end belong together if their key fields are equal. If the types have no key fields, both
 * events must be of the same thread.
 *
 * pair: two types that the option --pair names, with the key fields that it names. If it names no
 * fields, the thread is the key.
 *
 * event: a type with a field of type ns and without @begin, @end and @span. The field has the
 * duration, and the span ends at the time of the event. Fields with CPU times and fields with
 * @counter are not durations.
 *
 * whole: a type with such a field and @span. Each of its events is a span, as an event with a
 * duration is, but the span has the name that @span gives.
 *
 * function: a type whose @begin, @end or @span names a field of type ptr, as in "ptr function;
 * @begin function". The field has the address of a function. Each function has a separate series
 * with the function's name.
 *
 * An end closes the youngest open begin that has the same key in the same process. Where events
 * were lost, all open spans are cut: they are dropped without an end, because the end may be among
 * the lost events.
 *
 * The memory is limited. If more spans are open than the member 'most' permits, the oldest span is
 * dropped and counted. If there are PAIRING_SERIES series, a type that would need a further series
 * makes no spans and is counted. One thread uses a pairing at a time.
 */
#ifndef POSIXTRACE_SPANS_PAIRING_H
#define POSIXTRACE_SPANS_PAIRING_H

#include "log/logfile.h"
#include "spans/nest.h"

#define PAIRING_OPEN   65536
#define PAIRING_SERIES 4096
#define PAIRING_PAIRS  64 /* the greatest number of options --pair */

struct table;

enum series_kind { SERIES_SPAN, SERIES_PAIR, SERIES_EVENT };

struct series {
	/*
	 * If the series is for one function, the series of all functions; otherwise this series
	 * itself.
	 */
	const struct series *of;
	enum series_kind kind;
	size_t index;
	/* as in the log; it may have unsafe characters, so text_name() must print it */
	char *name;
	uint64_t spans;
	uint64_t no_begin, no_end;
	uint64_t cut;          /* spans that were open where events were lost */
	uint64_t dropped;      /* spans that were dropped because too many were open */
	uint64_t backwards;    /* spans whose end has an earlier time than their begin */
};

struct span {
	struct series *series;
	int64_t begin_ns, end_ns;
	uint64_t time_ns;
	bool has_cpu;
	uint64_t cpu_ns;       /* the sum of kernel time and user time */
	pid_t pid, begin_tid, tid;
	/* the caller's number of the event that begins the span; 0: there is none */
	uint64_t begin_ordinal;
	uint64_t end_ordinal;
};

/* Returns the span's duration as a signed number, for tables that have only signed numbers. */
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
	/* the roles of event types; roles_find() sets an element when its type first occurs */
	struct pairing_type **by_id;
	size_t ids;
	struct pairing_open *open;
	/* for each chain of open spans, the index of its first entry */
	uint32_t *head;
	size_t heads;                /* a power of two */
	uint32_t free, fresh, oldest, youngest; /* indices in open; see opened.c */
	size_t opened;
	size_t most; /* the greatest number of open spans, at first PAIRING_OPEN */
	void (*take)(void *arg, const struct span *span, const struct posix_trace_event_np *end);
	void *arg;
	/* a by_name_find; NULL: types are not paired by their names */
	bool (*find)(void *arg, const char *name, size_t len);
	void *find_arg;
	/*
	 * Returns the name of the function at an address of a process, or NULL if it is unknown. If
	 * this pointer is NULL, the spans of all functions have one name.
	 */
	const char *(*name)(void *arg, pid_t pid, uint64_t address, int64_t time_ns);
	void *name_arg;
	struct lives *lives;         /* processes that have ended; NULL: none; see life.h */
	struct nest *nest;           /* calls of functions that have one event */
	/* finds the series of a function by its name; NULL: there is none so far */
	struct table *named;
	/* an end that is not wanted removes its open span; no span is passed to take() */
	bool takes_back;
	int err;                     /* ENOMEM: further events are ignored */
};

/*
 * Starts a pairing. The pairing calls take() for each complete span, with the event that ends it.
 * The span is valid only during the call. If memory is lacking, err is ENOMEM.
 */
void pairing_init(struct pairing *pairing,
		  void (*take)(void *arg, const struct span *span,
			       const struct posix_trace_event_np *end),
		  void *arg);
void pairing_fini(struct pairing *pairing);

/* Adds a value of --pair. Returns false after it printed an error. */
bool pairing_add(struct pairing *pairing, const char *text);

/*
 * Prepares the pairing for a log whose types are known. If the log lacks a type or field of --pair,
 * prints which one and returns false.
 */
bool pairing_begin(struct pairing *pairing, struct logfile *log);

/*
 * Prepares the pairing for a log whose list of types may still grow, and does not check --pair. Two
 * types are paired by their names only if both exist when the first event of either type occurs.
 */
void pairing_names(struct pairing *pairing, struct logfile *log);

/*
 * Processes an event. The caller passes all events in the log's order. If is_wanted is false, the
 * event begins and ends no span, but it may show a loss, which cuts spans. ordinal is the caller's
 * number of the event.
 */
void pairing_event(struct pairing *pairing, const struct log_type *type,
		   const struct posix_trace_event_np *event, uint64_t ordinal, bool is_wanted);

/* Returns true if events may be missing before this event, so that all open spans must be cut. */
bool pairing_is_loss(const struct posix_trace_event_np *event);

/* Cuts all open spans. The caller uses it for a loss that no event reports. */
void pairing_cut(struct pairing *pairing);

/* Must be called after the last event. The spans that are still open are counted in no_end. */
void pairing_end(struct pairing *pairing);

/* Returns the index of the field with the duration, or -1 if the schema has none or is NULL. */
int pairing_time_field(const struct posix_trace_schema_np *schema);

/* Returns "span", "pair" or "event". */
const char *pairing_kind_name(enum series_kind kind);

#endif
