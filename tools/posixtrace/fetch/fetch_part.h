/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fetch_part.h - finds logs in a fleet's database, and makes temporary logs from their rows.
 *
 * A temporary log is made when the command opens it. It has the events that the command needs: the
 * events whose types, times, processes and threads the options choose, and a few others without
 * which the command would draw wrong conclusions. The command applies its options to this log as to
 * any other log.
 *
 * Events arrive in answers of a few megabytes. The command writes each answer into the log before
 * the next request, so the memory does not grow with the log. Before it sends events, the server
 * counts them. The command compares each answer with this count, so it notices an answer that was
 * cut.
 *
 * The answers may be hostile: each length, number and name is checked, here or by the composer of
 * the library. One thread uses these functions.
 */
#ifndef POSIXTRACE_FETCH_FETCH_PART_H
#define POSIXTRACE_FETCH_FETCH_PART_H

#include "choose/at.h"
#include "fleet/server.h"
#include "log/logfile.h"

/* A log of the database. Its facts come from the table of streams. */
struct fetch_log {
	/*
	 * HOST:LOG, or HOST:LOG@UUID if several logs have the name HOST:LOG; no other log has the
	 * same name. UUID has the first digits, or all digits if these are not enough. If all
	 * digits are not enough, @ and "source" follow.
	 */
	char *name;
	char *host, *log, *stream, *clock;
	char uuid[33];               /* hexadecimal digits; empty: unknown */
	uint64_t source;             /* the value of row_source in its rows */
	int64_t pid, hz, created_ns, first_ns, last_ns;
	uint64_t events, called, lost; /* of the summary; lost: without unattributed events */
	/* number of events that the summary counts, but the database lacks */
	uint64_t missing;
	bool is_complete;
	bool is_listed;              /* the table of logs has the log, so its summary is whole */
	bool is_chosen;
	/* the range of times that the options choose; INT64_MIN and INT64_MAX: no bound */
	int64_t begin_ns, end_ns;
};

struct fetch {
	struct at *at;
	struct server server;
	char *place;                 /* the URL without user and password, for messages */
	struct fetch_log *log;
	size_t logs;
	bool is_open;                /* "server" is initialized */
};

extern struct fetch fetch;

/* ------------------------------------------------------------------ fetch_request.c: requests */

/*
 * Sends a statement. If a host cannot be reached, the next host is used. The answer has at most
 * "limit" bytes, and remains in fetch.server.answer until the next request. The function frees
 * *sql. It returns false after it printed an error.
 */
bool fetch_request(struct bytes *sql, size_t limit);

/* Prints that the answer to a request about this table is not valid, and returns false. */
bool fetch_say_wrong(const char *table);

/* Appends " FROM TABLE WHERE ", and the condition that a row is valid. */
void fetch_from(const char *table, struct bytes *sql);

/* The place in an answer whose values are read one after the other. */
struct fetch_row {
	size_t at;
	bool failed;                 /* the answer is cut or wrong */
};

static inline bool fetch_has_row(const struct fetch_row *row)
{
	return !row->failed && row->at < fetch.server.answer.used;
}

/*
 * These functions read the next column of the answer. After an error the results are 0 and an empty
 * text. A text has no NUL behind it.
 */
uint64_t fetch_u8(struct fetch_row *row);
uint64_t fetch_u32(struct fetch_row *row);
uint64_t fetch_u64(struct fetch_row *row);
const char *fetch_text(struct fetch_row *row, size_t *len);
/*
 * Copies the text into an array of size bytes, with a NUL behind it. A text that is too long or
 * contains a NUL is an error of the answer.
 */
void fetch_string(struct fetch_row *row, char *to, size_t size);
/* Returns a copy of the text in new memory, or NULL after an error. */
char *fetch_copy(struct fetch_row *row);

/* ------------------------------------------------------------------ fetch_find.c */

/*
 * Finds the logs that the operands and the options choose, and stores their names in fetch.at.
 * Returns a status of the tool.
 */
int fetch_find(char **operand, size_t operands);
void fetch_free_logs(void);

/* ------------------------------------------------------------------ fetch_types.c */

#define FETCH_TYPES_MOST 1023 /* the greatest number of an event type, and of types of a log */

struct fetch_type {
	uint64_t id;
	char name[TRACE_EVENT_NAME_MAX + 1];
	char *schema;                /* NULL: none */
	bool pairs;                  /* the events of this type begin or end spans */
};

/* The event types of a log, as its summary lists them. */
struct fetch_types {
	struct fetch_type *type;
	size_t count;
};

/*
 * Fetches the list of types. Returns false after it printed an error. The caller must free the list
 * in any case.
 */
bool fetch_list_types(const struct fetch_log *log, struct fetch_types *types);
void fetch_free_types(struct fetch_types *types);

/*
 * A part of the events. One part has events before the time range, and the other has events in the
 * range. "where" has the conditions of the part, which follow "row_source = ..." in the statement.
 */
struct fetch_part {
	struct bytes where;
	struct fetch_slice {
		uint64_t number, events, bytes;
	} *slice;
	size_t slices;
	uint64_t events;
};

/*
 * Appends the conditions of both parts. If the first part gets no condition, it has no events.
 * *is_all becomes true if no condition excludes an event of the log, and otherwise false.
 */
void fetch_conditions(const struct fetch_log *log, const struct fetch_types *types,
		      struct fetch_part part[2], bool *is_all);

/* ------------------------------------------------------------------ fetch_events.c */

/* A temporary log while it is made. */
struct fetch_making {
	const struct fetch_log *log;
	struct fetch_types types;
	struct fetch_part part[2];
	struct posix_trace_composer_np *composer;
	uint64_t longest;            /* the greatest number of data bytes of an event */
	uint64_t written;            /* number of events that were fetched */
	/*
	 * enough: the command needs at most this number of chosen events; UINT64_MAX: it needs all.
	 * chosen: the number of chosen events so far.
	 */
	uint64_t enough, chosen;
	struct choose choose;        /* the choice of the options, with the times of this log */
	bool is_all;                 /* all events of the log are fetched */
};

/*
 * Counts the events of a part in each slice, adds types that the summary does not list, and updates
 * "longest". Returns false after it printed an error.
 */
bool fetch_survey(struct fetch_making *making, struct fetch_part *part);

/*
 * Writes the events of a part into the log, until the command has enough of them. Returns false
 * after it printed an error.
 */
bool fetch_events(struct fetch_making *making, const struct fetch_part *part);

/* ------------------------------------------------------------------ fetch_log.c */

/* Makes the log in the file. Returns a status of the tool. */
int fetch_make(struct fetch_log *log, int fd);

/*
 * Fetches the names of functions for a log that was opened. It is not an error if the database has
 * none.
 */
void fetch_symbols(const struct fetch_log *log, struct logfile *file);

#endif
