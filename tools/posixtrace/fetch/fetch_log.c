/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fetch_log.c - makes a temporary log from the rows of one log: its facts, types, objects, events
 * and losses.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "base/text.h"
#include "base/tool.h"
#include "base/vec.h"
#include "fetch/fetch_part.h"
#include "log/stacks.h"
#include "log/value.h"
#include "symbols/given.h"

#define TABLE_BYTES ((size_t)1 << 28)
#define TERM_LOST   "lost: "

/* ------------------------------------------------------------------ facts and types */

static int begin_log(struct fetch_making *making, int fd)
{
	const struct fetch_log *log = making->log;
	struct posix_trace_origin_np origin = {
		.pid = (pid_t)log->pid, .clock_hz = (uint64_t)log->hz,
		.creation_ns = log->created_ns,
	};
	char stream[TRACE_NAME_MAX + 1];
	trace_attr_t attr;
	int err = posix_trace_attr_init(&attr);

	snprintf(origin.host, sizeof(origin.host), "%s", *log->host ? log->host : "unknown");
	snprintf(origin.clock, sizeof(origin.clock), "%s", log->clock);
	snprintf(stream, sizeof(stream), "%s", log->stream);
	if (err)
		return err;
	if (*stream)
		err = posix_trace_attr_setname(&attr, stream);
	if (!err)
		err = posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND);
	if (!err)
		err = posix_trace_attr_setmaxdatasize(&attr, making->longest ? making->longest : 1);
	if (!err)
		err = posix_trace_compose_np(fd, &attr, &origin, &making->composer);
	posix_trace_attr_destroy(&attr);
	return err;
}

/*
 * Passes the numbers, names and schemas of the types to the composer, which already knows the
 * standard's types. The function omits a text that is not a schema, because a reader of the log
 * would ignore it, too. Returns 0 or an error number.
 */
static int name_types(struct fetch_making *making)
{
	int err = 0;

	for (size_t i = 0; !err && i < making->types.count; i++) {
		const struct fetch_type *type = &making->types.type[i];
		trace_event_id_t id = (trace_event_id_t)type->id;

		if (!type->id || type->id > INT32_MAX)
			return EINVAL;
		err = posix_trace_compose_name_np(making->composer, type->name, &id);
		if (err == EEXIST && id <= POSIX_TRACE_UNNAMED_USER_EVENT)
			err = 0;
		if (err || !type->schema || !*type->schema)
			continue;
		err = posix_trace_compose_schema_np(making->composer, id, type->schema);
		err = err == EINVAL || err == EEXIST ? 0 : err;
	}
	return err;
}

/* ------------------------------------------------------------------ objects */

/* Writes the names of objects. Returns false after it printed an error. */
static bool add_objects(struct fetch_making *making)
{
	struct bytes sql = { .at = NULL };
	struct fetch_row row = { .at = 0 };

	bytes_str(&sql, "SELECT ifNull(kind, ''), toInt64(ifNull(pid, 0)), "
		  "toInt64(ifNull(pointer, 0)), toInt64(ifNull(since, 0)), ifNull(name, '')");
	fetch_from("objects_rows", &sql);
	bytes_printf(&sql, " AND row_source = %" PRIu64 " ORDER BY row_seq", making->log->source);
	if (!fetch_request(&sql, TABLE_BYTES))
		return false;
	while (fetch_has_row(&row)) {
		struct posix_trace_object_np object = { .kind = 0 };
		char kind[32];
		int err;

		fetch_string(&row, kind, sizeof(kind));
		object.kind = value_object_kind(kind);
		object.pid = (pid_t)fetch_u64(&row);
		object.pointer = fetch_u64(&row);
		object.time_ns = (int64_t)fetch_u64(&row);
		fetch_string(&row, object.name, sizeof(object.name));
		if (row.failed)
			break;
		err = posix_trace_compose_object_np(making->composer, &object);
		if (err) {
			say("%s: an object of the database cannot be used: %s",
			    making->log->name, strerror(err));
			return false;
		}
	}
	return !row.failed || fetch_say_wrong("objects");
}

/* ------------------------------------------------------------------ losses */

/*
 * The lost events of the threads. In the ledger, the losses of types and the losses of threads are
 * separate.
 */
struct lost_threads {
	struct lost_thread {
		struct posix_trace_thread_np thread;
		uint64_t lost;
	} *thread;
	size_t count, at;
};

static bool list_threads(const struct fetch_log *log, struct lost_threads *threads)
{
	struct bytes sql = { .at = NULL };
	struct fetch_row row = { .at = 0 };

	bytes_str(&sql, "SELECT toInt64(ifNull(pid, 0)), toInt64(ifNull(tid, 0)), "
		  "toInt64(ifNull(thread, 0)), toInt64(ifNull(lost, 0))");
	fetch_from("threads_rows", &sql);
	bytes_printf(&sql, " AND row_source = %" PRIu64 " AND lost > 0 ORDER BY row_seq",
		     log->source);
	if (!fetch_request(&sql, TABLE_BYTES))
		return false;
	while (fetch_has_row(&row)) {
		struct lost_thread *thread;

		if (!vec_grow(&threads->thread, threads->count, 1)) {
			say("%s", strerror(ENOMEM));
			return false;
		}
		thread = &threads->thread[threads->count++];
		thread->thread.pid = (pid_t)fetch_u64(&row);
		thread->thread.tid = (pid_t)fetch_u64(&row);
		thread->thread.thread = (pthread_t)fetch_u64(&row);
		thread->lost = fetch_u64(&row);
	}
	return !row.failed || fetch_say_wrong("threads");
}

/*
 * Adds losses of a type and a cause to the ledger. The database has the losses of each thread
 * without their causes. The function assigns threads to causes in their order, so that the sums of
 * the causes and of the threads are right. Returns 0 or an error number.
 */
static int add_lost(struct fetch_making *making, struct lost_threads *threads, int cause,
		    trace_event_id_t id, uint64_t count)
{
	int err = 0;

	while (!err && count) {
		struct lost_thread *thread = threads->at < threads->count ?
			&threads->thread[threads->at] : NULL;
		uint64_t part = thread && thread->lost < count ? thread->lost : count;

		if (part)
			err = posix_trace_compose_lost_np(making->composer, cause, part, id,
							  thread ? &thread->thread : NULL);
		count -= part;
		if (thread) {
			thread->lost -= part;
			threads->at += !thread->lost;
		}
	}
	return err;
}

/*
 * Returns the cause that a term "lost: CAUSE" names, or the number of causes if the library has no
 * such cause. The term must begin with TERM_LOST.
 */
static int cause_of(const char *term)
{
	int cause = 0;

	while (cause < POSIX_TRACE_LOST_CAUSES_NP &&
	       strcmp(posix_trace_lost_name_np(cause), term + strlen(TERM_LOST)) != 0)
		cause++;
	return cause;
}

/* The sums of the whole log. */
struct account {
	/* known: the sum of all terms of the ledger's equation but "called" */
	uint64_t called, known;
	uint64_t lost;               /* with the unattributed events */
	/* events lost by a cause that a log does not have, such as spool */
	uint64_t other;
	char cause[64];              /* the last of these causes */
};

/*
 * Adds one line of the ledger. Returns 0 or an error number. Events that were lost by a cause that
 * a log does not have count as unattributed, so that no loss is hidden. add_losses() prints the
 * cause.
 */
static int add_term(struct fetch_making *making, struct lost_threads *threads, const char *name,
		    const char *term, uint64_t count, struct account *account)
{
	trace_event_id_t id = 0;
	int cause;

	if (!strcmp(term, "called"))
		account->called += count;
	else
		account->known += count;
	if (!strcmp(term, "unattributed")) {
		account->lost += count;
		return posix_trace_compose_lost_np(making->composer, POSIX_TRACE_UNATTRIBUTED_NP,
						   count, 0, NULL);
	}
	if (strncmp(term, TERM_LOST, strlen(TERM_LOST)) != 0)
		return 0;
	account->lost += count;
	for (size_t i = 0; i < making->types.count; i++)
		if (!strcmp(making->types.type[i].name, name))
			id = (trace_event_id_t)making->types.type[i].id;
	cause = cause_of(term);
	if (cause == POSIX_TRACE_LOST_CAUSES_NP) {
		account->other += count;
		snprintf(account->cause, sizeof(account->cause), "%s", term + strlen(TERM_LOST));
		return posix_trace_compose_lost_np(making->composer, POSIX_TRACE_UNATTRIBUTED_NP,
						   count, 0, NULL);
	}
	return add_lost(making, threads, cause, id, count);
}

/* Reads the lines of the ledger. Returns false after it printed an error. */
static bool read_ledger(struct fetch_making *making, struct lost_threads *threads,
			struct account *account)
{
	struct fetch_row row = { .at = 0 };

	while (fetch_has_row(&row)) {
		char name[TRACE_EVENT_NAME_MAX + 1], term[64];
		uint64_t count;
		int err;

		fetch_string(&row, name, sizeof(name));
		fetch_string(&row, term, sizeof(term));
		count = fetch_u64(&row);
		if (row.failed || count > INT64_MAX)
			break;
		err = add_term(making, threads, name, term, count, account);
		if (err) {
			say("%s: the ledger of the database cannot be used: %s",
			    making->log->name, strerror(err));
			return false;
		}
	}
	return fetch.server.answer.used == row.at || fetch_say_wrong("the ledger");
}

/*
 * Counts losses that the answer lacks as unattributed. Their number is the difference between the
 * losses of the summary and of the answer, but not less than "least". Returns false after it
 * printed an error.
 */
static bool add_lacking(struct fetch_making *making, struct account *account, uint64_t least)
{
	const struct fetch_log *log = making->log;
	uint64_t lacking = account->lost < log->lost ? log->lost - account->lost : 0;
	int err = 0;

	if (lacking < least)
		lacking = least;
	if (lacking)
		err = posix_trace_compose_lost_np(making->composer, POSIX_TRACE_UNATTRIBUTED_NP,
						  lacking, 0, NULL);
	if (err)
		say("%s: the ledger of the database cannot be used: %s", log->name, strerror(err));
	account->lost += lacking;
	return !err;
}

/*
 * Checks that the answer has the whole ledger: a log with events has one, its terms add up, and it
 * has the calls and losses of the summary. A server that lacks rows, such as a replica that has not
 * received them yet, would otherwise hide losses. If the other terms are less than the calls, the
 * difference counts as unattributed; this also occurs in the ledger of a damaged log. If only rows
 * with calls are lacking, no loss is hidden. If all rows of a type are lacking, the terms of the
 * remaining rows add up, and only the summary shows how many losses are lacking. Returns false
 * after it printed an error.
 */
static bool check_ledger(struct fetch_making *making, struct account *account)
{
	const struct fetch_log *log = making->log;
	uint64_t lacking = account->called - account->known;

	if (!account->called && !account->known && log->events) {
		say("%s: the database has no ledger of this log, so that its losses are not known; "
		    "try it again, or ask another replica: this one may not have the rows yet",
		    log->name);
		return false;
	}
	if (account->called < log->called || account->lost < log->lost)
		say_warning("%s: the database lacks rows of the ledger of this log, which have "
			    "%" PRIu64 " calls and %" PRIu64 " losses; the lines below count these "
			    "losses as unattributed; try it again when this replica has the rows, "
			    "or ask another host", log->name,
			    account->called < log->called ? log->called - account->called : 0,
			    account->lost < log->lost ? log->lost - account->lost : 0);
	if (account->called == account->known)
		return add_lacking(making, account, 0);
	say_warning("%s: the ledger of the database is not even: called %" PRIu64 ", but %" PRIu64
		    " reported, unread or lost; %s", log->name, account->called, account->known,
		    account->called > account->known ?
			    "the lines below count the difference as unattributed" :
			    "the database may lack rows with calls");
	return add_lacking(making, account, account->called < account->known ? 0 : lacking);
}

/*
 * Writes the losses. The ledger in the database belongs to the whole log. The times of the losses
 * are not known. So the function writes all losses, even if not all events are fetched. If there
 * are losses in that case, it prints a message about this. Returns false after it printed an error.
 */
static bool add_losses(struct fetch_making *making)
{
	const struct fetch_log *log = making->log;
	struct lost_threads threads = { NULL, 0, 0 };
	struct account account = { 0 };
	struct bytes sql = { .at = NULL };
	bool good = list_threads(log, &threads);

	bytes_str(&sql, "SELECT ifNull(name, ''), ifNull(term, ''), toInt64(ifNull(count, 0))");
	fetch_from("ledger_rows", &sql);
	bytes_printf(&sql, " AND row_source = %" PRIu64 " ORDER BY row_seq", log->source);
	if (good)
		good = fetch_request(&sql, TABLE_BYTES) &&
		       read_ledger(making, &threads, &account) && check_ledger(making, &account);
	bytes_free(&sql);
	free(threads.thread);
	if (good && account.other)
		say_warning("%s: events were lost by the cause '%s': %" PRIu64 "; the lines below "
			    "count them as unattributed", log->name, account.cause, account.other);
	if (good && account.lost && !making->is_all)
		say("%s: %" PRIu64 " of the %" PRIu64 " events of the whole log were lost; the "
		    "lines below count all of these losses, but only the %" PRIu64 " events that "
		    "were fetched", log->name, account.lost, account.called, making->written);
	return good;
}

/* ------------------------------------------------------------------ the log */

/* If the options choose no event, prints this. It is not an error, because the log exists. */
static void say_empty(const struct fetch_making *making)
{
	if (making->part[1].events || making->is_all)
		return;
	say("%s: no event of the database is in the range and of the types that the options choose",
	    making->log->name);
}

/* Writes the log except for its end. Returns false after it printed an error. */
static bool fill_log(struct fetch_making *making, int fd)
{
	int err;

	if (!fetch_list_types(making->log, &making->types))
		return false;
	fetch_conditions(making->log, &making->types, making->part, &making->is_all);
	if (making->part[0].where.failed || making->part[1].where.failed) {
		say("%s", strerror(ENOMEM));
		return false;
	}
	if ((making->part[0].where.used && !fetch_survey(making, &making->part[0])) ||
	    !fetch_survey(making, &making->part[1]))
		return false;
	say_empty(making);
	err = begin_log(making, fd);
	if (!err)
		err = name_types(making);
	if (err) {
		say("%s: no log can be made of the rows of the database: %s", making->log->name,
		    err == EINVAL || err == EEXIST ? "its types are not valid" : strerror(err));
		return false;
	}
	return add_objects(making) && fetch_events(making, &making->part[0]) &&
	       fetch_events(making, &making->part[1]) && add_losses(making);
}

int fetch_make(struct fetch_log *log, int fd)
{
	const struct wanted *wanted = fetch.at->wanted;
	struct fetch_making making = { .log = log, .enough = UINT64_MAX };
	bool good;
	int err = 0;

	making.choose = wanted->choose;
	making.choose.begin_ns = log->begin_ns;
	making.choose.end_ns = log->end_ns;
	/*
	 * The command reads one event more than --limit allows, so that it knows that the limit is
	 * reached.
	 */
	if (!wanted->where && !fetch.at->pairs && wanted->limit < UINT64_MAX)
		making.enough = wanted->limit + 1;
	good = fill_log(&making, fd);
	/*
	 * If the log has grown since its summary was written, the database has more events than the
	 * summary says.
	 */
	log->missing = good && making.is_all && making.part[1].events < log->events ?
		       log->events - making.part[1].events : 0;
	if (good)
		err = posix_trace_compose_finish_np(making.composer, NULL);
	else
		posix_trace_compose_abandon_np(making.composer);
	if (err)
		say("%s: the temporary file cannot be written: %s", log->name, strerror(err));
	fetch_free_types(&making.types);
	for (size_t i = 0; i < 2; i++) {
		bytes_free(&making.part[i].where);
		free(making.part[i].slice);
	}
	return good && !err ? TOOL_OK : TOOL_FAILURE;
}

/* ------------------------------------------------------------------ functions */

/*
 * Splits "FILE:LINE": writes a NUL in place of the colon, and stores the line. Returns false if the
 * text does not have this form.
 */
static bool split_place(char *text, unsigned *line)
{
	char *colon = strrchr(text, ':'), *end;

	if (!colon || !colon[1])
		return false;
	*line = (unsigned)strtoul(colon + 1, &end, 10);
	if (*end)
		return false;
	*colon = '\0';
	return true;
}

/*
 * Stores the symbols of an answer in the log. Both requests below have the same columns. The source
 * of a frame is FILE:LINE, or the module if the file is unknown.
 */
static void store_symbols(trace_id_t trid)
{
	struct fetch_row row = { .at = 0 };

	while (fetch_has_row(&row)) {
		struct given key = { .trid = trid };
		char *name, *file, *module;
		unsigned line;

		key.pid = (pid_t)fetch_u64(&row);
		key.address = fetch_u64(&row);
		key.kind = (enum given_kind)fetch_u8(&row);
		line = fetch_u32(&row);
		name = fetch_copy(&row);
		file = fetch_copy(&row);
		module = fetch_copy(&row);
		if (!row.failed && key.kind == GIVEN_FRAME && !split_place(file, &line))
			given_add(&key, name, "", 0, file);
		else if (!row.failed)
			given_add(&key, name, file, line, module);
		free(name);
		free(file);
		free(module);
	}
	if (row.failed)
		fetch_say_wrong("functions");
}

/*
 * The command ship has found the functions on the host of the program. The tool sends two requests,
 * whose answers do not repeat equal rows. The first request asks for the functions of the events in
 * the range of times. It is sent only if the command shows these functions, because it reads many
 * columns. The second request asks for the functions of all call stacks of the log. The address of
 * a sample is that of an instruction, and the address of every other event is a return address.
 * After an error a message is printed, and addresses remain without names.
 */
void fetch_symbols(const struct fetch_log *log, struct logfile *file)
{
	struct bytes sql = { .at = NULL };

	bytes_str(&sql, "SELECT toInt64(row_pid), row_address, toUInt8(row_name = '" STACKS_SAMPLE
		  "') AS sample, row_line, row_function, row_file, row_module");
	fetch_from("events_rows", &sql);
	bytes_printf(&sql, " AND row_source = %" PRIu64 " AND row_module != ''", log->source);
	if (log->begin_ns != INT64_MIN)
		bytes_printf(&sql, " AND row_time >= toInt64('%" PRId64 "')", log->begin_ns);
	if (log->end_ns != INT64_MAX)
		bytes_printf(&sql, " AND row_time <= toInt64('%" PRId64 "')", log->end_ns);
	bytes_str(&sql, " GROUP BY row_pid, row_address, sample, row_line, row_function, row_file, "
		  "row_module");
	if (!fetch.at->shows_functions)
		bytes_free(&sql);
	else if (fetch_request(&sql, TABLE_BYTES))
		store_symbols(file->trid);
	bytes_printf(&sql, "SELECT toInt64(ifNull(pid, 0)), toInt64(ifNull(address, 0)), "
		     "toUInt8(%d), toUInt32(0), ifNull(function, ''), ifNull(source, ''), ''",
		     (int)GIVEN_FRAME);
	fetch_from("stacks_rows", &sql);
	bytes_printf(&sql, " AND row_source = %" PRIu64 " AND function != ''", log->source);
	bytes_str(&sql, " GROUP BY pid, address, function, source");
	if (fetch_request(&sql, TABLE_BYTES))
		store_symbols(file->trid);
}
