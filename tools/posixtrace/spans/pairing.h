/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pairing.h - spans of time out of events: of a begin and its end, and of events that say
 * themselves how long something took.
 *
 *	span    event types with @begin and @end, or with names that are a pair (by_name.h); their
 *	        keys, or else the thread, pair them
 *	pair    two types that --pair names, and the fields that pair them; without a field the
 *	        thread
 *	event   a type with a field of type ns and no role: the span ends where the event stands
 *
 * An end ends the youngest begin with its key in its process. Where events were lost all open spans
 * are cut: nobody knows what became of them.
 *
 * Memory    bounded: PAIRING_OPEN spans are open at most, the oldest of more is dropped and
 * counted;
 *           types beyond PAIRING_SERIES names make no spans, and are counted.
 */
#ifndef POSIXTRACE_SPANS_PAIRING_H
#define POSIXTRACE_SPANS_PAIRING_H

#include "log/logfile.h"

#define PAIRING_OPEN   65536
#define PAIRING_SERIES 4096
#define PAIRING_PAIRS  64 /* --pair options */

enum series_kind { SERIES_SPAN, SERIES_PAIR, SERIES_EVENT };

struct series {
	enum series_kind kind;
	size_t index;
	char *name;            /* as it is in the log: see text_name() */
	uint64_t spans;
	uint64_t no_begin, no_end;
	uint64_t cut;          /* open where events were lost */
	uint64_t dropped;      /* too many were open */
	uint64_t backwards;    /* the end is older than the begin */
};

struct span {
	struct series *series;
	int64_t begin_ns, end_ns;
	uint64_t time_ns;
	bool has_cpu;
	uint64_t cpu_ns;       /* kernel and user time together */
	pid_t pid, begin_tid, tid;
	uint64_t begin_ordinal; /* 0: there is no event of the begin */
	uint64_t end_ordinal;
};

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
	struct pairing_type **by_id; /* what an event type does, learned when it first comes */
	size_t ids;
	struct pairing_open *open;
	uint32_t *head;              /* hash table of them */
	uint32_t free, oldest, youngest;
	size_t opened;
	void (*take)(void *arg, const struct span *span, const struct posix_trace_event_np *end);
	void *arg;
	bool (*find)(void *arg, const char *name, size_t len); /* by_name_find; NULL: no names */
	void *find_arg;
	bool takes_back;             /* an end that is not wanted takes its begin with it */
	int err;                     /* ENOMEM: what comes is not looked at */
};

void pairing_init(struct pairing *pairing,
		  void (*take)(void *arg, const struct span *span,
			       const struct posix_trace_event_np *end),
		  void *arg);
void pairing_fini(struct pairing *pairing);

/* The value of --pair. False: it has said what is wrong. */
bool pairing_add(struct pairing *pairing, const char *text);

/*
 * For a log whose types are known. False: it has said which type or field of --pair the log lacks.
 */
bool pairing_begin(struct pairing *pairing, struct logfile *log);

/*
 * The same for a log whose types may still come, without --pair: names pair as far as types are
 * there.
 */
void pairing_names(struct pairing *pairing, struct logfile *log);

/* Each event in its order; is_wanted: not only for what it says of losses. */
void pairing_event(struct pairing *pairing, const struct log_type *type,
		   const struct posix_trace_event_np *event, uint64_t ordinal, bool is_wanted);

/* Whether events may be missing before that one, so that it cuts open spans. */
bool pairing_is_loss(const struct posix_trace_event_np *event);

/* Events are missing here, which no event says. */
void pairing_cut(struct pairing *pairing);

/* The end of the events: what is open has no end. */
void pairing_end(struct pairing *pairing);

/* The field of the schema that says how long something took; -1: none. */
int pairing_time_field(const struct posix_trace_schema_np *schema);

const char *pairing_kind_name(enum series_kind kind);

#endif
