/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* wanted.h - the options by which commands choose events, and the choice. */
#ifndef POSIXTRACE_CHOOSE_WANTED_H
#define POSIXTRACE_CHOOSE_WANTED_H

#include "base/option.h"
#include "choose/bound.h"
#include "choose/choose.h"
#include "choose/durations.h"
#include "choose/where.h"

/*
 * A writer that was suspended in a trace point delivers its event behind younger ones, so the first
 * event after --end does not end the reading. The index of a log shows behind which place all
 * events are after --end. Other formats have no index. The reading of a file in such a format ends
 * at an event that is later than --end by more than WANTED_LATE_NS. Without this rule, reading the
 * first second of a large trace would take as long as reading the whole trace.
 */
#define WANTED_LATE_NS INT64_C(1000000000)

struct wanted {
	struct choose choose;   /* wanted_begin() sets its times for the current log */
	const char *begin_text, *end_text;
	struct bound begin, end;
	struct where *where;    /* NULL: all events */
	uint64_t limit;
	size_t tail;            /* 0: no tail */
	const char *pair[PAIRING_PAIRS]; /* values of --pair; they are not copied */
	size_t pairs;
	bool uses_duration; /* the command itself needs durations */
	/* the option --pair was given; wanted_ready() refuses it if durations are not used */
	bool pair_given;
	bool is_all;            /* wanted_begin() found that every event is chosen */
	size_t logs;            /* the number of logs that the command reads one by one; 0: one */
	/* number of calls of wanted_begin() for logs that have no event between the bounds */
	size_t outside;
	bool has_inside;        /* a log may have an event between the bounds */
};

enum { /* values of the options */
	WANTED_PID = 1024,
	WANTED_TID,
	WANTED_BEGIN,
	WANTED_END,
	WANTED_WHERE,
	WANTED_LIMIT,
	WANTED_TAIL,
	WANTED_PAIR,
	WANTED_LAST
};

/*
 * Rows for tables of options. wanted_time_rows is for commands that only have --begin and --end,
 * wanted_choice_rows for commands without --limit, --tail and --pair, and wanted_rows for all other
 * commands.
 */
extern const struct option_row wanted_time_rows[], wanted_choice_rows[], wanted_rows[];

/* A paragraph of --help for commands with these options. */
#define WANTED_TIME_NOTE \
	"TIME is a date such as 2025-02-03 or 2025-02-03T10:15:32.123456789: local time, UTC " \
	"with --utc or a Z behind it, or with an offset such as +01:00. Other forms are seconds " \
	"since 1970, 10:15 on the day of the log, +1.5s after its first event, and -200ms " \
	"before its last one.\n"

/*
 * wanted_init() sets the defaults of all options. wanted_fini() frees the memory of the options.
 * wanted_fini() may be called at any time after wanted_init(), even if wanted_ready() was not
 * called.
 */
void wanted_init(struct wanted *wanted);
void wanted_fini(struct wanted *wanted);

/*
 * Returns true if the option is one of wanted_rows. In this case the function either stores the
 * value and sets *good to true, or prints an error and sets *good to false. If memory is lacking
 * for a value of -e or -x, it prints nothing.
 */
bool wanted_option(struct wanted *wanted, int option, const char *value, bool *good);

/*
 * A command calls this function once, when it has read all options. The function parses the times
 * of --begin and --end, and checks that --pair has an effect. If utc is true, a time without a zone
 * is in UTC. Returns false after it printed an error.
 */
bool wanted_ready(struct wanted *wanted, bool utc);

/*
 * Computes the bounds for a log whose first and last events have these times. If no log can have an
 * event between the bounds, the call for the last log prints a warning. A command that reads its
 * logs several times calls the function again for each reading, but first once for every log.
 */
void wanted_begin(struct wanted *wanted, int64_t first_ns, int64_t last_ns);

/*
 * Returns true if an event with this time shows that no event behind it in the file can be chosen.
 */
static inline bool wanted_is_past(const struct wanted *wanted, int64_t time_ns)
{
	int64_t last_ns;

	return time_ns > wanted->choose.end_ns &&
	       !__builtin_add_overflow(wanted->choose.end_ns, WANTED_LATE_NS, &last_ns) &&
	       time_ns > last_ns;
}

/* Returns true if the choice or the command depends on durations. */
static inline bool wanted_uses_duration(const struct wanted *wanted)
{
	return wanted->uses_duration || (wanted->where && where_uses_duration(wanted->where));
}

/*
 * Adds a value of --pair, for commands that parse this option themselves. Returns false after it
 * printed an error.
 */
bool wanted_pair(struct wanted *wanted, const char *text);

/* Examines an event. Only wanted_event() calls it. */
bool wanted_examine(struct wanted *wanted, const struct posix_trace_event_np *event,
		    const char *name, const struct posix_trace_schema_np *schema,
		    const struct durations *durations);

/*
 * Returns true if the options choose the event. The caller must first call durations_event() for
 * this event, and must call this function only if choose_type() has chosen the event's type. schema
 * may be NULL.
 */
static inline bool wanted_event(struct wanted *wanted, const struct posix_trace_event_np *event,
				const char *name, const struct posix_trace_schema_np *schema,
				const struct durations *durations)
{
	return wanted->is_all || wanted_examine(wanted, event, name, schema, durations);
}

#endif
