/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ship.h - the common interface of the files of the command ship.
 *
 * From a log the command makes rows of events and a summary. The summary consists of the log's
 * spans and small tables. Events are sent in the order of the log, many in one INSERT. The summary
 * is sent after all events. If the log has grown since the previous summary, a new summary replaces
 * the last one.
 *
 * For each log there is a position on the disk. The position has the number of events that the
 * server has stored, and the INSERT that was begun but not confirmed. ship writes the position
 * before it sends an INSERT and after the server has confirmed the INSERT. query/fleet.h describes
 * how an unconfirmed INSERT is voided.
 */
#ifndef POSIXTRACE_SHIP_SHIP_H
#define POSIXTRACE_SHIP_SHIP_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "fleet/server.h"
#include "query/fleet.h"
#include "query/query.h"
#include "ship/retry.h"
#include "ship/state.h"
#include "spans/pairing.h"

/* ------------------------------------------------------------------ link.c: the connection */

/*
 * The connection to a database. A request is repeated until the server confirms it; retry.h has the
 * rules.
 */
struct link {
	struct server server;
	bool is_replicated;
	bool has_begun;                /* this process has tried to make the tables on all hosts */
	bool has_tables[ADDRESS_HOSTS]; /* for each host: whether the tables exist */
	bool has_replicas[ADDRESS_HOSTS]; /* for each host: whether the tables are replicated */
	bool lacks_views;              /* the message about optional views was printed */
	/* the layout of the tables; it is known when a host with tables has answered */
	enum fleet_layout layout;
	bool has_layout;
	/*
	 * How often this process found that tables were missing, and made them, or that another
	 * process had made them again. Positions from before the last time may count events that
	 * the database no longer has.
	 */
	unsigned made;
	uint64_t tables;               /* the identity of the tables: fleet.h; 0: it is not known */
	uint64_t mark;                 /* the mark for tables that are made on all hosts; 0: none */
	/* the identity was read after the last failure; only then is it compared with positions */
	bool is_sure;
	int64_t sure_ns;               /* the time when the identity was last read */
	bool is_synced;                /* link_sync() has succeeded on this host for this log */
	bool has_doubts;               /* the message about unconfirmed INSERTs was printed */
	/*
	 * the logs whose positions were compared with the database since "made" last changed, or
	 * since the process began; see link_checked()
	 */
	struct link_compared {
		uint64_t source;
		bool is_whole; /* the database has each event that the position counts */
	} *checked;
	size_t checks;
	/*
	 * when the replicas of the database were last compared with the hosts of the URL, 0: not
	 * since the tables were made; whether each replica is one of these hosts
	 */
	int64_t replicas_ns;
	bool has_all_replicas;
	/* the fields that fields.c has found; "made" + 1 at that time, or 0; and the time */
	struct fleet_field *field;
	size_t fields;
	unsigned fields_made;
	int64_t fields_ns;
	struct retry retry;
	/*
	 * for each host: its requests may take the time limit times two to the power of
	 * "doublings"; the time when it last had no answer in time, or 0
	 */
	struct link_patience {
		unsigned doublings;
		int64_t late_ns;
	} patience[ADDRESS_HOSTS];
	/* an INSERT found other columns, and none has succeeded since, nor has "made" changed */
	bool has_misfit;
	/*
	 * if INSERTs of the present rows have failed: the pause after the last one, and the time of
	 * the first one; 0: none
	 */
	unsigned insert_pause_ms;
	int64_t insert_failing_ns;
};

/*
 * Makes the tables on the current host if this process has not done so, and, at the first success,
 * on all hosts that answer. Reads the identity of the tables if this was not done since the last
 * failure. If the tables are new, increments link->made. After a failure other than SERVER_REFUSED,
 * the result is SERVER_ABSENT, because the next statement of the caller was not sent.
 */
enum server_result link_prepare(struct link *link);
/*
 * Calls link_prepare() and then sends a statement once to the current host. If the result is
 * SERVER_ABSENT, SERVER_BUSY, SERVER_UNCERTAIN or SERVER_WRONG, the caller may call link_again()
 * and try again.
 */
enum server_result link_try(struct link *link, const char *sql, const struct http_body *body,
			    size_t limit);
/*
 * Sends requests, each only once, by which the current host fetches all rows and voided attempts
 * that other replicas have confirmed. If the tables are not replicated, sends none. If the host has
 * just started and does not know which rows it lacks, the result is SERVER_ABSENT. The user needs
 * the right to read system.replicas.
 */
enum server_result link_sync(struct link *link);
/*
 * Must be called after a failure. Prints the reason, waits and selects the next host. Returns false
 * if the statement must not be repeated, because the server refused it, because of a signal, or
 * because the time for repetitions is over.
 */
bool link_again(struct link *link, enum server_result result);
/* Returns whether an answer has the form of an answer to the statement. */
typedef bool (*link_check)(const struct bytes *answer);
/*
 * Sends a statement and repeats it until it succeeds. The server may execute the statement several
 * times. An answer for which is_right() returns false is a failure; if is_right is NULL, each
 * answer is right. Returns false if link_again() returns false.
 */
bool link_query(struct link *link, const char *sql, size_t limit, link_check is_right);
/*
 * link_query_bytes(), link_query_synced() and link_query_count() complete the text of *sql. If
 * memory is lacking, they print a message and return false.
 */
bool link_query_bytes(struct link *link, struct bytes *sql, size_t limit, link_check is_right);
/*
 * Like link_query_bytes(), but each try follows link_sync() on the same host for the same log. The
 * caller needs this for a statement that counts rows of all replicas.
 */
bool link_query_synced(struct link *link, struct bytes *sql, size_t limit, link_check is_right);
/* Like link_query_bytes(), for "SELECT toString(count()) ...", and stores the number. */
bool link_query_count(struct link *link, struct bytes *sql, uint64_t *count);

/*
 * Sends a "SELECT toString(count() ...) ..." once to each host. Returns whether all replicas of the
 * database have answered 0. The result is false if a host does not answer now, or if the database
 * may have a replica that the URL lacks. A row is on the replica that has confirmed it, so if the
 * result is true, no replica has confirmed a row that fulfils the condition.
 */
bool link_is_nowhere(struct link *link, const char *sql);

/*
 * Voids an attempt, so that its rows do not count, even if they arrive later. Returns false if the
 * server did not confirm this. The server may execute the statement later, or may have executed it.
 * So before the call, the position must have the decision: then no later run takes the attempt.
 */
bool link_void(struct link *link, uint64_t attempt);

/*
 * link_again_insert() is link_again() after an INSERT that may have had an effect. The requests
 * that settle the attempt may succeed although each INSERT fails. Such a success neither shortens
 * the next pause nor begins the time of --give-up anew. link_inserted() must be called when all
 * rows are there.
 */
bool link_again_insert(struct link *link, enum server_result result);
void link_inserted(struct link *link);

/*
 * Stores in *has_rows whether the table has this number of rows of the attempt, and will keep them.
 * An INSERT makes one part of a table, so the table has either all rows of the INSERT or none. If
 * the result is false, the rows may still arrive later. link_find_attempt() asks the current host
 * once. Its success does not shorten the next pause of link_again(). It returns SERVER_OK,
 * SERVER_REFUSED, or SERVER_ABSENT for any other failure. link_ask_attempt() repeats it until it
 * succeeds, and returns false after ship gave up.
 */
enum server_result link_find_attempt(struct link *link, const char *table, uint64_t source,
				     uint64_t attempt, uint64_t rows, bool *has_rows);
bool link_ask_attempt(struct link *link, const char *table, uint64_t source, uint64_t attempt,
		      uint64_t rows, bool *has_rows);

/*
 * keep.c: deletes the rows of all logs that were begun more than this number of days ago. Returns
 * false if the server did not confirm the deletion.
 */
bool keep_expire(struct link *link, uint64_t keep_days);

/* Returns whether keep_expire() deletes a log that was begun on this day. No days: false. */
bool keep_has_expired(uint16_t day, uint64_t keep_days);

/*
 * link_checked() returns whether the position of the log was compared with the database since the
 * process began, and since this process last made tables. link_note_checked() notes that it was
 * compared, and returns false after it printed that memory is lacking. "is_whole": the database has
 * each event that the position counts.
 */
bool link_checked(const struct link *link, uint64_t source);
bool link_note_checked(struct link *link, uint64_t source, bool is_whole);

/*
 * Returns whether the position was compared and the database lacks none of the log's events. While
 * the server fails, the result is false, because the tables may be removed now.
 */
bool link_is_whole(const struct link *link, uint64_t source);

/* Waits until the current host answers and has the tables. Returns false after ship gave up. */
bool link_reach(struct link *link);

/*
 * Reads the identity of the tables again. link_confirm() repeats this until it succeeds, and
 * returns false after ship gave up. link_confirm_once() does not repeat it, and ignores a failure:
 * the next shipment reads the identity in any case. It does nothing within "age_ns" after the
 * identity was read.
 */
bool link_confirm(struct link *link);
void link_confirm_once(struct link *link, int64_t age_ns);

/* Returns a new random number, not 0. */
uint64_t link_attempt(void);

/* ------------------------------------------------------------------ position.c */

/*
 * The state of the log when the summary was made: not complete, complete, or dropped. For a dropped
 * log, the summary was made from its account. The values must not change, because files of
 * positions have them.
 */
enum summary_end { SUMMARY_PART, SUMMARY_WHOLE, SUMMARY_ACCOUNT };

/* No INSERT has so many events, so older versions void such an attempt, too. */
#define POSITION_VOID UINT64_MAX

struct position {
	struct state state;
	uint64_t source;
	/* the identity of the tables that the position describes; 0: an older version wrote it */
	uint64_t tables;
	/* number of events, from the first event of the log on, that the server has */
	uint64_t events;
	/*
	 * an INSERT that is not confirmed, with "count" events from "first" on; 0: none. If the
	 * count is POSITION_VOID, the INSERT must be voided, whatever the server has of it.
	 */
	uint64_t attempt;
	uint64_t first, count;
	uint64_t took, attempt_took; /* fleet_took() of the events, and of those of the INSERT */
	bool has_took;          /* otherwise both may be 0 since an older version wrote the file */
	uint64_t summary;       /* the attempt of the complete summary; 0: none */
	uint64_t summary_events; /* events of the log when the summary was made */
	enum summary_end summary_end;
	/* the attempt of a summary that was begun but not completed; 0: none */
	uint64_t replacing;
	bool is_new;
};

/* Reads the position of a log for this database. If there is no position, sets is_new. */
enum state_result position_open(struct position *position, const char *folder,
				const struct address *address, uint64_t source);
/* Writes the position to the disk. Returns false after it printed an error. */
bool position_save(struct position *position);
void position_close(struct position *position);

/* ------------------------------------------------------------------ shipment.c: one log */

struct ship_options {
	const char *folder;     /* the folder for positions */
	const char *host;       /* the name of the host; NULL: the name in the log is used */
	uint64_t batch;         /* the greatest number of events in an INSERT */
	bool has_symbols;
	bool is_dry;            /* nothing is sent, and no position is kept */
	/* the age at which keep_expire() deletes logs; 0: none are deleted */
	uint64_t keep_days;
};

enum shipment_state {
	SHIPMENT_MORE,   /* the log may grow */
	SHIPMENT_ENDED,  /* the log is complete, so no further events can follow */
	SHIPMENT_BUSY,   /* another process ships the log */
	SHIPMENT_STUCK,  /* the folder cannot be written now, for example because a disk is full */
	SHIPMENT_FAULTY  /* the log cannot be read or shipped */
};

/* A log while it is shipped. */
struct shipment {
	const struct ship_options *options;
	struct link *link;      /* NULL if options->is_dry is true */
	struct query query;     /* a query with only this log */
	struct query_log only;
	struct logfile *log;
	struct position position;
	struct block block;
	struct ship_fields *fields;
	char host[64];
	uint64_t source;
	unsigned made;          /* link->made when the position was compared with the database */
	uint16_t day;           /* days from 1970 to the beginning of the log */
	enum fleet_layout layout; /* of the block */
	/* the following are only for FLEET_LEAN */
	struct bytes text;      /* of the present event; its row_text */
	struct pairing pairing; /* finds the same spans as the table spans of query */
	bool has_pairing;
	unsigned spans;         /* that the present event ends */
	bool has_other_spans;   /* the events so far have spans that row_took does not have */
	uint64_t took;          /* its row_took: fleet.h */
	uint64_t block_took;    /* fleet_took() of the events in the block */
	bool is_final;          /* no shipment of the log may follow soon */
	bool is_void;           /* the events were voided and must be sent again */
	enum shipment_state state;
	uint64_t sent;          /* events sent in this run */
	/* bytes of the INSERTs; if is_dry is true, the bytes that they would have */
	int64_t bytes;
};

/* The log, or the account of a dropped log, that one run ships. */
struct shipment_plan {
	const struct ship_options *options;
	struct link *link;
	const char *path;
	bool is_last;
	/* the index of the log in a merged account; the number of its logs, which the run stores */
	size_t part, *parts;
};

/*
 * Ships the log or account of the plan once. If tables are made meanwhile, or the events must be
 * sent again, stores true in *again. Returns an exit status.
 */
typedef int (*shipment_once)(const struct shipment_plan *plan, enum shipment_state *state,
			     bool *again);

/*
 * Calls "once" until it does not store true in *again. New tables lack earlier events.
 */
int shipment_repeat(const struct shipment_plan *plan, shipment_once once,
		    enum shipment_state *state);

/*
 * Ships all events that the log has now. Returns an exit status. After a failure with a state other
 * than SHIPMENT_FAULTY, the reason is in the database or in the folder of positions. So other logs
 * would fail, too.
 */
int shipment_run(const struct ship_options *options, struct link *link, const char *path,
		 bool is_last, enum shipment_state *state);

/*
 * For a log that another process ships: sets *state to SHIPMENT_BUSY, and prints a message if
 * is_last is true. Returns the exit status.
 */
int shipment_busy(const char *path, bool is_last, enum shipment_state *state);

/*
 * Returns the number of a log. Two files are the same log if three things are equal: the UUID in
 * their headers, the number that posix_trace_clear() changes, and the host. The host is compared,
 * because copies of a log may be shipped as logs of different hosts.
 */
uint64_t shipment_source(const struct posix_trace_loginfo_np *info, const char *host);

/*
 * Opens the position of the log and finds the number of its events in the database. Needs the
 * members "options", "link", "source" and log->path.
 */
enum state_result shipment_start(struct shipment *shipment);
/*
 * Returns whether the position still fits the database. It no longer fits if tables were made after
 * shipment_start(). The shipment of the log has then failed, and the caller starts it again.
 */
bool shipment_is_current(const struct shipment *shipment);

/* Returns the present layout of the tables. Without a server, this is the layout of new tables. */
enum fleet_layout shipment_layout(const struct shipment *shipment);

/* Sets the members "host", "source" and "day" of the shipment from the log's information. */
void shipment_identify(struct shipment *shipment, const struct posix_trace_loginfo_np *info);

/* Returns the name of a log for messages. */
static inline const char *shipment_name(const char *path)
{
	return strcmp(path, "-") ? path : "standard input";
}

/* ------------------------------------------------------------------ dropped.c, spool.c */

/*
 * Ships the account of a log that was dropped (query/query_account.h), as shipment_run() does with
 * a log. The events that the database lacks become losses with the cause "spool". A merged account
 * has the accounts of several logs. The file is removed when the database has all of these
 * accounts.
 */
int dropped_run(const struct ship_options *options, struct link *link, const char *path,
		bool is_last, enum shipment_state *state);

/* Folders whose logs are limited to a total number of bytes. */
struct spool {
	size_t bytes;           /* 0: no limit */
	const struct ship_options *options;
	struct link *link;
	/* operands of the command line; the folders among them are spools */
	char **operand;
	int operands;
	bool has_excess;        /* the message that nothing can be dropped was printed */
};

/*
 * If the folders exceed the limit, removes the oldest logs that the database has, and then replaces
 * the oldest other logs by their accounts. A log remains if it is not complete, if a process ships
 * it now, or if its account would not be smaller. "arg" is the struct spool.
 */
void spool_limit(void *arg);

/*
 * Returns whether the first bytes of the file are the beginning of a log. Other files of a folder
 * are ignored.
 */
bool spool_has_log(const char *path);

/* ------------------------------------------------------------------ otlp.c: a collector */

struct collector;

/*
 * Ships a complete log to a collector of OpenTelemetry, as shipment_run() does into a database. A
 * log that is not complete has the state SHIPMENT_MORE.
 */
int otlp_run(const struct ship_options *options, struct collector *collector, const char *path,
	     bool is_last, enum shipment_state *state);

/* ------------------------------------------------------------------ folder.c: files of Parquet */

/*
 * Makes the folder if it does not exist. Returns TOOL_FAILURE after it printed why no log can be
 * shipped into this folder.
 */
int folder_begin(const char *root);
/*
 * Ships a complete log into the folder "root", as shipment_run() does into a database. A log that
 * is not complete has the state SHIPMENT_MORE. After a failure with the state SHIPMENT_STUCK, the
 * shipment may succeed later.
 */
int folder_run(const struct ship_options *options, const char *root, const char *path, bool is_last,
	       enum shipment_state *state);

/* ------------------------------------------------------------------ shipment.c: a part of it */

/*
 * Sends the rows of the block to a table by an INSERT with this attempt. position_save() must have
 * stored the attempt. The table already has rows_before rows of the attempt. Returns true if the
 * server has confirmed all rows. If the result is false and *is_void is true, the attempt was
 * voided, and the caller can repeat the rows with another attempt.
 */
bool shipment_insert(struct shipment *shipment, const char *table, struct block *block,
		     uint64_t attempt, uint64_t rows_before, bool *is_void);

/* ------------------------------------------------------------------ rows.c, fields.c, summary.c */

/*
 * rows_columns() makes the columns of the block for events in the layout. rows_event() adds the row
 * of an event to the block. "took" is its row_took (fleet.h). rows_is_described() returns whether
 * this row has a level, a message or a field.
 */
void rows_columns(struct block *block, enum fleet_layout layout);
void rows_event(struct shipment *shipment, const struct log_type *type,
		const struct posix_trace_event_np *event, uint64_t seq, uint64_t took);
bool rows_is_described(struct shipment *shipment, const struct log_type *type,
		       const struct posix_trace_event_np *event);

#define FIELD_KINDS (SQLVALUE_BLOB + 1)

/*
 * How the values of a field are made. Most are integers at a constant place in the data, so
 * rows_event() needs no call for them. For all other values it calls sqlvalue_of().
 */
enum field_values {
	VALUES_ANY,
	VALUES_INTEGERS, /* each value is an integer */
	VALUES_POSITIVE, /* each value up to INT64_MAX is an integer */
	VALUES_ZERO      /* the value 0 is an integer; other values may have names */
};

struct field_plan {
	enum field_values values;
	uint32_t offset;
	uint8_t size;
	bool is_signed;
	bool seen[FIELD_KINDS];    /* a value of this kind has occurred */
	uint64_t key[FIELD_KINDS]; /* fleet_key() of the field's values of this kind */
};

/*
 * The fields that schemas have or that have occurred in events. fields_of_type() returns the plans
 * of all fields of a type with a schema, or NULL if memory is lacking. fields_note() must be called
 * when a value of this kind occurs first in a field. fields_register() adds all these fields to the
 * database, and makes the view "events", which has them as columns.
 */
struct ship_fields *fields_new(const struct logfile *log);
void fields_free(struct ship_fields *fields);
struct field_plan *fields_of_type(struct ship_fields *fields, const struct log_type *type);
void fields_note(struct ship_fields *fields, const char *name, enum sqlvalue_kind kind);
bool fields_register(struct ship_fields *fields, struct link *link);

/* Sends the summary if the log has changed since the previous summary. Returns false on failure. */
bool summary_send(struct shipment *shipment, enum summary_end end);
/*
 * Returns whether the database has this summary, and the summary is about all events of the log in
 * the database. The summary of the whole log also counts in place of the summary of its account.
 */
bool summary_is_sent(const struct position *position, enum summary_end end);
/* Sends the tables of the SQLite database "db" as the summary. */
bool summary_send_tables(struct shipment *shipment, sqlite3 *db, enum summary_end end);

#endif
