/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* shipment.c - ships one log, from its position to its end. */
#include "ship/ship.h"

#include <inttypes.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/out.h"
#include "base/say.h"
#include "base/table.h"
#include "base/tool.h"
#include "choose/function_names.h"
#include "spans/single.h"

#define BATCH_BYTES (32u << 20)
#define DAY_NS      INT64_C(86400000000000)
#define NO_TABLES   UINT64_MAX /* the identity of no tables */
#define ATTEMPTS_BYTES (64u << 20) /* of the longest list of a log's attempts */

uint64_t shipment_source(const struct posix_trace_loginfo_np *info, const char *host)
{
	uint64_t hash = hash_bytes(HASH_BEGIN, info->uuid, sizeof(info->uuid));

	return hash_bytes(hash_number(hash, info->log_id), host, strlen(host));
}

void shipment_identify(struct shipment *shipment, const struct posix_trace_loginfo_np *info)
{
	const char *host = shipment->options->host ? shipment->options->host : info->host;
	int64_t day = info->begin_ns / DAY_NS;

	snprintf(shipment->host, sizeof(shipment->host), "%s", host);
	shipment->source = shipment_source(info, shipment->host);
	shipment->day = day < 0 ? 0 : day > UINT16_MAX ? UINT16_MAX : (uint16_t)day;
}

/* ------------------------------------------------------------------ inserts */

/*
 * Stores the attempt in all rows of the block. In all tables, the column for the attempt has the
 * same number.
 */
static void stamp_attempt(struct block *block, uint64_t attempt)
{
	struct bytes *values = &block->column[FLEET_ATTEMPT].values;

	for (size_t at = 0; at + sizeof(attempt) <= values->used; at += sizeof(attempt))
		memcpy(values->at + at, &attempt, sizeof(attempt));
}

bool shipment_is_current(const struct shipment *shipment)
{
	return !shipment->link || shipment->link->made == shipment->made;
}

/* An INSERT, and the rows that the table has of its attempt when it has succeeded. */
struct insert {
	const char *table, *sql;
	const struct http_body *body;
	uint64_t attempt, rows;
	/*
	 * the server has refused the INSERT because of overload, and the INSERT was then sent again
	 * with the same attempt
	 */
	bool was_repeated;
};

/*
 * Sends the INSERT with its attempt until the server has begun to execute it. SERVER_ABSENT means
 * that nothing was sent, and SERVER_BUSY that the request has ended, so the attempt is not voided.
 * An overloaded server therefore gets no more work: a further row in the table voided would be a
 * further part. Each pause is longer than the one before, up to a limit: only a request that
 * succeeds would make the pauses short again, and none succeeds meanwhile. Before each repetition
 * the server is asked for the rows, because it may have stored them before it refused. If the
 * tables are new, nothing is sent.
 */
static enum server_result send_insert(struct shipment *shipment, struct insert *insert)
{
	struct link *link = shipment->link;
	enum server_result result;
	bool is_busy = false, has_rows = false;

	do {
		result = link_prepare(link);
		if (result == SERVER_OK && is_busy && shipment_is_current(shipment))
			result = link_find_attempt(link, insert->table, shipment->source,
						   insert->attempt, insert->rows, &has_rows);
		if (!shipment_is_current(shipment)) {
			result = SERVER_ABSENT;
		} else if (result == SERVER_OK && !has_rows) {
			insert->was_repeated = is_busy;
			result = link_try(link, insert->sql, insert->body, 65536);
			is_busy |= result == SERVER_BUSY;
		}
	} while ((result == SERVER_ABSENT || result == SERVER_BUSY) &&
		 shipment_is_current(shipment) && link_again(link, result));
	if (has_rows)
		retry_succeeded(&link->retry);
	return result;
}

/*
 * Asks whether the table has the rows of an attempt that the server has not confirmed. If it lacks
 * them, voids the attempt. The position gets this decision first. Otherwise, if ship was killed and
 * the rows arrived, the next run would take an attempt that is void. The position needs no decision
 * about a summary, because the next run voids each incomplete summary. Returns false if ship gave
 * up.
 */
static bool resolve_attempt(struct shipment *shipment, const char *table, uint64_t attempt,
			    uint64_t rows, bool *has_rows)
{
	struct position *position = &shipment->position;

	if (!link_ask_attempt(shipment->link, table, shipment->source, attempt, rows, has_rows))
		return false;
	if (*has_rows)
		return true;
	if (attempt == position->attempt && position->count != POSITION_VOID) {
		position->count = POSITION_VOID;
		if (!position_save(position))
			return false;
	}
	return link_void(shipment->link, attempt);
}

bool shipment_insert(struct shipment *shipment, const char *table, struct block *block,
		     uint64_t attempt, uint64_t rows_before, bool *is_void)
{
	struct bytes sql = { .at = NULL }, heads = { .at = NULL };
	struct http_body body;
	struct insert insert = { .table = table, .body = &body, .attempt = attempt,
				 .rows = rows_before + block->rows };
	struct link *link = shipment->link;
	enum server_result result = SERVER_ABSENT;
	bool good = false, is_doubtful;

	if (!shipment_is_current(shipment))
		return false;
	stamp_attempt(block, attempt);
	bytes_printf(&sql, "INSERT INTO %s (", table);
	block_names(block, &sql);
	bytes_str(&sql, ") FORMAT Native");
	bytes_add(&sql, "", 1);
	if (!block_body(block, &heads, &body) || sql.failed)
		say("%s", strerror(ENOMEM));
	else if (shipment->options->is_dry)
		good = true;
	else {
		insert.sql = sql.at;
		result = send_insert(shipment, &insert);
		good = result == SERVER_OK;
	}
	/*
	 * A replicated table ignores a block that it has had already. So if an INSERT was sent
	 * twice, its success does not prove that the rows are there once.
	 */
	is_doubtful = good ? insert.was_repeated
			   : result != SERVER_ABSENT && result != SERVER_BUSY &&
				     link_again_insert(link, result);
	if (is_doubtful) {
		good = false;
		*is_void = resolve_attempt(shipment, table, attempt, insert.rows, &good) && !good;
	}
	if (good)
		shipment->bytes += (int64_t)(sql.used + body.len);
	bytes_free(&sql);
	bytes_free(&heads);
	free(body.part);
	return good;
}

/*
 * Sends the events in the block, and repeats this with new attempts until the server has confirmed
 * the events. Returns false if this is not possible.
 */
static bool send_events(struct shipment *shipment)
{
	struct position *position = &shipment->position;
	uint64_t rows = shipment->block.rows;
	bool good = !rows, is_void = true;

	if (rows && shipment->link && !fields_register(shipment->fields, shipment->link))
		return false;
	while (!good && is_void) {
		is_void = false;
		position->attempt = link_attempt();
		position->first = position->events;
		position->count = rows;
		position->attempt_took = shipment->block_took;
		if (!shipment->options->is_dry && !position_save(position))
			return false;
		good = shipment_insert(shipment, "events_rows", &shipment->block,
				       position->attempt, 0, &is_void);
	}
	/*
	 * After a failure the position keeps the attempt, and the next run asks whether the server
	 * has the rows of the attempt.
	 */
	if (!good)
		return false;
	if (shipment->link)
		link_inserted(shipment->link);
	position->events += rows;
	position->took += shipment->block_took;
	position->attempt = position->first = position->count = position->attempt_took = 0;
	shipment->block_took = 0;
	shipment->sent += rows;
	block_clear(&shipment->block);
	return shipment->options->is_dry || !rows || position_save(position);
}

/* ------------------------------------------------------------------ the position */

/*
 * If an earlier run has left an attempt that was not confirmed, asks whether the server has its
 * rows. If an earlier run has left an incomplete summary, voids this summary.
 */
static bool resolve_attempts(struct shipment *shipment)
{
	struct position *position = &shipment->position;
	bool has_rows;

	if (position->attempt) {
		if (!resolve_attempt(shipment, "events_rows", position->attempt, position->count,
				     &has_rows))
			return false;
		position->events += has_rows ? position->count : 0;
		position->took += has_rows ? position->attempt_took : 0;
		position->attempt = position->first = position->count = 0;
		position->attempt_took = 0;
		if (!position_save(position))
			return false;
	}
	if (position->replacing) {
		if (!link_void(shipment->link, position->replacing))
			return false;
		position->replacing = 0;
		return position_save(position);
	}
	return true;
}

/*
 * Reads the length of an array of attempts, which is the whole answer. Returns false if the answer
 * is something else, such as an empty answer or a page of a proxy. If such an answer counted as a
 * list of attempts, rows that exist would be sent again.
 */
static bool get_attempts(const struct bytes *answer, size_t *at, uint64_t *attempts)
{
	return server_get_varint(answer, at, attempts) &&
	       (answer->used - *at) % sizeof(uint64_t) == 0 &&
	       (answer->used - *at) / sizeof(uint64_t) == *attempts;
}

static bool are_attempts(const struct bytes *answer)
{
	uint64_t attempts;
	size_t at = 0;

	return get_attempts(answer, &at, &attempts);
}

/* Is for rows that were counted before, so at least one attempt must have them. */
static bool has_attempts(const struct bytes *answer)
{
	uint64_t attempts;
	size_t at = 0;

	return get_attempts(answer, &at, &attempts) && attempts;
}

/*
 * Voids all rows of this log that the table has and that fulfil the condition. A replica may lack
 * rows that another replica has confirmed, so link_sync() is called first. The statement has the
 * numbers of the attempts: the server may execute a statement without an answer later, and it must
 * not void attempts that are newer than the statement.
 */
static bool void_rows(struct shipment *shipment, const char *table, const char *condition,
		      link_check is_right)
{
	struct link *link = shipment->link;
	const struct bytes *answer = &link->server.answer;
	struct bytes sql = { .at = NULL };
	uint64_t attempts = 0, attempt;
	size_t at = 0;
	bool good;

	bytes_printf(&sql, "SELECT groupUniqArray(row_attempt) FROM %s WHERE %srow_source = %"
		     PRIu64 " FORMAT RowBinary", table, condition, shipment->source);
	good = link_query_synced(link, &sql, ATTEMPTS_BYTES, is_right);
	sql.used = 0;
	bytes_str(&sql, "INSERT INTO voided VALUES ");
	good = good && get_attempts(answer, &at, &attempts);
	for (uint64_t i = 0; good && i < attempts && server_get_u64(answer, &at, &attempt); i++)
		bytes_printf(&sql, "%s(%" PRIu64 ")", i ? "," : "", attempt);
	if (good && attempts)
		good = link_query_bytes(link, &sql, 65536, NULL);
	bytes_free(&sql);
	return good;
}

/*
 * Returns the condition, followed by "AND", for the rows of the table "logs" in the table that
 * fleet_logs_table() returns. The text is empty if that table has no other rows.
 */
static const char *logs_condition(enum fleet_layout layout)
{
	static char number[32];

	if (!fleet_is_shared(QUERY_LOGS, layout))
		return "";
	if (!fleet_has_facts(layout))
		return "row_table = 'logs' AND ";
	snprintf(number, sizeof(number), "row_table = %d AND ",
		 fleet_table_number(QUERY_LOGS, layout));
	return number;
}

/*
 * Voids all summaries of this log that the database has. If tables were made again while a summary
 * was sent, the table of logs lacks its attempt. So the attempt of the position is voided as well.
 */
static bool void_summaries(struct shipment *shipment)
{
	const struct position *position = &shipment->position;
	const enum fleet_layout layout = shipment->link->layout;

	return void_rows(shipment, fleet_logs_table(layout), logs_condition(layout),
			 are_attempts) &&
	       (!position->summary || link_void(shipment->link, position->summary));
}

/*
 * Returns whether no replica has confirmed a row of the log. This is so for most logs without a
 * position, because they are new, and they need no link_sync(). The server ends the statements of
 * link_sync() only when the replica has no other work. So logs that begin at the same time on many
 * hosts would wait for each other.
 */
static bool is_nowhere(struct shipment *shipment)
{
	const enum fleet_layout layout = shipment->link->layout;
	struct bytes sql = { .at = NULL };
	bool good;

	bytes_printf(&sql, "SELECT toString(count() + (SELECT count() FROM %s WHERE %srow_source = "
		     "%" PRIu64 ")) FROM events_rows WHERE row_source = %" PRIu64,
		     fleet_logs_table(layout), logs_condition(layout), shipment->source,
		     shipment->source);
	bytes_add(&sql, "", 1);
	good = !sql.failed && link_is_nowhere(shipment->link, sql.at);
	bytes_free(&sql);
	return good;
}

/*
 * Returns whether the answer is three numbers. If an incomplete answer counted as "no row", all
 * events would be sent again, and the database would have each of them twice.
 */
static bool is_position(const struct bytes *answer)
{
	return answer->used == 3 * sizeof(uint64_t);
}

/*
 * Handles rows of the log in the database which are not the first events of the log. If the log has
 * a position, its tables were made again while a process shipped it. Then these rows are voided,
 * and all events are sent again. Without a position, the rows may be those of another process that
 * ships the log now. Then nothing is shipped. Returns true if the rows were voided.
 */
static bool void_holes(struct shipment *shipment, uint64_t rows, uint64_t next)
{
	if (!shipment->position.is_new) {
		say("%s: the database has %" PRIu64 " of its first %" PRIu64 " events, which do "
		    "not follow each other; all are sent again", shipment->log->path, rows, next);
		return void_rows(shipment, "events_rows", "", has_attempts);
	}
	say("%s: the database has %" PRIu64 " of its first %" PRIu64 " events, but %s has no "
	    "position of it, so nothing is shipped", shipment->log->path, rows, next,
	    shipment->options->folder);
	shipment->state = SHIPMENT_FAULTY;
	return false;
}

/* The events of a log that the database has. */
struct counted {
	uint64_t rows;
	uint64_t next; /* the number of the last event + 1; no meaning if "rows" is 0 */
	uint64_t took; /* fleet_took() of the events */
};

/*
 * Counts the events of the log. If is_synced is true, link_sync() is called before. If has_took is
 * false, counted->took becomes 0, because its sum needs the keys of all fields.
 */
static bool count_events(struct shipment *shipment, bool is_synced, bool has_took,
			 struct counted *counted)
{
	const struct bytes *answer = &shipment->link->server.answer;
	struct bytes sql = { .at = NULL };
	size_t at = 0;
	bool good;

	bytes_str(&sql, "SELECT toUInt64(count()), toUInt64(max(row_seq) + 1), ");
	if (has_took)
		fleet_took_sql(shipment->link->layout, &sql);
	else
		bytes_str(&sql, "toUInt64(0)");
	bytes_printf(&sql, " FROM events_rows WHERE row_source = %" PRIu64 " AND ",
		     shipment->source);
	fleet_counts_sql(shipment->link->server.address.database, &sql);
	bytes_str(&sql, " FORMAT RowBinary");
	good = is_synced ? link_query_synced(shipment->link, &sql, 65536, is_position) :
			   link_query_bytes(shipment->link, &sql, 65536, is_position);
	bytes_free(&sql);
	return good && server_get_u64(answer, &at, &counted->rows) &&
	       server_get_u64(answer, &at, &counted->next) &&
	       server_get_u64(answer, &at, &counted->took);
}

/*
 * Finds the position of a log that has no file of a position. The database may have rows of the log
 * nevertheless, because the log was shipped with another folder of positions, or because the file
 * was deleted. Also finds the position again if tables were made again in the database. So the
 * function asks the database for the number of its events of the log. They should be the first
 * events of the log, without gaps and each only once; void_holes() has the other case. A replica
 * may lack rows that another replica has confirmed, so link_sync() is called first. The database
 * may have a summary but no event, for a dropped log or for a log whose events were lost.
 */
static bool find_position(struct shipment *shipment)
{
	struct link *link = shipment->link;
	struct position *position = &shipment->position;
	struct counted counted;
	uint64_t tables = link->tables;
	unsigned made = link->made;

	if (position->is_new && is_nowhere(shipment)) {
		position->tables = tables;
		return position_save(position) &&
		       (link->made != made || link_note_checked(link, shipment->source, true));
	}
	if (!count_events(shipment, true, true, &counted))
		return false;
	/* The requests below may find that the tables were made again after the count. */
	made = link->made;
	tables = link->tables;
	if (!void_summaries(shipment))
		return false;
	if (counted.rows && counted.rows != counted.next) {
		if (!void_holes(shipment, counted.rows, counted.next))
			return false;
		counted.rows = counted.took = 0;
	} else if (counted.rows < position->events && position->tables != NO_TABLES) {
		say("%s: the database has lost %" PRIu64 " of %" PRIu64 " shipped events; they are "
		    "sent again", shipment->log->path, position->events - counted.rows,
		    position->events);
	}
	position->events = counted.rows;
	position->took = counted.took;
	position->tables = tables;
	position->summary = position->summary_events = 0;
	return position_save(position) &&
	       (link->made != made || link_note_checked(link, shipment->source, true));
}

/*
 * Compares the position with the database, whose rows may have been removed meanwhile. If the
 * requests find that tables are missing, they make them again, and the caller calls
 * find_position(). If only rows are missing, a user may have deleted them on purpose, as with the
 * partition of a day. So they are not sent again, and a message names the position. --keep deletes
 * rows without a message. A replica may lack rows that another one has confirmed. So if there are
 * too few rows, they are counted again after link_sync().
 */
static bool compare_position(struct shipment *shipment)
{
	struct position *position = &shipment->position;
	const struct ship_options *options = shipment->options;
	struct link *link = shipment->link;
	const unsigned made = link->made;
	const uint64_t tables = link->tables;
	struct counted counted;
	bool is_whole;

	for (int is_synced = 0; is_synced <= 1; is_synced++) {
		if (!count_events(shipment, is_synced, !position->has_took, &counted))
			return false;
		if (link->made != made)
			return true;
		if (counted.rows >= position->events)
			break;
	}
	is_whole = counted.rows >= position->events ||
		   keep_has_expired(shipment->day, options->keep_days);
	if (!is_whole)
		say("%s: the database has only %" PRIu64 " of %" PRIu64 " shipped events; the "
		    "others were deleted; to send them again, remove %s", shipment->log->path,
		    counted.rows, position->events, position->state.path);
	if (!position->tables || (!position->has_took && position->took != counted.took)) {
		position->tables = position->tables ? position->tables : tables;
		position->took = position->has_took ? position->took : counted.took;
		if (!position_save(position))
			return false;
	}
	return link_note_checked(link, shipment->source, is_whole);
}

/*
 * Returns whether the position describes the tables that the database has now. The position of an
 * older version has no identity, so it is assumed that its tables are the present ones unless this
 * process has made them.
 */
static bool has_its_tables(const struct shipment *shipment)
{
	const struct position *position = &shipment->position;
	const struct link *link = shipment->link;

	return position->tables ? position->tables == link->tables : !link->made;
}

/*
 * Finds the position of a new log. For any other log, settles the unconfirmed INSERT. If this
 * process has not yet compared the position with the database since it began, or since tables were
 * last made, compares it.
 */
static bool settle_position(struct shipment *shipment)
{
	struct link *link = shipment->link;
	bool good = link_confirm(link) &&
		    (shipment->position.is_new ? find_position(shipment)
					       : resolve_attempts(shipment));

	while (good && !link_checked(link, shipment->source))
		good = link_reach(link) &&
		       (has_its_tables(shipment) ? compare_position(shipment)
						 : find_position(shipment));
	shipment->made = link->made;
	return good;
}

int shipment_busy(const char *path, bool is_last, enum shipment_state *state)
{
	*state = SHIPMENT_BUSY;
	if (is_last)
		say("%s: another process ships this log", shipment_name(path));
	return is_last ? TOOL_FAILURE : TOOL_OK;
}

enum state_result shipment_start(struct shipment *shipment)
{
	struct position *position = &shipment->position;
	enum state_result result;

	if (shipment->options->is_dry) {
		memset(position, 0, sizeof(*position));
		position->state.fd = -1;
		return STATE_OK;
	}
	result = position_open(position, shipment->options->folder,
			       &shipment->link->server.address, shipment->source);
	if (result != STATE_OK)
		return result;
	if (settle_position(shipment))
		return STATE_OK;
	/* Releases the lock of the log for the next try. */
	position_close(position);
	return STATE_FAILED;
}

/* ------------------------------------------------------------------ events */

/*
 * The pairing calls this function for each span that an event ends. Sets row_took if the first of
 * these spans is the event itself. The summary omits exactly the spans for which this is so:
 * summary.c.
 */
static void take_span(void *arg, const struct span *span, const struct posix_trace_event_np *end)
{
	struct shipment *shipment = arg;

	(void)end;
	if (!shipment->spans++ && single_is(span))
		shipment->took = (uint64_t)span_signed_ns(span) + 1;
	else
		shipment->has_other_spans = true;
}

/* Prepares to find the spans, as the table spans of query does. Returns false after an error. */
static bool begin_spans(struct shipment *shipment)
{
	if (shipment->layout != FLEET_LEAN)
		return true;
	pairing_init(&shipment->pairing, take_span, shipment);
	shipment->has_pairing = true;
	function_names(&shipment->pairing, shipment->log);
	return pairing_begin(&shipment->pairing, shipment->log) && !shipment->pairing.err;
}

/*
 * Sets row_took of the event, and adds the event to *sum by fleet_took(). Returns false after it
 * printed an error.
 */
static bool find_span(struct shipment *shipment, const struct log_type *type,
		      const struct posix_trace_event_np *event, uint64_t seq, uint64_t *sum)
{
	shipment->spans = 0;
	shipment->took = 0;
	if (!shipment->has_pairing)
		return true;
	pairing_event(&shipment->pairing, type, event, seq + 1, true);
	*sum += fleet_took(seq, shipment->took, rows_is_described(shipment, type, event));
	if (!shipment->pairing.err)
		return true;
	say("%s: %s", shipment->log->path, strerror(shipment->pairing.err));
	return false;
}

/*
 * Returns whether the events of the log must be sent again, since their sum is now "took" and not
 * that of the position. Each of many types may get its schema late, one after the other, so this is
 * done only when the log is complete, or without --follow. It is not done if a user or --keep has
 * deleted rows, because all of them would be there again.
 */
static bool must_send_again(const struct shipment *shipment, uint64_t took)
{
	const struct position *position = &shipment->position;

	return shipment->has_pairing && took != position->took && shipment->is_final &&
	       link_is_whole(shipment->link, shipment->source) &&
	       !keep_has_expired(shipment->day, shipment->options->keep_days);
}

/*
 * Voids the events of the log, so that all are sent again. Before, the position gets the identity
 * of no tables: if ship ends meanwhile, the next run asks for the events. Until they are void, the
 * position keeps their number, so this process does not send them twice after a failure. Returns
 * false.
 */
static bool void_events(struct shipment *shipment)
{
	struct position *position = &shipment->position;

	say("%s: its first %" PRIu64 " events have other fields or spans now than when they were "
	    "shipped, so all are sent again", shipment->log->path, position->events);
	position->tables = NO_TABLES;
	if (!position_save(position) || !void_rows(shipment, "events_rows", "", are_attempts))
		return false;
	position->events = 0;
	shipment->is_void = find_position(shipment);
	return false;
}

/*
 * Sends the events behind the position. The log is read from its beginning, because the number of
 * an event is its place in the log, and because a span may begin at any earlier event.
 */
static bool send_log(struct shipment *shipment)
{
	struct posix_trace_event_np event;
	const struct log_type *type;
	const uint64_t shipped = shipment->position.events;
	uint64_t seq = 0, took = 0;
	int unavailable, err;

	for (;; seq++) {
		if (seq == shipped && must_send_again(shipment, took))
			return void_events(shipment);
		err = posix_trace_getnext_np(shipment->log->trid, &event, &unavailable);
		if (err) {
			say("%s: %s", shipment->log->path, strerror(err));
			shipment->state = SHIPMENT_FAULTY;
			return false;
		}
		if (unavailable)
			break;
		type = logfile_type(shipment->log, event.info.posix_event_id);
		if (!find_span(shipment, type, &event, seq,
			       seq < shipped ? &took : &shipment->block_took))
			return false;
		if (seq < shipped)
			continue;
		rows_event(shipment, type, &event, seq, shipment->took);
		if (shipment->block.rows < shipment->options->batch &&
		    block_bytes(&shipment->block) < BATCH_BYTES)
			continue;
		if (!send_events(shipment) || ship_stopped)
			return false;
	}
	if (seq < shipped) {
		say("%s: the database has %" PRIu64 " events of this log, but the log has %" PRIu64
		    ", so nothing is shipped", shipment->log->path, shipment->position.events, seq);
		shipment->state = SHIPMENT_FAULTY;
		return false;
	}
	return send_events(shipment) && !ship_stopped;
}

enum fleet_layout shipment_layout(const struct shipment *shipment)
{
	return shipment->link ? shipment->link->layout : FLEET_LEAN;
}

/*
 * Prepares the block, and the struct query for the tables of the command query, as query_prepare()
 * of that command does.
 */
static bool prepare_query(struct shipment *shipment)
{
	struct query *query = &shipment->query;
	bool good;

	query->log = &shipment->only;
	query->logs = 1;
	shipment->only.events_of = calloc(shipment->log->types + 1,
					  sizeof(*shipment->only.events_of));
	shipment->fields = fields_new(shipment->log);
	shipment->layout = shipment_layout(shipment);
	rows_columns(&shipment->block, shipment->layout);
	good = shipment->only.events_of && shipment->fields && !shipment->block.failed &&
	       begin_spans(shipment);
	if (!good)
		say("%s: %s", shipment->log->path, strerror(ENOMEM));
	return good;
}

static void end_shipment(struct shipment *shipment)
{
	if (shipment->has_pairing)
		pairing_fini(&shipment->pairing);
	fields_free(shipment->fields);
	block_free(&shipment->block);
	bytes_free(&shipment->text);
	free(shipment->only.events_of);
	logfile_close(shipment->log);
	if (!shipment->options->is_dry)
		position_close(&shipment->position);
}

static void print_result(const struct shipment *shipment)
{
	struct out *out = &out_stdout;

	out_printf(out, "%s: %" PRIu64 " event%s %s, %" PRIi64 " bytes, %" PRIu64 " in all\n",
		   shipment->log->path, shipment->sent, shipment->sent == 1 ? "" : "s",
		   shipment->options->is_dry ? "to ship" : "shipped", shipment->bytes,
		   shipment->position.events);
}

/*
 * Returns whether the log can be shipped. While a log with policy LOOP is written, any part of it
 * may change. So the numbers of its events are known only when the log is complete.
 */
static bool is_ready(const struct logfile *log)
{
	if (log->info.complete || log->info.log_full_policy != POSIX_TRACE_LOOP)
		return true;
	say("%s: a log with policy LOOP is shipped when it is complete", log->path);
	return false;
}

static int ship_events(struct shipment *shipment, bool is_last)
{
	enum state_result result = shipment_start(shipment);
	bool complete = shipment->log->info.complete;
	bool good = result == STATE_OK;

	if (result == STATE_BUSY)
		return shipment_busy(shipment->log->path, is_last, &shipment->state);
	shipment->is_final = complete || is_last;
	good = good && prepare_query(shipment) && send_log(shipment);
	if (good && (complete || is_last))
		good = summary_send(shipment, complete ? SUMMARY_WHOLE : SUMMARY_PART);
	if (!good)
		return TOOL_FAILURE;
	shipment->state = complete ? SHIPMENT_ENDED : SHIPMENT_MORE;
	if (shipment->sent || is_last)
		print_result(shipment);
	return TOOL_OK;
}

int shipment_repeat(const struct shipment_plan *plan, shipment_once once,
		    enum shipment_state *state)
{
	bool again = false;
	int status;

	do {
		status = once(plan, state, &again);
	} while (again && status == TOOL_FAILURE && *state == SHIPMENT_MORE);
	return status;
}

/* Ships the log once; of the type shipment_once. */
static int run_once(const struct shipment_plan *plan, enum shipment_state *state, bool *again)
{
	struct shipment shipment = { .options = plan->options, .link = plan->link,
				     .made = plan->link ? plan->link->made : 0 };
	const bool is_last = plan->is_last;
	int status;

	shipment.log = &shipment.only.file;
	/*
	 * With --follow (is_last is false), the messages of logfile_open() are not printed, because
	 * a log may still be incomplete.
	 */
	say_nothing(!is_last);
	status = logfile_open(shipment.log, plan->path, NULL);
	say_nothing(false);
	*state = SHIPMENT_FAULTY;
	if (status)
		return status;
	shipment.position.state.fd = -1;
	block_init(&shipment.block);
	if (is_ready(shipment.log)) {
		shipment_identify(&shipment, &shipment.log->info);
		status = ship_events(&shipment, is_last);
	}
	*state = shipment.state;
	*again = (shipment.is_void || !shipment_is_current(&shipment)) && !ship_stopped;
	if (!status && is_last &&
	    (!shipment.log->info.complete || logfile_is_damaged(shipment.log)))
		status = TOOL_DAMAGED;
	end_shipment(&shipment);
	return status;
}

int shipment_run(const struct ship_options *options, struct link *link, const char *path,
		 bool is_last, enum shipment_state *state)
{
	const struct shipment_plan plan = { options, link, path, is_last, 1, NULL };

	return shipment_repeat(&plan, run_once, state);
}
