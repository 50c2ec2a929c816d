/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ship.h - the interface of the files of the command ship.
 *
 * A log becomes rows of events, and a summary: its spans and its small tables. Events are sent in
 * the order of the log, many in one INSERT. The summary is sent when the log ends, and replaces an
 * earlier one of a log that has grown since.
 *
 * The position of a log on disk has the number of events that the server has, and the INSERT that
 * was begun and not confirmed. It is written before an INSERT is sent and after it was confirmed.
 * query/fleet.h describes how an unconfirmed INSERT is made void.
 */
#ifndef POSIXTRACE_SHIP_SHIP_H
#define POSIXTRACE_SHIP_SHIP_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "fleet/server.h"
#include "query/fleet.h"
#include "query/query.h"

/* SIGINT and SIGTERM set it; the command ends after the current request. */
extern volatile sig_atomic_t ship_stopped;
/* Waits for this time, or until one of them arrives. */
void ship_pause(int64_t ns);

/* ------------------------------------------------------------------ link.c: the connection */

/* Requests that are repeated until the server confirms them, or the time for that is over. */
struct link {
	struct server server;
	bool is_replicated;
	bool has_begun;                /* all hosts were asked to make the tables */
	bool has_tables[ADDRESS_HOSTS]; /* by the host */
	bool has_replicas[ADDRESS_HOSTS]; /* and whether they are replicated */
	int64_t give_up_ns;            /* of repetition without an answer; 0: forever */
	int64_t failing_ns;            /* since then; 0: the last request succeeded */
	int64_t said_ns;               /* when the reason was printed last */
	char said[SERVER_REASON_BYTES];
	unsigned pause_ms;             /* before the next repetition */
};

/*
 * Sends a statement once, on a host that has the tables. For SERVER_ABSENT, SERVER_UNCERTAIN and
 * SERVER_WRONG the caller may go on with link_again().
 */
enum server_result link_try(struct link *link, const char *sql, const struct bytes *body,
			    size_t limit);
/*
 * Makes the current host get all rows and void attempts that its replicas have confirmed, once. It
 * has no effect on tables that are not replicated.
 */
enum server_result link_sync(struct link *link);
/*
 * After a failure: prints the reason, waits and selects the next host. Returns false if the
 * statement is not to be repeated: after a refusal, a signal, or the time of give_up_ns.
 */
bool link_again(struct link *link, enum server_result result);
/* Repeats a statement that may be executed several times. Returns true after a success. */
bool link_ask(struct link *link, const char *sql, const struct bytes *body, size_t limit);
/* Returns false if the statement's text had no memory. */
bool link_ask_bytes(struct link *link, struct bytes *sql, const struct bytes *body, size_t limit);

/*
 * link_void() makes an attempt void: its rows do not count, now or if they arrive later.
 * link_settle() does so unless the table has these rows of the attempt, which it stores in
 * *has_rows. Both return false if the server did not confirm it.
 */
bool link_void(struct link *link, uint64_t attempt);
bool link_settle(struct link *link, const char *table, uint64_t source, uint64_t attempt,
		 uint64_t rows, bool *has_rows);

/* Returns a new random number, not 0. */
uint64_t link_attempt(void);

/* ------------------------------------------------------------------ position.c */

struct position {
	char *path;
	int fd;                 /* with a lock, so that one process ships a log */
	uint64_t source;
	uint64_t events;        /* the server has these first events of the log */
	uint64_t attempt;       /* an INSERT that is not confirmed, with its events; 0: none */
	uint64_t first, count;
	uint64_t summary;       /* the attempt of the complete summary; 0: none */
	uint64_t summary_events; /* events of the log when the summary was made */
	bool summary_ended;     /* and whether the log had its end */
	uint64_t replacing;     /* an attempt of a summary that is not complete; 0: none */
	bool is_new;
};

enum position_result { POSITION_OK, POSITION_BUSY, POSITION_FAILED };

/*
 * Reads the position of a log for this database, or begins one. POSITION_BUSY: another process has
 * it. POSITION_FAILED: an error was printed.
 */
enum position_result position_open(struct position *position, const char *folder,
				   const struct address *address, uint64_t source);
/* Writes the position, so that it also survives the end of the machine. Prints errors. */
bool position_save(struct position *position);
void position_close(struct position *position);

/* ------------------------------------------------------------------ shipment.c: one log */

struct ship_options {
	const char *folder;     /* of positions */
	const char *host;       /* instead of that in the log; NULL: that of the log */
	uint64_t batch;         /* events in an INSERT */
	bool has_symbols;
	bool is_dry;            /* nothing is sent, and no position is kept */
};

enum shipment_state {
	SHIPMENT_MORE,   /* the log may grow */
	SHIPMENT_ENDED,  /* it has its end, so that nothing more can follow */
	SHIPMENT_BUSY,   /* another process ships it */
	SHIPMENT_FAULTY  /* it cannot be read; the status is that of a failure */
};

/* A log while it is shipped. */
struct shipment {
	const struct ship_options *options;
	struct link *link;      /* NULL with is_dry */
	struct query query;     /* with this log alone */
	struct query_log only;
	struct logfile *log;
	struct position position;
	struct block block;
	struct ship_fields *fields;
	char host[64];
	uint64_t source;
	uint16_t day;           /* since 1970 */
	enum shipment_state state;
	uint64_t sent;          /* events in this run */
	int64_t bytes;          /* of the INSERTs; with is_dry what they would have */
};

/*
 * Ships all that the log has now. Returns an exit status. A failure in another state than
 * SHIPMENT_FAULTY is one of the database or of the positions, which other logs have, too.
 */
int shipment_run(const struct ship_options *options, struct link *link, const char *path,
		 bool is_last, enum shipment_state *state);

/*
 * Sends the rows of the block to a table, under an attempt that position_save() has stored. The
 * table has rows_before rows of the attempt already. Returns true when all are confirmed. Otherwise
 * *is_void says that the attempt is void, and that the caller can go on with another one.
 */
bool shipment_insert(struct shipment *shipment, const char *table, struct block *block,
		     uint64_t attempt, uint64_t rows_before, bool *is_void);

/* ------------------------------------------------------------------ rows.c, fields.c, summary.c */

/* Prepares the block's columns for events, and adds an event to it. */
void rows_columns(struct block *block);
void rows_event(struct shipment *shipment, const struct log_type *type,
		const struct posix_trace_event_np *event, uint64_t seq);

/*
 * The fields that events had. fields_see() returns the keys of a field's values by their kind, and
 * notes that it occurred. fields_register() makes the database have all fields that occurred, and
 * the view events that shows them.
 */
struct ship_fields *fields_new(const struct logfile *log);
void fields_free(struct ship_fields *fields);
uint64_t fields_see(struct ship_fields *fields, const struct log_type *type, unsigned field,
		    enum sqlvalue_kind kind);
bool fields_register(struct ship_fields *fields, struct link *link);

/* Sends the summary if the log has changed since the last one. ended: the log has its end. */
bool summary_send(struct shipment *shipment, bool ended);

#endif
